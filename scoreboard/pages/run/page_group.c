// SPDX-License-Identifier: Apache-2.0
// A group: its runs, missing ones too, and the verdict with its statistics.
#include <math.h>
#include <string.h>

#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"

enum { GROUP_SHOWN = 1000 };
struct gathered {
    struct shown *runs;
    const struct statement **counting;  // of those that still count, by index
    int count, counted, planned;
    struct group_facts facts;
    struct entries places;
    struct band band;
};

static int gather(struct page *page, const char *nonce, struct gathered *g)
{
    struct stored *stored;
    TRY(store_group(page->reader, nonce, &page->arena, &stored, &g->count, &g->planned));
    if (g->count == 0) return fail(ERR_MISSING, "there is no group %.40s here", nonce);
    TRY(store_entries_of(page->reader, arena_text(&page->arena, "group %s", nonce), &page->arena, &g->places));
    g->runs = arena_alloc(&page->arena, (size_t)g->count * sizeof *g->runs);
    g->counting = arena_alloc(&page->arena, (size_t)g->count * sizeof *g->counting);
    int kept = g->count;
    g->count = 0;
    for (int i = 0; i < kept; i++) {
        struct shown *shown = &g->runs[g->count];
        *shown = (struct shown){.stored = stored[i]};
        TRY(store_group_run(page->reader, stored[i].sequence, &shown->statement));
        g->count++;
        shown_fill(shown);
        if (stored[i].withdrawn == 0) g->counting[g->counted++] = &shown->statement;
    }
    TRY(band_read(page, stored, kept, &g->band));
    struct ranked rows[BOARDS];
    ranking_of_group(g->counting, g->counted, g->planned, &page->arena, &g->facts, rows);
    return 0;
}

static void verdict(struct page *page, const struct gathered *g)
{
    const struct group_facts *facts = &g->facts;
    const struct contest *contest = g->runs[0].contest;
    html_add(page->out, "<p class=\"note %s\"><strong>%s</strong> %s.</p>\n", facts->official ? "good" : "warn",
             facts->official ? "Official:" : "Not official:", group_verdict_sentence(facts->verdict));
    bool self = false;
    for (int i = 0; i < g->count; i++) self = self || strcmp(shown_text(&g->runs[i], "evaluated_by"), "self") == 0;
    if (self)
        page_note(page->out, "warn", "Self-evaluated.",
                  "The trained programs reported their own scores. Such a group is never called checked.");
    const struct group_mean *time = &facts->seconds, *score = &facts->accuracy;
    const struct run_metric plain = {.unit = "%"};
    const bool spread = facts->finished > 1;  // one run has neither deviation nor interval
    char low[BOARD_VALUE], high[BOARD_VALUE], sigma[TEXT_FIGURE];
    html_add(page->out, "<dl class=\"headline\"><div><dt>Runs<small>with a result, of the announced ones</small></dt><dd>%d of %d"
                        "</dd></div><div><dt>Mean time<small>end-to-end, whole schedule", facts->finished, facts->planned);
    if (spread)
        html_add(page->out, "; 95%% interval %s to %s; standard deviation %s",
                 board_value(BOARD_TRAINING_TIME, group_low(time), low), board_value(BOARD_TRAINING_TIME, time->high, high),
                 page_span_text(page, (int64_t)(time->sigma * 1e9)));
    html_add(page->out, "</small></dt><dd>");
    page_value(page->out, BOARD_TRAINING_TIME, time->mean);
    html_add(page->out, "</dd></div><div><dt>Mean score<small>%s, of the last evaluations", shown_axis(contest).title);
    if (spread)
        html_add(page->out, "; 95%% interval %s to %s; standard deviation %s", page_score_text(contest, score->low, low),
                 page_score_text(contest, score->high, high),
                 run_metric_spread_text(contest ? &contest->board : &plain, score->sigma, facts->finished, sigma));
    html_add(page->out, "</small></dt><dd>");
    page_score(page->out, contest, score->mean);
    html_add(page->out, "</dd></div><div><dt>p<small>chance of a mean this high if the true mean were at the target "
                        "(Student's t)</small></dt><dd>");
    if (facts->finished > 1 && facts->p < 0.0001)
        html_add(page->out, "&lt; 0.0001");
    else if (facts->finished > 1)
        html_add(page->out, "%.2g", facts->p);
    else
        html_add(page->out, "-");
    html_add(page->out, "</dd></div></dl>\n");
}

