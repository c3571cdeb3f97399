// SPDX-License-Identifier: Apache-2.0
// Machines as JSON: the list, and for each its uploads on boards and its measurements. An answer has a bounded number of each.
#include "scoreboard/api/api_inside.h"

enum { MACHINES_MOST = 200, UPLOADS_MOST = 100 };

static json_t *line_json(const struct machine_line *line)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "machine", api_text(line->word), "name", api_text(line->name), "entries",
                     (json_int_t)line->entries, "benches", (json_int_t)line->benches, "newest_ms", (json_int_t)line->newest_ms);
}

API(api_machines)
{
    const char *before;
    struct machines all;
    TRY(request_cursor(request, "before", &before));
    TRY(store_machines(request->reader, before, MACHINES_MOST, arena, &all));
    json_t *list = json_array();
    for (int i = 0; i < all.count; i++) json_array_append_new(list, line_json(&all.at[i]));
    return api_send(answer, json_pack("{s:o, s:I, s:o}", "machines", list, "total", (json_int_t)all.total, "next",
                                      all.next != NULL ? api_text(all.next) : json_null()));
}

// The payload is read again, as at acceptance, so that an altered record cannot put other members into the answer.
static int add_bench(const struct stored *stored, json_t *list)
{
    struct statement s;
    if (statement_read(stored->payload, stored->payload_count, &s) < 0)
        return fail(ERR_DATABASE, "the statement %.64s differs from the accepted one", stored->digest);
    json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:o, s:O}", "sequence", (json_int_t)stored->sequence, "digest",
                                          stored->digest, "accepted_ms", (json_int_t)stored->accepted_ms, "handle",
                                          api_text(stored->handle), "payload", s.json));
    statement_free(&s);
    return 0;
}

static int send_machine(const struct machine_line *line, const struct entries *uploads, const struct benches *measured,
                        struct answer *answer)
{
    json_t *entries = json_array(), *benches = json_array();
    int rc = 0;
    for (int i = 0; i < uploads->count; i++) json_array_append_new(entries, api_entry(&uploads->at[i]));
    for (int i = 0; i < measured->count && rc == 0; i++) rc = add_bench(&measured->at[i], benches);
    json_t *value = json_pack("{s:o, s:o, s:o, s:o}", "machine", line_json(line), "entries", entries, "benches", benches, "next",
                              api_sequence(measured->next));
    if (rc == 0) return api_send(answer, value);
    json_decref(value);
    return rc;
}

API(api_machine)
{
    static const char *const names[] = {"before", NULL};
    int64_t before = INT64_MAX;
    struct machine_line line;
    struct entries uploads;
    struct benches measured;
    TRY(api_query(request->query, names, &before));
    TRY(store_machine(request->reader, request->word[0], UPLOADS_MOST, arena, &line, &uploads));
    TRY(store_benches(request->reader, request->word[0], before, arena, &measured));
    return send_machine(&line, &uploads, &measured, answer);
}
