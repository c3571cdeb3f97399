// SPDX-License-Identifier: Apache-2.0
// One run: its curves, its facts and its points. A group: its curves as one band, its figures and its runs.
#include "tasks/tools/show/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "tasks/tools/show/curve_chart.h"
#include "tasks/tools/show/show.h"

// ---- SVG

enum { SERIES = 2 };
struct panel {
    struct chart chart;
    struct chart_series series[SERIES];
    struct chart_level target;
    struct chart_point *at, met;
    char title[160], reached[TEXT_FIGURE + 24];
};

// The point at which the target was met, as a mark of its own.
static void mark_reached(const json_t *run, struct panel *p)
{
    char span[TEXT_FIGURE];
    p->met.x = (double)record_int(run, "reached_ns") * 1e-9;
    for (int i = 0; i < p->series[0].count; i++)
        if (p->at[i].x == p->met.x) p->met.y = p->at[i].y;
    snprintf(p->reached, sizeof p->reached, "target met after %s", plain_span(span, record_int(run, "reached_ns")));
    p->series[p->chart.series_count++] =
        (struct chart_series){.label = p->reached, .at = &p->met, .count = 1, .line = CHART_NONE, .marks = true, .look = 1};
}

// `run` has the target. `what` is added to the title.
static void set_panel(struct panel *p, const json_t *run, const struct run_metric *metric, int count, const char *what)
{
    p->series[0] = (struct chart_series){
        .label = metric ? "score" : "loss", .at = p->at, .count = count, .marks = count <= CURVE_CHART_MARKS};
    snprintf(p->title, sizeof p->title, "%s%s", p->chart.title, what);
    p->chart.id = metric ? "score" : "loss", p->chart.title = p->title;
    p->chart.series = p->series, p->chart.series_count = 1;
    if (metric == NULL) return;
    double target = (double)record_int(run, "target_micro") / 1e6;
    p->target = (struct chart_level){run_metric_shown(metric, target), "target"};
    p->chart.levels = &p->target, p->chart.level_count = 1;
}

// The curve of a metric, or of the loss if `metric` is NULL. False if it has fewer than two points.
static bool make_panel(const json_t *run, const struct run_metric *metric, bool broken, struct panel *p)
{
    *p = (struct panel){.chart = curve_chart(metric)};
    int count = curve_chart_points(run, metric, NULL, &p->at);
    set_panel(p, run, metric, count, broken ? " (BROKEN: the record has been changed)" : "");
    if (metric != NULL && record_has(run, "reached_ns")) mark_reached(run, p);
    return count > 1;
}

static void draw_panels(struct panel panel[2], const bool drawn[2], struct text *t)
{
    const struct chart *chart[2];
    int count = 0;
    for (int i = 0; i < 2; i++)
        if (drawn[i]) chart[count++] = &panel[i].chart;
    if (count) chart_picture(t, "score and loss over end-to-end time", chart, count);
    for (int i = 0; i < 2; i++) free(panel[i].at);
}

// Draws the score above the loss. False if neither has a curve.
static bool add_chart(struct text *t, const json_t *run)
{
    const struct run_metric board = curve_board(run);
    struct panel panel[2];
    bool drawn[2], broken = record_chain(run) < 0;
    for (int loss = 0; loss < 2; loss++) drawn[loss] = make_panel(run, loss ? NULL : &board, broken, &panel[loss]);
    draw_panels(panel, drawn, t);
    return drawn[0] || drawn[1];
}

int document_svg(struct results *r, int64_t id, struct text *into)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    bool drawn = add_chart(into, run);
    json_decref(run);
    return drawn ? 0 : fail(ERR_INPUT, "run %lld has fewer than two points: there is no curve to draw", (long long)id);
}

// ---- the page