static const struct shown *run_with_index(const struct gathered *g, int64_t index)
{
    for (int i = 0; i < g->count; i++)
        if (shown_int(&g->runs[i], "group.index") == index) return &g->runs[i];
    return NULL;
}

static int missing_row(struct page *page, int64_t index)
{
    int64_t ticket;
    TRY(store_ticket_of_group(page->reader, page->request->word[0], index, &ticket));
    html_add(page->out, "<tr class=\"missing\"><th scope=\"row\">%lld</th><td colspan=\"5\">announced", (long long)index);
    if (ticket != 0)
        html_add(page->out, " with <a href=\"/runs/%lld\">ticket %lld</a>", (long long)ticket, (long long)ticket);
    html_add(page->out, " but not reported: it counts as failed</td></tr>\n");
    return 0;
}

static int run_row(struct page *page, const struct shown *run, int64_t index)
{
    if (run == NULL) return missing_row(page, index);
    html_add(page->out, "<tr><th scope=\"row\">%lld</th><td><a href=\"/runs/%lld\">Run %lld</a></td><td>%lld</td><td>",
             (long long)index, (long long)run->stored.sequence, (long long)run->stored.sequence,
             (long long)shown_int(run, "seed"));
    page_span(page->out, shown_whole_ns(run));
    html_add(page->out, "</td><td>");
    page_score(page->out, run->contest, shown_last(run));
    html_add(page->out, "</td><td>%s</td></tr>\n",
             run->stored.withdrawn > 0 ? "withdrawn" : shown_text(run, "status"));
    return 0;
}

static int runs_table(struct page *page, const struct gathered *g)
{
    page_table(page, "small tight", "Every announced run", ":Number|:Run|:Seed|:Whole schedule|:Last evaluation|:State");
    for (int64_t i = 1; i <= g->planned && i <= GROUP_SHOWN; i++) TRY(run_row(page, run_with_index(g, i), i));
    html_add(page->out, "</tbody></table></div>\n");
    return 0;
}

static void runs_chart(struct page *page, const struct gathered *g)
{
    struct chart_point *at = arena_alloc(&page->arena, (size_t)(g->count + 1) * sizeof *at);
    int count = 0;
    const struct contest *contest = g->runs[0].contest;
    for (int64_t i = 1; i <= g->planned && i <= GROUP_SHOWN && count < g->count; i++) {
        const struct shown *run = run_with_index(g, i);
        double score = run != NULL ? shown_last(run) : NAN;
        if (isnan(score)) continue;
        char words[TEXT_FIGURE];
        at[count++] = (struct chart_point){.x = (double)i,
                                           .y = shown_score(contest, score),
                                           .what = arena_text(&page->arena, "run %lld of the group: %s", (long long)i,
                                                              page_score_text(contest, score, words))};
    }
    if (count == 0) return;
    struct chart_series series = {
        .label = "last evaluation", .at = at, .count = count, .line = CHART_NONE, .marks = true};
    struct chart_level lines[] = {{shown_target(&g->runs[0]), "target"},
                                  {shown_score(contest, g->facts.accuracy.mean), "mean"}};
    struct chart chart = {.id = "c-group",
                          .title = "Last evaluation of each run",
                          .about = arena_text(&page->arena, "%d runs, with the target and their mean as lines.", count),
                          .x = {"number of the run", CHART_WHOLE, chart_number},
                          .y = shown_axis(contest),
                          .series = &series,
                          .series_count = 1,
                          .levels = lines,
                          .level_count = count > 1 ? 2 : 1};
    chart_draw(page->out, &chart);
}

