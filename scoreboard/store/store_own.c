// SPDX-License-Identifier: Apache-2.0
// Statements of the server itself: revocations, decisions, competitions. They pass through store_accept as all others do.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"

int store_accept_own(struct store *s, json_t *value, int64_t now_ms, struct acceptance *out)
{
    BUG_IF(!s->writes);
    struct envelope envelope = {.key = s->key};
    char signature[SSHSIG_MAX];
    *out = (struct acceptance){0};
    if (value == NULL) return fail(ERR_INPUT, "a text of the statement is not valid UTF-8");
    TRY(statement_make(value, &envelope.statement));
    sshsig_sign(statement_namespace(envelope.statement.type), envelope.statement.payload, envelope.statement.count, &s->secret,
                signature);
    envelope.signature = copy_text(signature);
    int rc = store_accept(s, &envelope, now_ms, out);
    envelope_free(&envelope);
    return rc;
}

int store_revoke(struct store *s, const char *key_id, const char *reason, int64_t now_ms, struct acceptance *out)
{
    json_t *value = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", s->origin, "key", key_id,
                              "reason", reason, "made_ms", (json_int_t)now_ms);
    return store_accept_own(s, value, now_ms, out);
}

static int decide(struct store *s, const char *digest, const char *verdict, const char *by, const char *reason, int64_t now_ms,
                  struct acceptance *out)
{
    json_t *value = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:I}", "type", "audit", "version", 1, "board", s->origin,
                              "statement", digest, "verdict", verdict, "by", by, "reason", reason, "made_ms",
                              (json_int_t)now_ms);
    return store_accept_own(s, value, now_ms, out);
}

int store_audit(struct store *s, const struct audit *audit, int64_t now_ms, struct acceptance *out)
{
    return decide(s, audit->digest, audit->withdrawn ? "withdrawn" : "confirmed", audit->by, audit->reason, now_ms, out);
}

int store_objection_decide(struct store *s, const char *digest, bool upheld, const char *by, const char *reason, int64_t now_ms,
                           struct acceptance *out)
{
    return decide(s, digest, upheld ? "upheld" : "dismissed", by, reason, now_ms, out);
}

int store_competition_open(struct store *s, json_t *members, int64_t now_ms, struct acceptance *out)
{
    json_object_set_new(members, "type", json_string("competition"));
    json_object_set_new(members, "version", json_integer(1));
    json_object_set_new(members, "board", json_string(s->origin));
    json_object_set_new(members, "board_key", json_string(s->key_id));
    json_object_set_new(members, "made_ms", json_integer(now_ms));
    return store_accept_own(s, members, now_ms, out);
}

int store_competition_cancel(struct store *s, const char *name, const char *by, const char *reason, int64_t now_ms,
                             struct acceptance *out)
{
    struct reader *reader;
    struct arena arena = {0};
    struct competition_stored c;
    TRY(store_reader(s, &reader));
    int rc = store_competition(reader, name, &arena, &c);
    store_reader_close(reader);
    if (rc == 0) rc = decide(s, c.digest, "cancelled", by, reason, now_ms, out);
    arena_free(&arena);
    return rc;
}