static void add_points(struct sheet *s, const json_t *run)
{
    struct run_metric metric[RUN_METRICS_MAX];
    char figure[TEXT_FIGURE], epoch[CURVE_MOMENT];
    struct text columns = {0};
    const char *name[RUN_LOSSES_MAX];
    const json_t *points = json_object_get(run, "points"), *point;
    int metrics = curve_metrics(run, metric), losses = curve_losses(run, name);
    size_t i;
    text_add(&columns, "#epoch|#training loss");
    for (int n = 0; n < losses; n++) text_add(&columns, "|#loss %.32s", name[n]);
    for (int m = 0; m < metrics; m++) text_add(&columns, "|#%s", contest_metric_title(metric[m].name));
    text_add(&columns, "|#time");
    sheet_begin(s, "The curve", columns.at);
    text_free(&columns);
    json_array_foreach((json_t *)points, i, point)
    {
        sheet_add(s, "%s", curve_epoch(point, epoch));
        for (int n = -1; n < losses; n++) sheet_add(s, "%s", plain_loss(figure, point, n < 0 ? NULL : name[n]));
        for (int m = 0; m < metrics; m++)
            sheet_add(s, "%s", run_metric_text(&metric[m], curve_score(point, &metric[m]), figure));
        sheet_add(s, "%s", plain_span(figure, record_int(point, "t_ns")));
    }
}

int document_page(struct results *r, int64_t id, enum sheet_form form, struct text *into)
{
    json_t *run;
    struct sheet s;
    char title[32], words[160], date[32];
    TRY(record_read(r, id, &run));
    snprintf(title, sizeof title, "Run %lld", (long long)id);
    sheet_page(form, title, into);
    if (form == SHEET_HTML) add_chart(into, run);
    snprintf(words, sizeof words, "%s, %s, %s UTC", record_text(run, "task"), record_text(run, "status"),
             plain_when(date, record_int(run, "started_ms")));
    sheet_words(form, words, into);
    show_facts(run, true, &s);
    sheet_put(&s, form, into);
    show_clocks(run, &s);
    sheet_put(&s, form, into);
    add_points(&s, run);
    sheet_put(&s, form, into);
    show_machine(run, &s);
    sheet_put(&s, form, into);
    show_digests(run, &s);
    sheet_put(&s, form, into);
    sheet_page_end(form, into);
    json_decref(run);
    return 0;
}

// ---- groups

static void add_group(struct sheet *s, const json_t *group, const json_t *runs, const struct group_facts *f)
{
    const struct run_metric board = curve_board(json_array_get(runs, 0));
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    bool any = f->finished > 0, spread = f->finished > 1;
    sheet_add(s, "%lld", (long long)record_int(group, "id"));
    sheet_add(s, "%s%s", record_text(group, "task"), record_group_is_outside(runs) ? ", self-evaluated" : "");
    sheet_add(s, "%s", record_text(group, "model"));
    sheet_add(s, "%d of %d", f->finished, f->planned);
    sheet_add(s, "%s", any ? run_metric_value_text(&board, f->accuracy.mean, a) : "-");
    sheet_add(s, "%s", spread ? run_metric_spread_text(&board, f->accuracy.sigma, f->finished, a) : "-");
    if (spread) sheet_add(s, "%s to %s", run_metric_value_text(&board, f->accuracy.low, a),
                          run_metric_value_text(&board, f->accuracy.high, b));
    else sheet_add(s, "-");
    if (spread) sheet_add(s, "%.2g", f->p);
    else sheet_add(s, "-");
    sheet_add(s, "%s", any ? text_span(a, f->seconds.mean) : "-");
    sheet_add(s, "%s", spread ? text_span(a, f->seconds.sigma) : "-");
    if (spread) sheet_add(s, "%s to %s", text_span(a, group_low(&f->seconds)), text_span(b, f->seconds.high));
    else sheet_add(s, "-");
    sheet_add(s, "%s%s", f->official ? "OFFICIAL: " : "", group_verdict_sentence(f->verdict));
}

int document_groups(struct results *r, int64_t id, struct sheet *s)
{
    json_t *groups, *group, *runs;
    size_t i;
    int rc = 0;
    sheet_begin(s, "Groups: means, sigma, 95% intervals, and p of the mean score",
                "#group|task|model|runs|#score|#sigma|#interval|#p|#time|#sigma|#interval|verdict");
    TRY(record_rows(r, "SELECT * FROM groups WHERE ?1 IN (0, id) ORDER BY id", id, &groups));
    json_array_foreach(groups, i, group)
    {
        struct group_facts facts;
        rc = record_group(r, record_int(group, "id"), &runs, &facts);
        if (rc < 0) break;
        add_group(s, group, runs, &facts);
        json_decref(runs);
    }
    json_decref(groups);
    return rc;
}

