// SPDX-License-Identifier: Apache-2.0
// Two charts of a board, each with the same data as a table: the history of its record, and time against cost.
// A board shows both pictures itself. Cost: one query for the history; for the front at most PARETO_MOST rows, page by page.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/common/draw/chart.h"
#include "scoreboard/pages/page_form.h"

enum { PARETO_MOST = 1000 };

static const struct crumb *ways_up(struct page *page, const struct filter *filter, bool board)
{
    struct crumb *crumbs = arena_alloc(&page->arena, 3 * sizeof *crumbs);
    crumbs[0] = (struct crumb){filter->contest->title, arena_text(&page->arena, "/boards/%s", filter->contest->name)};
    if (board)
        crumbs[1] =
            (struct crumb){board_title(filter->board), page_view_address(&page->arena, VIEW_BOARD, filter)};
    return crumbs;
}

// ---- history ----------------------------------------------------------------------------------------------------------
static void dollar_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, value < 1 ? "$%.2g" : "$%.4g", value);
}

static void latency_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.3g ms", value);
}

// Points are numbered by their places on the board, which the tables of the same page show.
static const char *name_label(struct page *page, const struct entry *entry)
{
    return arena_text(&page->arena, "%lld", (long long)entry->rank);
}

static const char *entry_words(struct page *page, const struct entry *entry)
{
    char value[BOARD_VALUE];
    return arena_text(&page->arena, "%s, %s, %s", board_value(entry->board, entry->value, value), entry->author,
                      entry->date);
}

static struct chart_axis value_axis(enum board board)
{
    static const char *const titles[BOARDS] = {"time (log scale)", "USD (log scale)", "latency (log scale)",
                                               "USD for 10,000 items (log scale)"};
    bool cost = board == BOARD_TRAINING_COST || board == BOARD_INFERENCE_COST;
    return (struct chart_axis){titles[board], board == BOARD_TRAINING_TIME ? CHART_LOG_SECONDS : CHART_LOG,
                               cost ? dollar_label : latency_label};
}

void page_history_chart(struct page *page, const struct filter *filter, const struct entries *entries, enum chart_size size)
{
    struct chart_point *at = arena_alloc(&page->arena, (size_t)(entries->count + 1) * sizeof *at);
    double scale = filter->board == BOARD_INFERENCE_COST ? 10000 : 1;
    for (int i = 0; i < entries->count; i++)
        at[i] = (struct chart_point){.x = (double)entries->at[i].accepted_ms / 1000,
                                     .y = entries->at[i].value * scale,
                                     .what = entry_words(page, &entries->at[i]),
                                     .name = name_label(page, &entries->at[i])};
    struct chart_series series = {
        .label = "record", .at = at, .count = entries->count, .line = CHART_STEPS, .marks = true};
    char first[BOARD_VALUE], last[BOARD_VALUE];
    if (entries->count == 0) return;
    const char *about = arena_text(&page->arena, "%d record%s, from %s to %s.", entries->count, entries->count == 1 ? "" : "s",
                                   board_value(filter->board, entries->at[0].value, first),
                                   board_value(filter->board, entries->at[entries->count - 1].value, last));
    struct chart chart = {.size = size,
                          .id = "c-history",
                          .title = "Record over time; numbers are places",
                          .about = about,
                          .x = {"date of acceptance", CHART_DATES, NULL},
                          .y = value_axis(filter->board),
                          .series = &series,
                          .series_count = 1};
    chart_draw(page->out, &chart);
}

void page_history_spark(struct page *page, const struct entries *entries)
{
    enum { WIDTH = 120, HEIGHT = 32, EDGE = 4 };
    const struct entry *first = &entries->at[0], *last = &entries->at[entries->count - 1];
    struct chart_span x = chart_span(CHART_DATES, (double)first->accepted_ms / 1000, (double)last->accepted_ms / 1000),
                      y = chart_span(CHART_LOG, last->value, first->value);
    char from[BOARD_VALUE], to[BOARD_VALUE];
    x.from = EDGE, x.to = WIDTH - EDGE, y.from = HEIGHT - EDGE, y.to = EDGE;
    html_add(page->out, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"Record over time: %d "
                        "from %s to %s\"><path class=\"line look-0\" d=\"", WIDTH, HEIGHT, WIDTH, HEIGHT, entries->count,
             board_value(first->board, first->value, from), board_value(last->board, last->value, to));
    for (int i = 0; i < entries->count; i++)
        html_add(page->out, "%s%.1f%s%.1f", i == 0 ? "M" : "H", chart_pixel(&x, (double)entries->at[i].accepted_ms / 1000),
                 i == 0 ? " " : "V", chart_pixel(&y, entries->at[i].value));
    html_add(page->out, "H%d\"/></svg>", WIDTH);
}

