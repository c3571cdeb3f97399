// SPDX-License-Identifier: Apache-2.0
// From a stored statement to what charts and tables need. The payload passed the parser when it was accepted; it passes it
// again here, so that a page never trusts the database's file more than a stranger's upload.
#include <stdio.h>
#include <string.h>

#include "scoreboard/page_run.h"
#include "scoreboard/ranking.h"

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

static bool is_share(const struct shown *shown)
{
    return strcmp(shown_text(shown, "metric"), "f1") == 0;
}

double shown_target(const struct shown *shown)
{
    return (double)shown_int(shown, "target_micro") / (is_share(shown) ? 1e6 : 1e4);
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
        at[count].x = (double)canonical_int(point, "t_ns") / 1e9;
        at[count].y = is_share(shown) ? share : share * 100;
        if (all <= 200)
            at[count].what = arena_text(&page->arena, "epoch %lld: %.2f%% after %.1f s",
                                        (long long)canonical_int(point, "epoch"), share * 100, at[count].x);
        count++;
    }
    *into = at;
    return count;
}

void shown_score_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g%%", value);
}

void shown_share_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g", value);
}

void shown_scale(const struct shown *shown, struct chart_axis *axis)
{
    bool share = is_share(shown);
    *axis = (struct chart_axis){.title = share                    ? "F1"
                                         : shown->contest != NULL ? shown->contest->metric_title
                                                                  : "accuracy",
                                .scale = CHART_LINEAR,
                                .label = share ? shown_share_label : shown_score_label};
}
