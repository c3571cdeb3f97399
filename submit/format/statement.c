// SPDX-License-Identifier: Apache-2.0
// Reads and makes statements. Invariant: an accepted statement has exactly the members of its type's table, and its bytes are the
// only form of them. statement_make passes its result through statement_read. Cost: three walks over the payload, a few
// milliseconds for the largest.
#include "submit/format/statement.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/fields.h"

static const struct {
    const char *type, *space;
} types[] = {
#define STATEMENT(name, type, space, what) {type, space},
    STATEMENT_LIST
#undef STATEMENT
};

const char *statement_type_name(enum statement_type type)
{
    BUG_IF(type >= STATEMENT_TYPES);
    return types[type].type;
}

const char *statement_namespace(enum statement_type type)
{
    BUG_IF(type >= STATEMENT_TYPES);
    return types[type].space;
}

static int find_type(const json_t *json, enum statement_type *type)
{
    const char *name = json_string_value(json_object_get(json, "type"));
    if (name == NULL) return fail(ERR_INPUT, "the payload has no type");
    for (int i = 0; i < STATEMENT_TYPES; i++) {
        *type = (enum statement_type)i;
        if (strcmp(types[i].type, name) == 0) return 0;
    }
    return fail(ERR_INPUT, "the payload has a type that this program does not know");
}

// The table cannot express this: a key must be a valid key in its one form.
static int check_keys(enum statement_type type, const json_t *json)
{
    const char *key = canonical_text(json, "key"), *board = canonical_text(json, "board_key");
    if (*board != 0 && !sshkey_is_id(board))
        return fail(ERR_INPUT, "the payload: board_key must be a fingerprint, SHA256: and 43 base64 digits");
    if (type == STATEMENT_REVOKE && !sshkey_is_id(key))
        return fail(ERR_INPUT, "the payload: key must be a fingerprint, SHA256: and 43 base64 digits");
    for (size_t i = 0; type == STATEMENT_DRAW && i < json_array_size(json_object_get(json, "keys")); i++)
        if (!sshkey_is_id(canonical_text(json_array_get(json_object_get(json, "keys"), i), "key")))
            return fail(ERR_INPUT, "the payload: keys[%zu].key must be a fingerprint, SHA256: and 43 base64 digits", i);
    if (type != STATEMENT_ROTATE) return 0;
    struct sshkey read;
    char line[SSHKEY_TEXT];
    TRY(sshkey_read_line(key, strlen(key), &read));
    read.comment[0] = '\0';
    if (strcmp(sshkey_line(&read, line), key) != 0)
        return fail(ERR_INPUT, "the payload: key must be the line ssh-keygen writes, without a comment");
    return 0;
}

int statement_read(const char *payload, size_t count, struct statement *s)
{
    *s = (struct statement){0};
    json_t *json;
    TRY(canonical_read(payload, count, &json));
    enum statement_type type = STATEMENT_RUN;
    int rc = find_type(json, &type);
    if (rc == 0) rc = fields_check("the payload", statement_fields[type], json);
    if (rc == 0) rc = check_keys(type, json);
    if (rc < 0) {
        json_decref(json);
        return rc;
    }
    *s = (struct statement){.type = type, .json = json, .count = count};
    s->payload = zalloc(count + 1);
    memcpy(s->payload, payload, count);
    digest_bytes(payload, count, s->digest);
    return 0;
}

int statement_make(json_t *value, struct statement *s)
{
    *s = (struct statement){0};
    if (value == NULL) return fail(ERR_INPUT, "a statement was made of text that is not UTF-8");
    char *bytes;
    size_t count;
    int rc = canonical_write(value, &bytes, &count);
    json_decref(value);
    TRY(rc);
    rc = statement_read(bytes, count, s);
    free(bytes);
    return rc;
}

int64_t statement_made_ms(const struct statement *s)
{
    switch (s->type) {
    case STATEMENT_RUN: return canonical_int(s->json, "ended_ms");
    case STATEMENT_BENCH: return canonical_int(s->json, "measured_ms");
    default: return canonical_int(s->json, "made_ms");
    }
}

void statement_free(struct statement *s)
{
    json_decref(s->json);
    free(s->payload);
    *s = (struct statement){0};
}
