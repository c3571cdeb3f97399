// SPDX-License-Identifier: Apache-2.0
// A board as CSV (RFC 4180), with the filters of its page and all rows that pass. Values in full precision and the board's
// unit. A cell that a spreadsheet would take for a formula gets a quote before it. Cost: at most CSV_MOST rows.
#include <stdio.h>
#include <string.h>

#include "scoreboard/pages/page.h"
#include "scoreboard/rank/table.h"

enum { CSV_MOST = 100000 };

static void add_cell(struct text *out, const char *words)
{
    bool formula = *words != 0 && strchr("=+-@\t\r", *words) != NULL;
    text_add(out, formula ? "\"'" : "\"");
    for (; *words != 0; words++) {
        if (*words == '"') text_bytes(out, "\"", 1);
        text_bytes(out, words, 1);
    }
    text_add(out, "\"");
}

static void row(struct text *out, const struct entry *entry)
{
    char number[TABLE_NUMBER];
    for (int i = 0; i < table_columns(); i++) {
        json_t *value = table_value(i, entry);
        if (i > 0) text_add(out, ",");
        if (json_is_string(value)) add_cell(out, json_string_value(value));
        else if (json_is_integer(value)) text_add(out, "%lld", (long long)json_integer_value(value));
        else if (json_is_real(value)) text_add(out, "%s", table_number(json_real_value(value), number));
        json_decref(value);  // null: an empty cell
    }
    text_add(out, "\r\n");
}

static int show_csv(struct page *page)
{
    struct filter filter;
    TRY(request_filter(page->request, &filter));
    filter.limit = FILTER_LIMIT;
    for (int i = 0; i < table_columns(); i++) text_add(page->out, "%s%s", i > 0 ? "," : "", table_column(i)->name);
    text_add(page->out, "\r\n");
    for (int written = 0; written < CSV_MOST;) {
        struct entries entries;
        TRY(store_entries(page->reader, &filter, &page->arena, &entries));
        for (int i = 0; i < entries.count; i++) row(page->out, &entries.at[i]);
        written += entries.count;
        if (entries.next == NULL || entries.count == 0) break;
        snprintf(filter.cursor, sizeof filter.cursor, "%s", entries.next);
    }
    return 0;
}

int page_csv(const struct request *request, struct answer *answer)
{
    answer->type = "text/csv; charset=utf-8";
    TRY(page_make(request, answer, show_csv));
    snprintf(answer->file_name, sizeof answer->file_name, "%s-%s.csv", request->word[0], request->word[1]);
    return 0;
}
