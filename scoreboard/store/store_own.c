// SPDX-License-Identifier: Apache-2.0
// Statements of the server itself: revocations, decisions, competitions, vouches. They pass through store_accept as all others
// do.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/store_inside.h"

// Takes over the reference. NULL: a text was not UTF-8.
static int accept_own(struct store *s, json_t *value, int64_t now_ms, struct acceptance *out)
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
    return accept_own(s, value, now_ms, out);
}

static int find_competition(struct store *s, const char *name, struct arena *arena, struct competition_stored *c)
{
    struct reader *reader;
    TRY(store_reader(s, &reader));
    int rc = store_competition(reader, name, arena, c);
    store_reader_close(reader);
    return rc;
}

int store_decide(struct store *s, const struct decision *d, int64_t now_ms, struct acceptance *out)
{
    struct arena arena = {0};
    struct competition_stored c = {.digest = d->about};
    int rc = strcmp(d->verdict, "cancelled") == 0 ? find_competition(s, d->about, &arena, &c) : 0;
    if (rc == 0) {
        json_t *value = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:I}", "type", "audit", "version", 1, "board", s->origin,
                                  "statement", c.digest, "verdict", d->verdict, "by", d->by, "reason", d->reason, "made_ms",
                                  (json_int_t)now_ms);
        if (d->repeated != NULL) json_object_set(value, "repeated", d->repeated);
        rc = accept_own(s, value, now_ms, out);
    }
    arena_free(&arena);
    return rc;
}

int store_draw(struct store *s, const struct draw_rules *rules, const char *by, int64_t now_ms, struct acceptance *out)
{
    json_t *keys = json_array();
    for (int i = 0; i < rules->key_count; i++) json_array_append_new(keys, json_pack("{s:s}", "key", rules->keys[i]));
    return accept_own(s, json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:o, s:s, s:I}", "type", "draw", "version", 1, "board",
                                   s->origin, "board_key", s->key_id, "share_micro", (json_int_t)rules->share_micro,
                                   "again_micro", (json_int_t)rules->again_micro, "keys", keys, "by", by, "made_ms",
                                   (json_int_t)now_ms), now_ms, out);
}

int store_competition_open(struct store *s, json_t *members, int64_t now_ms, struct acceptance *out)
{
    json_object_set_new(members, "type", json_string("competition"));
    json_object_set_new(members, "version", json_integer(1));
    json_object_set_new(members, "board", json_string(s->origin));
    json_object_set_new(members, "board_key", json_string(s->key_id));
    json_object_set_new(members, "made_ms", json_integer(now_ms));
    return accept_own(s, members, now_ms, out);
}

// A vouch holds the stamps that decide, so anybody who has the run can repeat the judgement without the beats. It comes after the
// run's own statement, whose receipt does not wait for it: if it cannot be written, the same submission again makes it.
static json_t *vouch_json(const struct store *s, const struct statement *run, const struct ticket_stored *t,
                            const struct ticket_judged *j, int64_t now_ms)
{
    json_t *stamps = json_array();
    for (int i = 0; i < j->decide_count; i++)
        json_array_append_new(stamps, json_pack("{s:s, s:I}", "hash", j->decide[i].hash, "ms", (json_int_t)j->decide[i].ms));
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:o, s:I}", "type", "vouch", "version", 1, "board", s->origin,
                     "board_key", s->key_id, "statement", run->digest, "ticket", canonical_text(run->json, "ticket.statement"),
                     "issued_ms", (json_int_t)t->issued_ms, "stamps", stamps, "made_ms", (json_int_t)now_ms);
}

int store_vouch(struct store *s, const struct statement *run, int64_t now_ms)
{
    struct arena arena = {0};
    struct ticket_stored t;
    struct ticket_judged judged;
    struct acceptance accepted = {0};
    if (strcmp(canonical_text(run->json, "ticket.board_key"), s->key_id) != 0) return 0;
    TRY(store_enter(s));
    int rc = type_ticket_read(&s->sql, canonical_text(run->json, "ticket.statement"), &arena, &t);
    pthread_mutex_unlock(&s->mutex);
    if (rc == 0 && t.vouched == 0 && t.run != 0) {
        ticket_judge(run->json, t.issued_ms, t.stamps, t.stamp_count, &judged);
        if (judged.witnessed) rc = accept_own(s, vouch_json(s, run, &t, &judged, now_ms), now_ms, &accepted);
        free(accepted.receipt);
    }
    arena_free(&arena);
    return rc;
}
