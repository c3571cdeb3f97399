// SPDX-License-Identifier: Apache-2.0
// Turns a stored statement into the data of charts and tables. The payload is parsed again, as at acceptance, so that a page
// never trusts the database file more than a stranger's upload.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"
#include "submit/format/score/cost.h"

int shown_read(struct page *page, const char *id, struct shown *shown)
{
    *shown = (struct shown){0};
    TRY(store_statement(page->reader, id, &page->arena, &shown->stored));
    if (statement_read(shown->stored.payload, shown->stored.payload_count, &shown->statement) < 0)
        return fail(ERR_DATABASE, "the statement %.64s differs from the accepted one", shown->stored.digest);
    if (shown->stored.type == STATEMENT_RUN) shown_fill(shown);
    return 0;
}

void shown_fill(struct shown *shown)
{
    shown->contest = ranking_contest(shown->statement.json);
    shown->metric_count = curve_metrics(shown->statement.json, shown->metrics);
    const struct contest *own = contest_find(shown_text(shown, "task"));
    bool fits = own != NULL && strcmp(own->metric, shown->metrics[0].name) == 0;
    shown->measured = fits ? own : shown->contest;
}

int64_t shown_int(const struct shown *shown, const char *path)
{
    return canonical_int(shown->statement.json, path);
}

const char *shown_text(const struct shown *shown, const char *path)
{
    const char *text = canonical_text(shown->statement.json, path);
    return text != NULL ? text : "";
}

double shown_last(const struct shown *shown)
{
    int64_t score = curve_last(shown->statement.json, &shown->metrics[0]);
    return score != RUN_SCORE_NONE ? run_metric_value(&shown->metrics[0], score) : NAN;
}

int64_t shown_whole_ns(const struct shown *shown)
{
    const json_t *points = canonical_at(shown->statement.json, "points");
    size_t count = json_array_size(points);
    return count > 0 ? canonical_int(json_array_get(points, count - 1), "t_ns") : 0;
}

bool shown_reached(const struct shown *shown)
{
    return canonical_at(shown->statement.json, "reached") != NULL;
}

const char *shown_hardware(struct page *page, const struct shown *shown)
{
    return ranking_hardware(shown->statement.json, &page->arena);
}

double shown_score(const struct contest *contest, double score)
{
    return contest != NULL ? run_metric_shown(&contest->board, score) : score * 100;
}

double shown_target(const struct shown *shown)
{
    return shown_score(shown->measured, (double)shown_int(shown, "target_micro") / 1e6);
}

double shown_ranked_cost(const struct shown *shown)
{
    int64_t hour = shown_int(shown, "price.micro_usd_per_hour");
    if (!shown_reached(shown) || hour <= 0) return -1;
    return (double)cost_training_micro(shown_int(shown, "reached.classic_ns"), hour) / COST_USD;
}

int shown_curve(struct page *page, const struct shown *shown, struct chart_point **into)
{
    const json_t *points = canonical_at(shown->statement.json, "points");
    const struct run_metric *board = &shown->metrics[0];
    size_t all = json_array_size(points);
    struct chart_point *at = arena_alloc(&page->arena, (all + 1) * sizeof *at);
    int count = 0;
    for (size_t i = 0; i < all; i++) {
        const json_t *point = json_array_get(points, i);
        int64_t score = curve_score(point, board);
        if (score == RUN_SCORE_NONE) continue;
        char text[TEXT_FIGURE], moment[CURVE_MOMENT];
        at[count].x = (double)canonical_int(point, "t_ns") / 1e9;
        at[count].y = run_metric_shown(board, run_metric_value(board, score));
        if (all <= 200)
            at[count].what = arena_text(&page->arena, "%s: %s after %s", curve_moment(point, moment),
                                        run_metric_text(board, score, text),
                                        page_span_text(page, canonical_int(point, "t_ns")));
        count++;
    }
    *into = at;
    return count;
}

