// SPDX-License-Identifier: Apache-2.0
// Two to four runs side by side: one chart with all curves, one table with a column a run.
#include <string.h>

#include "scoreboard/pages/page_run.h"

enum { COMPARE_MOST = CHART_LOOKS, COMPARE_ID = 24 };
struct compared {
    struct shown runs[COMPARE_MOST];
    int count;
};

// run=12&run=15: numbers only; empty ones ask nothing. What else stands in the query is refused, as in every query here.
static int read_query(const char *query, char ids[COMPARE_MOST][COMPARE_ID], int *count)
{
    *count = 0;
    while (query != NULL && *query != 0) {
        size_t length = strcspn(query, "&");
        int64_t id;
        if (length > 0) {
            if (strncmp(query, "run=", 4) != 0) return fail(ERR_INPUT, "compare takes run=NUMBER two to four times");
            if (length > 4) {
                if (length - 4 >= COMPARE_ID) return fail(ERR_INPUT, "a run is named by its number");
                if (*count == COMPARE_MOST) return fail(ERR_INPUT, "at most %d runs can be compared", COMPARE_MOST);
                memcpy(ids[*count], query + 4, length - 4);
                ids[*count][length - 4] = 0;
                if (text_to_int(ids[*count], 1, INT64_MAX, &id) < 0)
                    return fail(ERR_INPUT, "a run is named by its number");
                ++*count;
            }
        }
        query += length + (query[length] == '&');
    }
    return 0;
}

static const char *name_of(struct page *page, const struct shown *run)
{
    return arena_text(&page->arena, "Run %lld, %s", (long long)run->stored.sequence, run->stored.handle);
}

static void chart_all(struct page *page, const struct compared *c)
{
    struct chart_series series[COMPARE_MOST];
    struct chart_level target = {shown_target(&c->runs[0]), "target"};
    int any = 0;
    for (int i = 0; i < c->count; i++) {
        struct chart_point *points;
        int count = shown_curve(page, &c->runs[i], &points);
        series[i] = (struct chart_series){
            .label = name_of(page, &c->runs[i]), .at = points, .count = count, .marks = count <= 80, .look = i};
        any += count;
    }
    if (any == 0) return;
    struct chart chart = {.id = "c-compare",
                          .title = "Score over end-to-end time",
                          .about = arena_text(&page->arena, "%d curves; the table below has their figures.", c->count),
                          .x = {"end-to-end time", CHART_SECONDS, NULL},
                          .y = shown_axis(c->runs[0].contest),
                          .series = series,
                          .series_count = c->count,
                          .levels = &target,
                          .level_count = 1};
    chart_draw(page->out, &chart);
}

enum row_kind { ROW_TEXT, ROW_SPAN, ROW_NUMBER, ROW_MONEY, ROW_RANKED };
static const struct row {
    const char *label, *path;
    enum row_kind kind;
} rows[] = {
    {"Task", "task", ROW_TEXT},
    {"Model", "model.name", ROW_TEXT},
    {"Time to the target, classic", "reached.classic_ns", ROW_SPAN},
    {"Time to the target, end-to-end", "reached.t_ns", ROW_SPAN},
    {"Time to the target, warm", "reached.warm_ns", ROW_SPAN},
    {"Samples to the target", "reached.samples", ROW_NUMBER},
    {"Cost, classic", "price.total_micro_usd", ROW_RANKED},
    {"Cost, end-to-end", "price.total_micro_usd", ROW_MONEY},
    {"Price per hour", "price.micro_usd_per_hour", ROW_MONEY},
    {"Processor", "hardware.cpu", ROW_TEXT},
    {"Accelerators", "hardware.gpu", ROW_TEXT},
    {"Devices", "hardware.devices", ROW_NUMBER},
    {"Threads", "threads", ROW_NUMBER},
    {"Framework", "software.framework", ROW_TEXT},
    {"Commit", "software.commit", ROW_TEXT},
    {"Precision", "precision", ROW_TEXT},
    {"Batch", "batch", ROW_NUMBER},
    {"Views per item", "views", ROW_NUMBER},
    {"Parameters", "model.parameters", ROW_NUMBER},
    {"Seed", "seed", ROW_NUMBER},
    {"Recipe", "recipe.name", ROW_TEXT},
    {"Recipe's SHA-256", "recipe.digest", ROW_TEXT},
};

static void one_cell(struct page *page, const struct shown *run, const struct row *row)
{
    const json_t *value = canonical_at(run->statement.json, row->path);
    char figure[TEXT_FIGURE];
    html_add(page->out, "<td>");
    if (value == NULL || (row->kind == ROW_TEXT && *shown_text(run, row->path) == 0))
        html_add(page->out, "<span class=\"quiet\">-</span>");
    else if (row->kind == ROW_TEXT)
        html_words(page->out, shown_text(run, row->path));
    else if (row->kind == ROW_SPAN)
        page_span(page->out, shown_int(run, row->path));
    else if (row->kind == ROW_RANKED)
        page_money(page->out, shown_ranked_cost(run));
    else if (row->kind == ROW_MONEY)
        page_money(page->out, (double)shown_int(run, row->path) / 1e6);
    else
        html_add(page->out, "%s", text_count(figure, shown_int(run, row->path)));
    html_add(page->out, "</td>");
}