static void history_table(struct page *page, const struct entries *entries)
{
    page_table(page, "small cards", "The same data as a table, newest first",
               "date:Accepted|place:Place|value:Record|number:Change|model:Model and hardware|who:Author|trust:Trust");
    for (int i = entries->count - 1; i >= 0; i--) {
        const struct entry *entry = &entries->at[i];
        html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"date\">");
        if (entry->sequence > 0)
            page_moment(page->out, entry->accepted_ms);
        else
            page_day(page->out, entry->date);
        html_add(page->out, "</th><td role=\"cell\" class=\"place\">%lld</td>", (long long)entry->rank);
        page_row_value(page, entry);
        if (i > 0 && entries->at[i - 1].value > 0)
            html_add(page->out, "<td role=\"cell\" class=\"number\">\xe2\x88\x92%.1f%%</td>",
                     100 * (1 - entry->value / entries->at[i - 1].value));
        else
            html_add(page->out, "<td role=\"cell\" class=\"number\">the first</td>");
        page_row_names(page, entry);
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table></div>\n");
}

PAGE(page_history)
{
    struct filter filter;
    struct entries entries;
    TRY(request_filter(page->request, &filter));
    TRY(store_history(page->reader, &filter, &page->arena, &entries));
    const char *title = "History of the record";
    page_begin(page, title,
               arena_text(&page->arena, "%s, %s: every entry that was the best when it was accepted.", filter.contest->title,
                          board_title(filter.board)),
               ways_up(page, &filter, true));
    html_add(page->out, "<p class=\"over\">%s: %s</p><h1>%s</h1>\n", filter.contest->title, board_title(filter.board),
             title);
    page_demo_note(page, filter.contest);
    page_rank_tabs(page, VIEW_HISTORY, &filter);
    html_add(page->out, "<p class=\"lead\">Every entry that was the best of the board when it was accepted.</p>\n");
    int active = page_form_chips(page, VIEW_HISTORY, &filter);
    if (entries.count > 0) {
        page_history_chart(page, &filter, &entries, CHART_ACROSS);
        history_table(page, &entries);
    } else if (active > 0) {
        page_form_nothing(page, VIEW_HISTORY, &filter);
    } else {
        page_how_to_be_first(page, &filter);
    }
    page_end(page);
    return 0;
}

// ---- time against cost ------------------------------------------------------------------------------------------------
// Rows of training time with a cost, fastest first. The front is each row that is cheaper than all before it.
int page_pareto_read(struct page *page, struct filter filter, int most, struct entry **rows, int *count, int *without)
{
    *rows = arena_alloc(&page->arena, (size_t)(most + 1) * sizeof **rows);
    *count = *without = 0;
    filter.board = BOARD_TRAINING_TIME;
    filter.limit = most < FILTER_LIMIT ? most : FILTER_LIMIT;
    filter.sort = SORT_VALUE, filter.descending = false, filter.cursor[0] = 0;
    for (int seen = 0; seen < most;) {
        struct entries entries;
        TRY(store_entries(page->reader, &filter, &page->arena, &entries));
        for (int i = 0; i < entries.count && seen < most; i++, seen++) {
            if (entries.at[i].cost > 0 && entries.at[i].value > 0)
                (*rows)[(*count)++] = entries.at[i];
            else
                ++*without;
        }
        if (entries.next == NULL || entries.count == 0) break;
        snprintf(filter.cursor, sizeof filter.cursor, "%s", entries.next);
    }
    return 0;
}