static void curve_chart(struct page *page, const struct gathered *g)
{
    const struct band *band = &g->band;
    const struct contest *contest = g->runs[0].contest;
    if (band->count < 2) return;
    const char *what = band->is_loss ? "Training loss" : "Score";
    struct chart_series series = {
        .label = "mean", .at = band->at, .count = band->count, .marks = band->count <= 80, .band = true};
    struct chart_level target = {shown_target(&g->runs[0]), "target"};
    struct chart chart = {
        .id = "c-band",
        .title = arena_text(&page->arena, "%s over end-to-end time: mean, lowest and highest of %d runs", what, band->runs),
        .about = arena_text(&page->arena, "%d points, the mean from %.4g to %.4g in %s; each run's page has its own curve.",
                            band->count, band->at[0].y, band->at[band->count - 1].y,
                            page_span_text(page, (int64_t)(band->at[band->count - 1].x * 1e9))),
        .x = {"mean end-to-end time", CHART_SECONDS, NULL},
        .y = band->is_loss ? shown_loss_axis() : shown_axis(contest),
        .series = &series,
        .series_count = 1,
        .levels = &target,
        .level_count = band->is_loss ? 0 : 1};
    chart_draw(page->out, &chart);
}

static int write_page(struct page *page, const struct gathered *g)
{
    const struct shown *first = &g->runs[0];
    const char *nonce = page->request->word[0];
    char score[TEXT_FIGURE];
    const char *mean = arena_text(&page->arena, "%s in %s, the mean of %d run%s, on %s",
                                  page_score_text(first->contest, g->facts.accuracy.mean, score),
                                  page_span_text(page, (int64_t)(g->facts.seconds.mean * 1e9)), g->facts.finished,
                                  g->facts.finished == 1 ? "" : "s", shown_where(page, first));
    if (g->facts.finished == 0) mean = arena_text(&page->arena, "No result yet of %d announced runs", g->planned);
    shown_begin(page, first, mean, arena_text(&page->arena, "group %.8s", nonce),
                "A group of runs, announced before the first began");
    page_demo_note(page, first->contest);
    verdict(page, g);
    html_add(page->out, "<dl class=\"facts\"><div><dt>Hardware</dt><dd><bdi>%s</bdi></dd></div><div><dt>Announced</dt><dd>",
             shown_hardware(page, first));
    page_moment(page->out, shown_int(first, "group.announced_ms"));
    for (int i = 0; i < g->places.count; i++) {
        if (g->places.at[i].board != BOARD_TRAINING_TIME || g->places.at[i].energy < 0) continue;
        html_add(page->out, "</dd></div><div><dt>Energy</dt><dd>");
        page_energy(page->out, g->places.at[i].energy);
        html_add(page->out, ", the mean of its whole runs");
    }
    html_add(page->out, "</dd></div><div><dt>Name</dt><dd><span class=\"digest\">%s</span></dd></div></dl>\n", nonce);
    if (g->places.count > 0) page_rows(page, &g->places, ROWS_PLACES, "On the boards");
    html_add(page->out, "<h2>Runs</h2>\n");
    html_add(page->out, "<div class=\"pair\">\n");
    curve_chart(page, g);
    runs_chart(page, g);
    html_add(page->out, "</div>\n");
    TRY(runs_table(page, g));
    html_add(page->out,
             "<p class=\"links\"><a href=\"/api/v1/groups/%s\">JSON</a> <a "
             "href=\"/rules#groups-the-official-result\">Rules of groups</a></p>\n",
             html_part(&page->arena, nonce));
    page_end(page);
    return 0;
}

PAGE(page_group)
{
    struct gathered g = {0};
    int rc = gather(page, page->request->word[0], &g);
    if (rc == 0) rc = write_page(page, &g);
    for (int i = 0; i < g.count; i++) statement_free(&g.runs[i].statement);
    return rc;
}
