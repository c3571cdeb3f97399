// SPDX-License-Identifier: Apache-2.0
// A board as CSV (RFC 4180), with the filters of its page: values in full precision and the board's unit. An answer has at most
// FILTER_LIMIT rows, so that nobody's request keeps others waiting; the header Link names the rest. Cost: 10 us per row.
#include <stdio.h>

#include "scoreboard/pages/pages.h"
#include "scoreboard/rank/table.h"

static void add_row(struct text *out, const struct entry *entry)
{
    for (int i = 0; i < table_columns(); i++) {
        if (i > 0) text_bytes(out, ",", 1);
        table_cell(i, entry, out);
    }
    text_bytes(out, "\r\n", 2);
}

static int add_rows(const struct request *request, struct filter *filter, struct arena *arena, struct text *out)
{
    struct entries entries;
    filter->limit = FILTER_LIMIT;
    TRY(store_entries(request->reader, filter, arena, &entries));
    for (int i = 0; i < entries.count; i++) add_row(out, &entries.at[i]);
    snprintf(filter->cursor, sizeof filter->cursor, "%s", entries.next != NULL ? entries.next : "");
    filter->limit = 0;  // the requested limit says nothing here
    return 0;
}

static void name_next(const struct request *request, const struct filter *filter, struct answer *answer)
{
    struct text query = {0};
    if (filter->cursor[0] == 0) return;
    filter_write(filter, &query);
    int length = snprintf(answer->next, sizeof answer->next, "%s?%s", request->path, query.at);
    BUG_IF(length < 0 || (size_t)length >= sizeof answer->next);
    text_free(&query);
}

int page_csv(const struct request *request, struct answer *answer)
{
    struct filter filter;
    struct arena arena = {0};
    TRY(request_filter(request, &filter));
    for (int i = 0; i < table_columns(); i++) text_add(&answer->body, "%s%s", i > 0 ? "," : "", table_column(i)->name);
    text_bytes(&answer->body, "\r\n", 2);
    int rc = add_rows(request, &filter, &arena, &answer->body);
    arena_free(&arena);
    TRY(rc);
    name_next(request, &filter, answer);
    answer->type = "text/csv; charset=utf-8";
    snprintf(answer->file_name, sizeof answer->file_name, "%s-%s.csv", request->word[0], request->word[1]);
    return 0;
}