int shown_losses(struct page *page, const struct shown *shown, struct chart_point **into)
{
    const json_t *all = canonical_at(shown->statement.json, "points");
    struct chart_point *at = arena_alloc(&page->arena, (json_array_size(all) + 1) * sizeof *at);
    int count = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *point = json_array_get(all, i);
        char moment[CURVE_MOMENT];
        if (isnan(at[count].y = curve_loss(point, NULL))) continue;
        at[count].x = (double)canonical_int(point, "t_ns") / 1e9;
        if (json_array_size(all) <= 200)
            at[count].what = arena_text(&page->arena, "%s: %.4f after %s", curve_moment(point, moment), at[count].y,
                                        page_span_text(page, canonical_int(point, "t_ns")));
        count++;
    }
    *into = at;
    return count;
}

static void loss_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.3g", value);
}

struct chart_axis shown_loss_axis(void)
{
    return (struct chart_axis){"mean training loss since the point before", CHART_LINEAR, loss_label};
}

struct chart_axis shown_axis(const struct contest *contest)
{
    bool is_percent = contest == NULL || strcmp(contest->board.unit, "%") == 0;
    return (struct chart_axis){.title = contest != NULL ? contest->metric_title : "score",
                               .scale = CHART_LINEAR,
                               .label = is_percent ? chart_percent : chart_number};
}

const char *shown_where(struct page *page, const struct shown *shown)
{
    const char *words = shown_hardware(page, shown), *comma = strrchr(words, ',');
    char name[RANKING_MACHINE_NAME];
    ranking_machine_name(words, name);
    if (comma == NULL || strstr(comma, " thread") == NULL) return words;
    const int64_t threads = shown_int(shown, "threads");
    return arena_text(&page->arena, "%s of %s", threads == 1 ? "one thread" : comma + 2, name);
}

// The result as a sentence: "94% in 13.08 s on one thread of AMD EPYC", by the clock that is ranked.
const char *shown_sentence(struct page *page, const struct shown *shown)
{
    char score[TEXT_FIGURE];
    const struct contest *contest = shown->measured;
    const double last = shown_last(shown);
    const char *target = contest_is_share(contest)
                             ? arena_text(&page->arena, "%s %.6g", contest->metric_title, shown_target(shown))
                             : arena_text(&page->arena, "%.6g%%", shown_target(shown));
    const char *where = shown_where(page, shown);
    const char *classic = page_span_text(page, shown_int(shown, "reached.classic_ns"));
    if (shown_reached(shown)) return arena_text(&page->arena, "%s in %s on %s", target, classic, where);
    if (isnan(last)) return arena_text(&page->arena, "Nothing evaluated on %s", where);
    const char *missed = contest != NULL && contest->board.lower_is_better ? "above" : "below";
    return arena_text(&page->arena, "%s, %s %s, after %s on %s", page_score_text(contest, last, score), missed, target,
                      page_span_text(page, shown_whole_ns(shown)), where);
}

void shown_begin(struct page *page, const struct shown *shown, const char *sentence, const char *name, const char *about)
{
    const struct contest *contest = shown->contest;
    const char *task = contest != NULL ? contest->title : shown_text(shown, "task");
    const char *crumb = arena_text(&page->arena, "%c%s", toupper((unsigned char)*name), name + 1);
    const struct crumb ways[] = {
        {task, contest != NULL ? arena_text(&page->arena, "/boards/%s", contest->name) : "/"}, {crumb, NULL}};
    page_begin(page, arena_text(&page->arena, "%s (%s)", sentence, name), about, ways);
    html_add(page->out, "<p class=\"over\">%s</p><h1><bdi>%s</bdi></h1><p class=\"lead\"><bdi>%s</bdi> by ", task, sentence,
             shown_text(shown, "model.name"));
    page_person_link(page, shown->stored.handle);
    html_add(page->out, " (%s)</p>\n", name);
}
