// SPDX-License-Identifier: Apache-2.0
// Boards as JSON: the same filters, order and pages as the page of the board, in full precision.
#include "scoreboard/api.h"
#include "scoreboard/page.h"
#include "scoreboard/routes.h"

static json_t *known_or_null(double value)  // negative: not known
{
    return value >= 0 ? api_float(value) : json_null();
}

static json_t *entry_json(const struct entry *entry)
{
    json_t *value = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:I}", "rank", (json_int_t)entry->rank, "value",
                              api_float(entry->value), "low", api_float(entry->low), "high", api_float(entry->high), "cost",
                              known_or_null(entry->cost), "accuracy", api_float(entry->accuracy), "p", known_or_null(entry->p),
                              "runs", entry->runs, "trust", trust_word(entry->trust), "accepted_ms", (json_int_t)entry->accepted_ms);
    const struct {
        const char *name, *text;
    } texts[] = {{"source", entry->source}, {"task", entry->contest}, {"group", entry->group}, {"author", entry->author},
                 {"team", entry->team}, {"model", entry->model}, {"hardware", entry->hardware}, {"framework", entry->framework},
                 {"precision", entry->precision}, {"division", entry->division}, {"date", entry->date},
                 {"code_url", entry->code_url}, {"tags", entry->tags}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        json_object_set_new(value, texts[i].name, api_text(texts[i].text));
    json_object_set_new(value, "sequence", api_sequence(entry->sequence));
    json_object_set_new(value, "devices", json_integer(entry->devices));
    json_object_set_new(value, "views", json_integer(entry->views));
    json_object_set_new(value, "flags", json_integer(entry->flags));
    return value;
}

static json_t *filter_json(const struct filter *filter)
{
    struct text text = {0};
    filter_write(filter, &text);
    json_t *value = api_text(text.at);
    text_free(&text);
    return value;
}

typedef int find_entries(struct reader *, const struct filter *, struct arena *, struct entries *);

static int send_entries(const struct request *request, struct answer *answer, find_entries *find, bool pages)
{
    struct filter filter;
    struct entries entries = {0};
    struct arena arena = {0};
    TRY(page_filter(request, &filter));
    int rc = find(request->reader, &filter, &arena, &entries);
    if (rc == 0) {
        json_t *list = json_array();
        for (int i = 0; i < entries.count; i++) json_array_append_new(list, entry_json(&entries.at[i]));
        json_t *value = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "task", filter.contest->name, "board",
                                  board_word(filter.board), "unit", board_unit(filter.board), "rank", rank_word(filter.rank),
                                  "filter", filter_json(&filter), "entries", list);
        if (pages) json_object_set_new(value, "total", json_integer(entries.total));
        if (pages) json_object_set_new(value, "next", entries.next != NULL ? api_text(entries.next) : json_null());
        rc = api_send(answer, value);
    }
    arena_free(&arena);
    return rc;
}

int api_board(const struct request *request, struct answer *answer)
{
    return send_entries(request, answer, store_entries, true);
}

int api_history(const struct request *request, struct answer *answer)
{
    return send_entries(request, answer, store_history, false);
}
