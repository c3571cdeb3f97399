// SPDX-License-Identifier: Apache-2.0
// Writes and reads canonical JSON. Invariant: canonical_write reproduces the input of canonical_read byte for byte.
// Workload: payloads of 5 to 200 KB, up to some hundred a second. Cost: two passes over the bytes.
#include "submit/format/canonical.h"

#include <stdlib.h>
#include <string.h>

static int check_text(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++)
        if (*c < 0x20 || *c == 0x7f) return fail(ERR_INPUT, "canonical JSON must not hold the control character 0x%02x", *c);
    return 0;
}

static int check_value(const json_t *value, int depth)
{
    if (depth > CANONICAL_DEPTH) return fail(ERR_INPUT, "canonical JSON is at most %d levels deep", CANONICAL_DEPTH);
    const char *key;
    json_t *item;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return 0;
    case JSON_STRING:
        if (strlen(json_string_value(value)) != json_string_length(value))
            return fail(ERR_INPUT, "canonical JSON holds no NUL in a string");
        return check_text(json_string_value(value));
    case JSON_ARRAY:
        json_array_foreach((json_t *)value, i, item) TRY(check_value(item, depth + 1));
        return 0;
    case JSON_OBJECT:
        json_object_foreach((json_t *)value, key, item)
        {
            for (const char *c = key; *c != 0; c++)
                if (*c < 0x21 || *c > 0x7e) return fail(ERR_INPUT, "keys of canonical JSON are plain ASCII words");
            TRY(check_value(item, depth + 1));
        }
        return 0;
    default:
        return fail(ERR_INPUT, "canonical JSON holds integers and strings only, no fractions, booleans or null");
    }
}

int canonical_write(const json_t *value, char **bytes, size_t *count)
{
    TRY(check_value(value, 1));
    char *text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL) return fail(ERR_MEMORY, "not enough memory to write canonical JSON");
    *count = strlen(text);
    if (*count > CANONICAL_MAX) {
        free(text);
        return fail(ERR_INPUT, "canonical JSON is at most %d bytes long", CANONICAL_MAX);
    }
    *bytes = text;
    return 0;
}

int canonical_digest(json_t *value, char hex[DIGEST_HEX])
{
    if (value == NULL) return fail(ERR_INPUT, "canonical JSON was made of text that is not UTF-8");
    char *bytes;
    size_t count;
    int rc = canonical_write(value, &bytes, &count);
    json_decref(value);
    TRY(rc);
    digest_bytes(bytes, count, hex);
    free(bytes);
    return 0;
}

int canonical_read(const char *bytes, size_t count, json_t **value)
{
    *value = NULL;
    if (count > CANONICAL_MAX) return fail(ERR_INPUT, "canonical JSON is at most %d bytes long; got %zu", CANONICAL_MAX, count);
    json_error_t error;
    json_t *read = json_loadb(bytes, count, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (read == NULL) return fail(ERR_INPUT, "not JSON at byte %d: %s", error.position, error.text);
    char *again = NULL;
    size_t length = 0;
    int rc = canonical_write(read, &again, &length);
    if (rc == 0 && (length != count || memcmp(again, bytes, count) != 0)) {
        size_t at = 0;
        while (at < length && at < count && again[at] == bytes[at]) at++;
        rc = fail(ERR_INPUT, "the JSON is not in its canonical form: it differs from byte %zu on", at);
    }
    free(again);
    if (rc == 0) *value = read;
    else json_decref(read);
    return rc;
}

const json_t *canonical_at(const json_t *value, const char *path)
{
    while (value != NULL && *path != 0) {
        size_t length = strcspn(path, ".");
        char key[64];
        if (length >= sizeof key) return NULL;
        memcpy(key, path, length);
        key[length] = 0;
        value = json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return value;
}

int64_t canonical_int(const json_t *value, const char *path)
{
    return json_integer_value(canonical_at(value, path));
}

const char *canonical_text(const json_t *value, const char *path)
{
    const char *text = json_string_value(canonical_at(value, path));
    return text != NULL ? text : "";
}
