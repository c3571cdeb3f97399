// SPDX-License-Identifier: Apache-2.0
// A board as CSV (RFC 4180), with the filters of its page and all rows that pass. Values in full precision and the board's
// unit. A cell that a spreadsheet would take for a formula gets a quote before it. Cost: at most CSV_MOST rows.
#include <stdio.h>
#include <string.h>

#include "scoreboard/page.h"
#include "scoreboard/routes.h"

enum { CSV_MOST = 100000 };

static void cell(struct text *out, const char *words, bool last)
{
    bool formula = *words != 0 && strchr("=+-@\t\r", *words) != NULL;
    text_bytes(out, "\"", 1);
    if (formula) text_bytes(out, "'", 1);
    for (; *words != 0; words++) {
        if (*words == '"') text_bytes(out, "\"", 1);
        text_bytes(out, words, 1);
    }
    text_add(out, last ? "\"\r\n" : "\",");
}

static void number(struct text *out, double value)
{
    text_add(out, "%.17g,", value);
}

static void row(struct text *out, const struct entry *entry)
{
    text_add(out, "%lld,", (long long)entry->rank);
    cell(out, entry->author, false);
    cell(out, entry->team, false);
    cell(out, entry->model, false);
    cell(out, entry->hardware, false);
    cell(out, entry->framework, false);
    number(out, entry->value);
    cell(out, board_unit(entry->board), false);
    number(out, entry->low);
    number(out, entry->high);
    text_add(out, "%d,", entry->runs);
    number(out, entry->accuracy);
    if (entry->cost >= 0)
        number(out, entry->cost);
    else
        text_add(out, ",");
    text_add(out, "%lld,%lld,", (long long)entry->views, (long long)entry->devices);
    cell(out, entry->precision, false);
    cell(out, entry->division, false);
    cell(out, trust_word(entry->trust), false);
    text_add(out, "%lld,", (long long)entry->flags);
    cell(out, entry->date, false);
    cell(out, entry->source, false);
    cell(out, entry->code_url, true);
}

static int show(struct page *page)
{
    struct filter filter;
    TRY(page_filter(page->request, &filter));
    filter.limit = FILTER_LIMIT;
    text_add(page->out, "rank,author,team,model,hardware,framework,value,unit,low,high,runs,accuracy,cost_usd,views,"
                        "devices,precision,division,trust,"
                        "flags,date,source,code_url\r\n");
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
    answer->file_name = "board.csv";
    return page_make(request, answer, show);
}
