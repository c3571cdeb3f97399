// SPDX-License-Identifier: Apache-2.0
// The board's word about the clock of a run. Invariant: a statement of type vouch holds the stamps that decide, so anybody who
// has the run can repeat the judgement without the beats. It comes after the run's own statement, whose receipt does not wait for
// it: if it cannot be written, the same submission again makes it.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"

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
    pthread_mutex_lock(&s->mutex);
    int rc = store_ticket_read(&s->sql, canonical_text(run->json, "ticket.statement"), &arena, &t);
    pthread_mutex_unlock(&s->mutex);
    if (rc == 0 && t.vouched == 0 && t.run != 0) {
        ticket_judge(run->json, t.issued_ms, t.stamps, t.stamp_count, &judged);
        if (judged.witnessed) rc = store_accept_own(s, vouch_json(s, run, &t, &judged, now_ms), now_ms, &accepted);
        free(accepted.receipt);
    }
    arena_free(&arena);
    return rc;
}