// A metric beside the board's, of the runs that have it.
static void metric_row(struct page *page, const struct compared *c, const struct run_metric *metric)
{
    html_add(page->out, "<tr><th scope=\"row\"><bdi>%s</bdi></th>", metric->name);
    for (int i = 0; i < c->count; i++) {
        char words[TEXT_FIGURE];
        int64_t score = RUN_SCORE_NONE;
        for (int m = 1; m < c->runs[i].metric_count; m++)
            if (strcmp(c->runs[i].metrics[m].name, metric->name) == 0)
                score = curve_last(c->runs[i].statement.json, &c->runs[i].metrics[m]);
        html_add(page->out, "<td>%s</td>", run_metric_text(metric, score, words));
    }
    html_add(page->out, "</tr>\n");
}

static void table_of(struct page *page, const struct compared *c)
{
    page_open_table(page, "small beside", "Side by side");
    html_add(page->out, "<thead><tr><th scope=\"col\">Figure</th>");
    for (int i = 0; i < c->count; i++)
        html_add(page->out, "<th scope=\"col\"><a href=\"/runs/%lld\"><bdi>%s</bdi></a></th>",
                 (long long)c->runs[i].stored.sequence, name_of(page, &c->runs[i]));
    html_add(page->out, "</tr></thead><tbody>\n<tr><th scope=\"row\">Last evaluation</th>");
    for (int i = 0; i < c->count; i++) {
        html_add(page->out, "<td>");
        page_score(page->out, c->runs[i].contest, shown_last(&c->runs[i]));
        html_add(page->out, "</td>");
    }
    html_add(page->out, "</tr>\n");
    for (int m = 1; m < c->runs[0].metric_count; m++) metric_row(page, c, &c->runs[0].metrics[m]);
    html_add(page->out, "<tr><th scope=\"row\">Trust</th>");
    for (int i = 0; i < c->count; i++) {
        html_add(page->out, "<td>");
        page_badge(page->out, c->runs[i].stored.trust);
        html_add(page->out, "</td>");
    }
    html_add(page->out, "</tr>\n");
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        html_add(page->out, "<tr><th scope=\"row\">%s</th>", rows[r].label);
        for (int i = 0; i < c->count; i++) one_cell(page, &c->runs[i], &rows[r]);
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table></div>\n");
}

static void form(struct page *page, const struct compared *c)
{
    html_add(page->out, "<form class=\"inline\" method=\"get\" action=\"/compare\">");
    for (int i = 0; i < COMPARE_MOST; i++)
        html_add(page->out,
                 "<div class=\"field\"><label for=\"run-%d\">Run %d</label> <input id=\"run-%d\" name=\"run\" "
                 "type=\"number\" min=\"1\" value=\"%s\"></div>",
                 i + 1, i + 1, i + 1,
                 i < c->count ? arena_text(&page->arena, "%lld", (long long)c->runs[i].stored.sequence) : "");
    html_add(page->out, "<button type=\"submit\">Compare</button></form>\n");
}

static void write_page(struct page *page, const struct compared *c)
{
    const struct contest *demo = NULL;
    page_begin(page, "Compare", "Runs side by side", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Compare runs</h1>\n");
    for (int i = 0; i < c->count; i++)
        if (c->runs[i].contest != NULL && c->runs[i].contest->synthetic) demo = c->runs[i].contest;
    page_demo_note(page, demo);
    for (int i = 1; i < c->count; i++) {
        if (c->runs[i].contest == c->runs[0].contest) continue;
        page_note(page->out, "warn", "Different tasks.", "These figures are not comparable.");
        break;
    }
    html_add(page->out, "<p class=\"lead\">Two to four runs, by their numbers in the <a "
                        "href=\"/log\">log</a>; boards have a check box for each run.</p>");
    form(page, c);
    if (c->count >= 2) {
        chart_all(page, c);
        table_of(page, c);
    }
    page_end(page);
}

static int show_comparison(struct page *page)
{
    char ids[COMPARE_MOST][COMPARE_ID];
    int wanted, rc = 0;
    TRY(read_query(page->request->query, ids, &wanted));
    struct compared c = {0};
    while (c.count < wanted && rc == 0) {
        rc = shown_read(page, ids[c.count], &c.runs[c.count]);
        if (rc < 0) break;
        c.count++;
        if (c.runs[c.count - 1].stored.type != STATEMENT_RUN)
            rc = fail(ERR_INPUT, "statement %s is not a run", ids[c.count - 1]);
    }
    if (rc == 0) write_page(page, &c);
    for (int i = 0; i < c.count; i++) statement_free(&c.runs[i].statement);
    return rc;
}

int page_compare(const struct request *request, struct answer *answer)
{
    return page_make(request, answer, show_comparison);
}
