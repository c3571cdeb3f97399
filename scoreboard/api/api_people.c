// SPDX-License-Identifier: Apache-2.0
// People, their keys and their groups.
#include "scoreboard/api/api_inside.h"
#include "scoreboard/rank/ranking.h"

#include <string.h>

static json_t *key_json(const struct person_key *key)
{
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "key", api_text(key->id), "key_line", api_text(key->line), "counts",
                     key->revoked_sequence == 0 && key->replaced_sequence == 0, "since", api_sequence(key->since_sequence),
                     "revoked_by", api_sequence(key->revoked_sequence), "revoked_reason", api_text(key->revoked_reason),
                     "replaced_by", api_sequence(key->replaced_sequence));
}

static json_t *tickets_json(const struct ticket_counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "announced", (json_int_t)c->announced, "finished",
                     (json_int_t)c->finished, "failed", (json_int_t)c->failed, "withdrawn", (json_int_t)c->withdrawn, "open",
                     (json_int_t)c->open, "missing", (json_int_t)c->missing);
}

static json_t *drawn_runs_json(const struct drawn_counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "drawn", (json_int_t)c->drawn, "equal", (json_int_t)c->equal, "differs",
                     (json_int_t)c->differs, "waits", (json_int_t)c->waits, "withdrawn", (json_int_t)c->withdrawn);
}

API(api_person)
{
    static const char *const names[] = {"before", NULL};
    int64_t before = INT64_MAX;
    struct person person;
    struct ticket_counts tickets;
    struct drawn_counts drawn;
    TRY(api_query(request->query, names, &before));
    TRY(store_person_before(request->reader, request->word[0], before, arena, &person));
    TRY(store_tickets_by(request->reader, person.handle, &tickets));
    TRY(store_drawn_by(request->reader, person.handle, &drawn));
    json_t *keys = json_array(), *statements = json_array();
    for (int i = 0; i < person.key_count; i++) json_array_append_new(keys, key_json(&person.keys[i]));
    for (int i = 0; i < person.statement_count; i++) json_array_append_new(statements, api_stored(&person.statements[i]));
    return api_send(answer, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "handle", api_text(person.handle), "keys", keys,
                                      "tickets", tickets_json(&tickets), "drawn", drawn_runs_json(&drawn), "statements",
                                      statements, "next", api_sequence(person.next)));
}

API(api_key)
{
    struct person person;
    const char *id = store_key_id(request->word[0], arena);
    int found = -1;
    TRY(store_person_of_key(request->reader, id, arena, &person));
    for (int i = 0; i < person.key_count; i++)
        if (strcmp(person.keys[i].id, id) == 0) found = i;
    if (found < 0) return fail(ERR_MISSING, "there is no key %.60s here", id);
    json_t *value = key_json(&person.keys[found]);
    json_object_set_new(value, "handle", api_text(person.handle));
    return api_send(answer, value);
}

// ---- groups ------------------------------------------------------------------------------------------------------
// One run has neither deviation nor interval.
static json_t *mean_json(const struct group_mean *mean, int finished)
{
    bool defined = finished > 1;
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", finished > 0 ? api_float(mean->mean) : json_null(), "sigma",
                     defined ? api_float(mean->sigma) : json_null(), "low", defined ? api_float(mean->low) : json_null(), "high",
                     defined ? api_float(mean->high) : json_null());
}

static json_t *facts_json(const struct group_facts *facts)
{
    struct group_mean seconds = facts->seconds;
    seconds.low = group_low(&seconds);
    return json_pack("{s:s, s:s, s:b, s:i, s:o, s:o, s:o}", "verdict", group_verdict_name(facts->verdict), "sentence",
                     group_verdict_sentence(facts->verdict), "official", facts->official, "finished", facts->finished, "seconds",
                     mean_json(&seconds, facts->finished), "accuracy", mean_json(&facts->accuracy, facts->finished), "p",
                     facts->finished > 1 ? api_float(facts->p) : json_null());
}

// The verdict over the runs that are neither withdrawn nor superseded.
static int group_facts_of(struct reader *reader, const struct stored *stored, int count, int planned, struct arena *arena,
                 struct group_facts *facts)
{
    struct statement *read = arena_alloc(arena, (size_t)count * sizeof *read);
    const struct statement **runs = arena_alloc(arena, (size_t)count * sizeof *runs);
    struct ranked rows[BOARDS];
    int taken = 0, rc = 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        if (stored[i].withdrawn != 0 || stored[i].superseded != 0) continue;
        rc = store_group_run(reader, stored[i].sequence, &read[taken]);
        if (rc == 0) runs[taken] = &read[taken], taken++;
    }
    if (rc == 0) ranking_of_group(runs, taken, planned, arena, facts, rows);
    for (int i = 0; i < taken; i++) statement_free(&read[i]);
    return rc;
}

API(api_group)
{
    struct stored *stored;
    struct group_facts facts = {0};
    int count, planned;
    TRY(store_group(request->reader, request->word[0], arena, &stored, &count, &planned));
    if (count == 0) return fail(ERR_MISSING, "there is no group %.40s here", request->word[0]);
    TRY(group_facts_of(request->reader, stored, count, planned, arena, &facts));
    json_t *runs = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(runs, api_stored(&stored[i]));
    return api_send(answer, json_pack("{s:o, s:i, s:o, s:o}", "group", api_text(request->word[0]), "planned", planned,
                                      "runs", runs, "verdict", facts_json(&facts)));
}
