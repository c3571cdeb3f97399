// SPDX-License-Identifier: Apache-2.0
// Envelopes: a statement with its signatures, as it is uploaded. Invariant: after envelope_read has returned 0, every signature
// has been verified over the bytes of the payload. Workload: bodies of up to 1 MiB from anybody. Reading comes first because it
// is cheap: less than a pass over the body for each check, and memory of about ten times the body.
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/statement.h"

// A text member, or NULL with the sentence set.
static const char *member(const json_t *envelope, const char *name, size_t limit, size_t *count)
{
    const json_t *value = json_object_get(envelope, name);
    if (!json_is_string(value)) {
        (void)fail(ERR_INPUT, value == NULL ? "the envelope has no %s" : "the envelope's %s is not text", name);
        return NULL;
    }
    *count = json_string_length(value);
    if (*count <= limit && strlen(json_string_value(value)) == *count) return json_string_value(value);
    (void)fail(ERR_INPUT, *count > limit ? "the envelope's %s is too long" : "the envelope's %s holds a NUL", name);
    return NULL;
}

static int check_names(const json_t *envelope)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)envelope, key, value)
        if (strcmp(key, "payload") != 0 && strcmp(key, "signature") != 0 && strcmp(key, "countersignature") != 0)
            return fail(ERR_INPUT, "the envelope holds more than payload, signature and countersignature");
    return 0;
}

// A rotation's countersignature, or NULL with the sentence set.
static const char *countersignature_of(const json_t *json, size_t *count)
{
    return member(json, "countersignature", SSHSIG_MAX, count);
}

static int check_countersignature(const json_t *json, const struct statement *s)
{
    size_t count;
    if (s->type == STATEMENT_ROTATE) return countersignature_of(json, &count) != NULL ? 0 : ERR_INPUT;
    if (json_object_get(json, "countersignature") == NULL) return 0;
    return fail(ERR_INPUT, "only a rotation has a countersignature, not a statement of type %s", statement_type_name(s->type));
}

// The new key of a rotation must sign, too. Otherwise a handle could be passed to somebody who does not want it.
static int read_countersignature(const json_t *json, struct envelope *e)
{
    const struct statement *s = &e->statement;
    size_t count;
    if (s->type != STATEMENT_ROTATE) return 0;
    const char *text = countersignature_of(json, &count), *key = canonical_text(s->json, "key");
    struct sshkey named;
    TRY(sshkey_read_line(key, strlen(key), &named));
    TRY(sshsig_verify(text, count, statement_namespace(s->type), s->payload, s->count, &e->next_key));
    if (!sshkey_same(&named, &e->next_key))
        return fail(ERR_INPUT, "the countersignature was not made by the key that the rotation names");
    if (sshkey_same(&e->key, &e->next_key))
        return fail(ERR_INPUT, "a rotation must name another key than the one that signs it");
    e->countersignature = copy_text(text);
    return 0;
}

static int read_members(const json_t *json, struct envelope *e)
{
    TRY(check_names(json));
    size_t payload_count, count;
    const char *payload = member(json, "payload", CANONICAL_MAX, &payload_count);
    const char *signature = payload != NULL ? member(json, "signature", SSHSIG_MAX, &count) : NULL;
    if (signature == NULL) return ERR_INPUT;
    TRY(statement_read(payload, payload_count, &e->statement));
    const struct statement *s = &e->statement;
    TRY(check_countersignature(json, s));
    e->formed = true;
    TRY(sshsig_verify(signature, count, statement_namespace(s->type), s->payload, s->count, &e->key));
    e->signature = copy_text(signature);
    return read_countersignature(json, e);
}

int envelope_read(const char *bytes, size_t count, struct envelope *e)
{
    *e = (struct envelope){0};
    if (count > CANONICAL_MAX) return fail(ERR_INPUT, "an envelope is at most %d bytes long; got %zu", CANONICAL_MAX, count);
    json_error_t error;
    json_t *json = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);  // at most 2,048 levels deep
    if (json == NULL) return fail(ERR_INPUT, "the envelope is not JSON at byte %d", error.position);
    int rc = json_is_object(json) ? read_members(json, e) : fail(ERR_INPUT, "the envelope is not an object");
    json_decref(json);
    const bool formed = e->formed;
    if (rc < 0) envelope_free(e);
    e->formed = formed;
    return rc;
}

int envelope_write(const struct statement *s, const char *signature, const char *countersignature, struct text *into)
{
    json_t *json = json_pack("{s:s%, s:s, s:s*}", "payload", s->payload, s->count, "signature", signature, "countersignature",
                             countersignature);
    if (json == NULL) return fail(ERR_INPUT, "a signature is not plain text");
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(json);
    if (text == NULL) return fail(ERR_MEMORY, "not enough memory to write an envelope");
    size_t count = strlen(text);
    int rc = 0;
    if (count > CANONICAL_MAX)
        rc = fail(ERR_INPUT, "the envelope of statement %.12s would be %zu bytes long, and %d are allowed", s->digest, count,
                  CANONICAL_MAX);
    else text_bytes(into, text, count);
    free(text);
    return rc;
}

void envelope_free(struct envelope *e)
{
    statement_free(&e->statement);
    free(e->signature);
    free(e->countersignature);
    *e = (struct envelope){0};
}
