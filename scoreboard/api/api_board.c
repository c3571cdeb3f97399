// SPDX-License-Identifier: Apache-2.0
// Boards as JSON: the same filters, order and pages as the page of the board, in full precision.
#include "scoreboard/api/api_inside.h"
#include "scoreboard/rank/table.h"

json_t *api_entry(const struct entry *entry)
{
    json_t *value = json_object();
    for (int i = 0; i < table_columns(); i++) json_object_set_new(value, table_column(i)->name, table_value(i, entry));
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
    TRY(request_filter(request, &filter));
    int rc = find(request->reader, &filter, &arena, &entries);
    if (rc == 0) {
        json_t *list = json_array();
        for (int i = 0; i < entries.count; i++) json_array_append_new(list, api_entry(&entries.at[i]));
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