static void pareto_table(struct page *page, const struct entry *rows, int count, const bool *front)
{
    page_table(page, "small cards", "The same data as a table, fastest first; \xe2\x97\x8f marks the front",
               "front:Front|place:Place|value:Time|number:Cost|model:Model and hardware|who:Author|trust:Trust");
    for (int i = 0; i < count; i++) {
        html_add(page->out, "<tr role=\"row\"><td role=\"cell\" class=\"front\">");
        if (front[i]) html_add(page->out, "<span aria-hidden=\"true\">\xe2\x97\x8f</span><span class=\"hidden\">front</span>");
        html_add(page->out, "</td><td role=\"cell\" class=\"place\">%lld</td>", (long long)rows[i].rank);
        page_row_value(page, &rows[i]);
        html_add(page->out, "<td role=\"cell\" class=\"number\">");
        page_money(page->out, rows[i].cost);
        html_add(page->out, "</td>");
        page_row_names(page, &rows[i]);
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table></div>\n");
}

void page_pareto_chart(struct page *page, const struct entry *rows, int count, bool *front, enum chart_size size)
{
    struct chart_point *all = arena_alloc(&page->arena, (size_t)(count + 1) * sizeof *all);
    struct chart_point *best = arena_alloc(&page->arena, (size_t)(count + 1) * sizeof *best);
    int others = 0, kept = 0;
    double cheapest = INFINITY;
    for (int i = 0; i < count; i++) {
        char cost[BOARD_VALUE];
        front[i] = rows[i].cost < cheapest;
        struct chart_point point = {.x = rows[i].value, .y = rows[i].cost};
        if (front[i] || size == CHART_ACROSS)
            point.what = arena_text(&page->arena, "%s, %s", entry_words(page, &rows[i]),
                                    board_value(BOARD_TRAINING_COST, rows[i].cost, cost));
        if (front[i]) point.name = name_label(page, &rows[i]);
        if (front[i])
            best[kept++] = point, cheapest = rows[i].cost;
        else
            all[others++] = point;
    }
    struct chart_series series[] = {
        {.label = "other entries", .at = all, .count = others, .line = CHART_NONE, .marks = true, .look = 3},
        {.label = "the front: nothing is both faster and cheaper",
         .at = best,
         .count = kept,
         .line = CHART_STEPS,
         .marks = true,
         .look = 0}};
    struct chart chart = {
        .size = size,
        .id = "c-pareto",
        .title = "Time against cost; numbers are places",
        .about = arena_text(&page->arena, "%d entries with a price, %d of them on the front.", count, kept),
        .x = {"training time (log scale)", CHART_LOG_SECONDS, NULL},
        .y = {"USD (log scale)", CHART_LOG, dollar_label},
        .series = series,
        .series_count = 2};
    chart_draw(page->out, &chart);
}

PAGE(page_pareto)
{
    struct filter filter = {0};
    struct entry *rows;
    int count, without;
    TRY(request_contest(page->request, &filter.contest));
    filter.board = BOARD_TRAINING_TIME;
    TRY(filter_read(page->request->query, &filter));
    TRY(page_pareto_read(page, filter, PARETO_MOST, &rows, &count, &without));
    const char *title = "Time against cost";
    page_begin(page, title, arena_text(&page->arena, "%s: training time against training cost.", filter.contest->title),
               ways_up(page, &filter, false));
    html_add(page->out, "<p class=\"over\">%s</p><h1>%s</h1>\n", filter.contest->title, title);
    page_demo_note(page, filter.contest);
    page_rank_tabs(page, VIEW_PARETO, &filter);
    int active = page_form_chips(page, VIEW_PARETO, &filter);
    if (count > 0) {
        bool *front = arena_alloc(&page->arena, (size_t)count * sizeof *front);
        html_add(page->out,
                 "<p class=\"lead\">The price of faster training: entries of the training-time board whose price is "
                 "known%s.</p>\n",
                 without > 0 ? arena_text(&page->arena, " (%d have none)", without) : "");
        page_pareto_chart(page, rows, count, front, CHART_ACROSS);
        pareto_table(page, rows, count, front);
    } else if (without > 0 && active > 0) {
        html_add(page->out, "<p class=\"empty\">No entry that passes these filters has a price.</p>");
    } else if (without > 0) {
        html_add(page->out, "<p class=\"empty\">No entry of this board has a price. Give one with "
                            "<code>--cost-per-hour</code> or <code>--instance</code>.</p>");
    } else if (active > 0) {
        page_form_nothing(page, VIEW_PARETO, &filter);
    } else {
        page_how_to_be_first(page, &filter);
    }
    page_end(page);
    return 0;
}