static int add_group_runs(struct results *r, int64_t id, struct sheet *s)
{
    json_t *runs, *run;
    struct group_facts facts;
    size_t i;
    char a[TEXT_FIGURE];
    sheet_begin(s, "Its runs", "#run|#seed|status|#score|#time");
    TRY(record_group(r, id, &runs, &facts));
    json_array_foreach(runs, i, run)
    {
        const struct run_metric board = curve_board(run);
        sheet_add(s, "%lld", (long long)record_int(run, "id"));
        sheet_add(s, "%lld", (long long)record_int(run, "seed"));
        sheet_add(s, "%s", record_text(run, "status"));
        sheet_add(s, "%s", record_has(run, "last_score") ? run_metric_text(&board, record_int(run, "last_score"), a) : "-");
        sheet_add(s, "%s", record_has(run, "last_ns") ? plain_span(a, record_int(run, "last_ns")) : "-");
    }
    json_decref(runs);
    return 0;
}

// Takes the points of one more run into a band. Runs of a group share recipe and data, so points of the same number belong
// together, up to the shortest curve.
static void widen_band(struct panel *p, int *count, const struct chart_point *one, int points, int runs)
{
    if (*count > points) *count = points;
    for (int i = 0; i < *count; i++) {
        struct chart_point *at = &p->at[i];
        at->x += (one[i].x - at->x) / runs, at->y += (one[i].y - at->y) / runs;
        at->low = fmin(at->low, one[i].y), at->high = fmax(at->high, one[i].y);
    }
}

// The finished runs of a group as one band, as its page on a board has it: mean, lowest and highest.
static bool make_band(json_t *runs, const struct run_metric *metric, struct panel *p)
{
    char what[96];
    json_t *run;
    size_t i;
    int count = 0, joined = 0, broken = 0;
    *p = (struct panel){.chart = curve_chart(metric)};
    json_array_foreach(runs, i, run)
    {
        struct chart_point *one;
        int points = curve_chart_points(run, metric, NULL, &one);
        for (int k = 0; k < points; k++) one[k].low = one[k].high = one[k].y;
        broken += record_chain(run) < 0;
        if (joined++ == 0) p->at = one, count = points;
        else widen_band(p, &count, one, points, joined), free(one);
    }
    snprintf(what, sizeof what, ": mean, lowest and highest of %d run%s%s", joined, joined == 1 ? "" : "s",
             broken ? " (BROKEN: the record has been changed)" : "");
    set_panel(p, json_array_get(runs, 0), metric, count, what);
    p->series[0].band = true;
    return count > 1;
}

static int add_band(struct results *r, int64_t id, struct text *t)
{
    json_t *all = NULL, *brief, *run, *runs = json_array();
    struct group_facts facts;
    size_t i;
    int rc = record_group(r, id, &all, &facts);
    json_array_foreach(all, i, brief)
    {
        if (!curve_ended(brief)) continue;
        rc = record_read(r, record_int(brief, "id"), &run);
        if (rc < 0) break;
        json_array_append_new(runs, run);
    }
    if (rc == 0 && json_array_size(runs) > 0) {
        const struct run_metric board = curve_board(json_array_get(runs, 0));
        struct panel panel[2];
        bool drawn[2];
        for (int loss = 0; loss < 2; loss++) drawn[loss] = make_band(runs, loss ? NULL : &board, &panel[loss]);
        draw_panels(panel, drawn, t);
        char words[96];
        size_t count = json_array_size(runs);
        snprintf(words, sizeof words, "Line: mean of %zu finished run%s. Band: lowest to highest.", count, count == 1 ? "" : "s");
        if (drawn[0] || drawn[1]) sheet_words(SHEET_HTML, words, t);
    }
    json_decref(runs);
    json_decref(all);
    return rc;
}

int document_group(struct results *r, int64_t id, enum sheet_form form, struct text *into)
{
    struct sheet figures = {0}, runs = {0};
    char title[32];
    int rc = document_groups(r, id, &figures);
    if (rc == 0) rc = add_group_runs(r, id, &runs);
    if (rc == 0 && sheet_rows(&runs) == 0)
        rc = fail(ERR_USAGE, "there is no group g%lld with runs in %s", (long long)id, result_file(r));
    snprintf(title, sizeof title, "Group %lld", (long long)id);
    if (rc == 0) sheet_page(form, title, into);
    if (rc == 0 && form == SHEET_HTML) rc = add_band(r, id, into);
    if (rc == 0) sheet_put(&figures, form, into);
    if (rc == 0) sheet_put(&runs, form, into);
    if (rc == 0) sheet_page_end(form, into);
    sheet_free(&figures);
    sheet_free(&runs);
    return rc;
}
