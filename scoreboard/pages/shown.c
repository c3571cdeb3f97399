// SPDX-License-Identifier: Apache-2.0
// From a stored statement to what charts and tables need. The payload passed the parser when it was accepted; it passes it
// again here, so that a page never trusts the database's file more than a stranger's upload.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scoreboard/pages/page_run.h"
#include "scoreboard/rank/ranking.h"
#include "submit/format/cost.h"

int shown_read(struct page *page, const char *id, struct shown *shown)
{
    *shown = (struct shown){0};
    TRY(store_statement(page->reader, id, &page->arena, &shown->stored));
    if (statement_read(shown->stored.payload, shown->stored.payload_count, &shown->statement) < 0)
        return fail(ERR_DATABASE, "the statement %.64s is not what was accepted", shown->stored.digest);
    if (shown->stored.type == STATEMENT_RUN)
        shown->contest = ranking_contest(shown->statement.json);
    return 0;
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

double shown_share(const struct shown *shown, int64_t k)
{
    int64_t items = shown_int(shown, "items");
    return items > 0 ? (double)k / (double)items : 0;
}

int64_t shown_last_k(const struct shown *shown)
{
    const json_t *points = canonical_at(shown->statement.json, "points");
    for (size_t i = json_array_size(points); i > 0; i--) {
        const json_t *point = json_array_get(points, i - 1);
        if (canonical_at(point, "k") != NULL) return canonical_int(point, "k");
    }
    return -1;
}

bool shown_reached(const struct shown *shown)
{
    return canonical_at(shown->statement.json, "reached") != NULL;
}

const char *shown_hardware(struct page *page, const struct shown *shown)
{
    return ranking_hardware(shown->statement.json, &page->arena);
}

double shown_score(const struct contest *contest, double share)
{
    return contest_is_share(contest) ? share : share * 100;
}

double shown_target(const struct shown *shown)
{
    return shown_score(shown->contest, (double)shown_int(shown, "target_micro") / 1e6);
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
    size_t all = json_array_size(points);
    struct chart_point *at = arena_alloc(&page->arena, (all + 1) * sizeof *at);
    int count = 0;
    for (size_t i = 0; i < all; i++) {
        const json_t *point = json_array_get(points, i);
        if (canonical_at(point, "k") == NULL) continue;
        double share = shown_share(shown, canonical_int(point, "k"));
        char score[TEXT_FIGURE];
        at[count].x = (double)canonical_int(point, "t_ns") / 1e9;
        at[count].y = shown_score(shown->contest, share);
        if (all <= 200)
            at[count].what = arena_text(&page->arena, "epoch %lld: %s after %.1f s",
                                        (long long)canonical_int(point, "epoch"),
                                        page_score_text(shown->contest, share, score), at[count].x);
        count++;
    }
    *into = at;
    return count;
}

static void percent_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g%%", value);
}

static void share_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g", value);
}

struct chart_axis shown_axis(const struct contest *contest)
{
    return (struct chart_axis){.title = contest != NULL ? contest->metric_title : "score",
                               .scale = CHART_LINEAR,
                               .label = contest_is_share(contest) ? share_label : percent_label};
}

void shown_begin(struct page *page, const struct shown *shown, const char *name, const char *about)
{
    const struct contest *contest = shown->contest;
    const char *task = contest != NULL ? contest->title : shown_text(shown, "task");
    const char *crumb = arena_text(&page->arena, "%c%s", toupper((unsigned char)*name), name + 1);
    const struct crumb ways[] = {
        {task, contest != NULL ? arena_text(&page->arena, "/boards/%s", contest->name) : "/"}, {crumb, NULL}};
    const char *model = shown_text(shown, "model.name"), *author = shown->stored.handle;
    const char *in_title = arena_text(&page->arena, "%s by %s (%s)", model, author, name);
    page_begin(page, in_title, about, ways);
    html_add(page->out, "<p class=\"over\">%s</p><h1><bdi>%s</bdi> by <bdi>%s</bdi> (%s)</h1>\n", task, model, author, name);
}
