// SPDX-License-Identifier: Apache-2.0
// Competitions as JSON. The phases follow from their moments, which a client compares with its own clock; only the server's
// clock decides, when something is sent.
#include "scoreboard/api/api_inside.h"

static json_t *competition_json(const struct competition_stored *c)
{
    const struct competition *about = &c->about;
    json_t *value = json_pack("{s:o, s:o, s:o, s:o, s:I, s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "name", api_text(about->name),
                              "title", api_text(about->title), "rules", api_text(about->rules), "url", api_text(about->url),
                              "sequence", (json_int_t)c->sequence, "statement", c->digest, "task", about->task,
                              "ranked_by", about->ranked_by, "rank", rank_word(about->rank), "target_micro",
                              (json_int_t)about->target_micro, "division", about->closed ? "closed" : "open", "trust",
                              trust_word(about->least));
    json_object_set_new(value, "begins_ms", json_integer(about->begins_ms));
    json_object_set_new(value, "commits_until_ms", json_integer(about->commits_until_ms));
    json_object_set_new(value, "reveals_until_ms", json_integer(about->reveals_until_ms));
    json_object_set_new(value, "cancelled_by", api_sequence(c->cancelled));
    json_object_set_new(value, "contenders", json_integer(c->contenders));
    json_object_set_new(value, "entered", json_integer(c->entered));
    return value;
}

static json_t *contender_json(const struct competition *c, const struct contender *one)
{
    json_t *value = json_pack("{s:o, s:o, s:I, s:I, s:i, s:i, s:i, s:o, s:o, s:o, s:s, s:s}", "place", api_sequence(one->place),
                              "handle", api_text(one->handle), "commitment", (json_int_t)one->sequence, "committed_ms",
                              (json_int_t)one->accepted_ms, "runs", one->runs, "revealed", one->revealed, "withdrawn",
                              one->withdrawn, "run", api_sequence(one->run), "group",
                              api_text(c->rank == RANK_GROUP ? one->group : ""), "value",
                              one->listed ? api_float(one->entry.value) : json_null(), "unit", board_unit(c->board), "mark",
                              competition_mark(c, one));
    json_object_set_new(value, "objections_undecided", json_integer(one->undecided));
    json_object_set_new(value, "objections_upheld", json_integer(one->upheld));
    if (one->listed) json_object_set_new(value, "trust", json_string(trust_word(one->entry.trust)));
    return value;
}

API(api_competitions)
{
    struct competition_stored *list;
    int count;
    TRY(store_competitions(request->reader, arena, &list, &count));
    json_t *competitions = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(competitions, competition_json(&list[i]));
    return api_send(answer, json_pack("{s:o}", "competitions", competitions));
}

API(api_competition)
{
    struct competition_stored c;
    struct contender *list;
    int count;
    TRY(store_competition(request->reader, request->word[0], arena, &c));
    TRY(store_contenders(request->reader, &c, arena, &list, &count));
    json_t *contenders = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(contenders, contender_json(&c.about, &list[i]));
    return api_send(answer, json_pack("{s:o, s:o}", "competition", competition_json(&c), "entries", contenders));
}
