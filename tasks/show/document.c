// SPDX-License-Identifier: Apache-2.0
// The facts are collected once and written as HTML or Markdown.
#include "tasks/show/document.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/draw/html.h"
#include "runtime/draw/markdown.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/curve.h"
#include "tasks/show/plot.h"

enum { FACTS_MAX = 48, VALUE = 400 };
struct facts {
    struct {
        char label[40], value[VALUE];
    } at[FACTS_MAX];
    int count;
};

static void add(struct facts *f, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct facts *f, const char *label, const char *format, ...)
{
    va_list values;
    BUG_IF(f->count == FACTS_MAX);
    snprintf(f->at[f->count].label, sizeof f->at->label, "%s", label);
    va_start(values, format);
    vsnprintf(f->at[f->count].value, VALUE, format, values);
    va_end(values);
    if (*f->at[f->count].value) f->count++;  // unknown facts are left out
}

static void add_clock(struct facts *f, const json_t *run, const char *label, const char *key)
{
    char figure[TEXT_FIGURE];
    if (record_has(run, key)) add(f, label, "%s", page_span(figure, record_int(run, key)));
}

static void add_count(struct facts *f, const json_t *run, const char *label, const char *key)
{
    char figure[TEXT_FIGURE];
    if (record_int(run, key) > 0) add(f, label, "%s", text_count(figure, record_int(run, key)));
}

static void add_result(struct facts *f, const json_t *run)
{
    struct run_metric metrics[RUN_METRICS_MAX];
    char a[TEXT_FIGURE], cost[COST_TEXT], date[32];
    int count = curve_metrics(run, metrics);
    add(f, "Task", "%s%s", record_text(run, "task"), record_int(run, "synthetic") ? " (SYNTHETIC data)" : "");
    add(f, "Status", "%s", record_text(run, "status"));
    add(f, "Started", "%s UTC", page_when(date, record_int(run, "started_ms")));
    for (int m = 0; m < count; m++) {
        int64_t score = curve_last(run, &metrics[m]);
        if (score != RUN_SCORE_NONE) add(f, contest_metric_title(metrics[m].name), "%s", run_metric_text(&metrics[m], score, a));
    }
    add(f, "Target", "%s", run_metric_value_text(&metrics[0], (double)record_int(run, "target_micro") / 1e6, a));
    add_clock(f, run, "To target, end-to-end", "reached_ns");
    add_clock(f, run, "To target, classic clock", "reached_classic_ns");
    add_clock(f, run, "To target, warm clock", "reached_warm_ns");
    add_clock(f, run, "To last evaluation", "last_ns");
    if (record_has(run, "price_micro_per_hour")) {
        int64_t ns = record_int(run, record_has(run, "reached_ns") ? "reached_ns" : "last_ns");
        add(f, "Cost", "%s", cost_text(cost, cost_training_micro(ns, record_int(run, "price_micro_per_hour"))));
    }
}

static void add_setting(struct facts *f, const json_t *run)
{
    const json_t *m = json_object_get(run, "machine_facts"), *s = json_object_get(run, "software_facts");
    const json_t *outside = json_object_get(run, "outside");
    char a[TEXT_FIGURE];
    add(f, "Model", "%s", record_text(run, "model"));
    add_count(f, run, "Parameters", "parameters");
    add(f, "Recipe", "%s", record_text(run, "recipe"));
    add(f, "Precision", "%s", record_text(run, "precision"));
    add_count(f, run, "Batch", "batch");
    add(f, "Seed", "%lld", (long long)record_int(run, "seed"));
    add_count(f, run, "Views an item", "views");
    add(f, "Device", "%s", record_text(run, "device"));
    add_count(f, run, "Threads", "threads");
    if (outside) add(f, "Framework", "%s, self-evaluated", record_text(outside, "framework"));
    add(f, "Processor", "%s", record_text(m, "cpu"));
    add(f, "GPU", "%s", record_text(m, "gpu"));
    add(f, "Memory", "%s", text_size(a, (double)record_int(m, "memory_bytes")));
    double peak = (double)record_int(run, "peak_memory_bytes");
    if (peak > 0) add(f, "Peak memory", "%s", text_size(a, peak));
    if (record_has(run, "energy_uj")) add(f, "Energy", "%s", text_si(a, (double)record_int(run, "energy_uj") / 1e6, "J"));
    add(f, "System", "%s", record_text(m, "os"));
    add(f, "Source", "%s", record_text(s, "commit_name"));
    add(f, "Nonce", "%s", record_text(run, "nonce"));
}

static void gather(const json_t *run, struct facts *f)
{
    f->count = 0;
    add_result(f, run);
    add_setting(f, run);
}

// ---- SVG

enum { WIDE = 720, HIGH = 220, LEFT = 70, RIGHT = 16, TOP = 28, BOTTOM = 32, TICKS = 4 };

struct panel {
    const struct run_metric *metric;  // NULL: the loss
    const double *x, *y;
    int count;
    double target, low, high, last, top;  // target NaN: none; last: largest x; top: upper edge of the panel
};

static double place_x(const struct panel *p, double x)
{
    return LEFT + x / p->last * (WIDE - LEFT - RIGHT);
}

static double place_y(const struct panel *p, double y)
{
    return p->top + TOP + (p->high - y) / (p->high - p->low) * (HIGH - TOP - BOTTOM);
}

static void add_axes(struct text *t, const struct panel *p)
{
    bool percent = p->metric && !strcmp(p->metric->unit, "%");
    text_add(t, "<text x=\"%d\" y=\"%.0f\" class=\"title\">", LEFT, p->top + 18);
    html_add(t, "%s", p->metric ? contest_metric_title(p->metric->name) : "training loss");
    text_add(t, "</text>\n");
    for (int i = 0; i <= TICKS; i++) {
        double value = p->low + (p->high - p->low) * i / TICKS, y = place_y(p, value), x = p->last * i / TICKS;
        text_add(t, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT, y, WIDE - RIGHT, y);
        text_add(t, "<text x=\"%d\" y=\"%.1f\" class=\"end\">%.*f%s</text>\n", LEFT - 6, y + 4, percent ? 1 : 3,
                 p->metric ? run_metric_shown(p->metric, value) : value, percent ? "%" : "");
        text_add(t, "<text x=\"%.1f\" y=\"%.0f\" class=\"middle\">%.3g</text>\n", place_x(p, x), p->top + HIGH - 12, x);
    }
    text_add(t, "<text x=\"%d\" y=\"%.0f\" class=\"end\">epoch</text>\n", LEFT - 6, p->top + HIGH - 12);
}

static void add_panel(struct text *t, struct panel *p)
{
    p->low = INFINITY, p->high = -INFINITY;
    for (int i = 0; i < p->count; i++) p->low = fmin(p->low, p->y[i]), p->high = fmax(p->high, p->y[i]);
    if (!isnan(p->target)) p->low = fmin(p->low, p->target), p->high = fmax(p->high, p->target);
    double room = p->high > p->low ? 0.05 * (p->high - p->low) : 0.05 * fabs(p->high) + 1e-6;
    p->low -= room, p->high += room, p->last = p->x[p->count - 1] > 0 ? p->x[p->count - 1] : 1;
    add_axes(t, p);
    if (!isnan(p->target))
        text_add(t, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"target\"><title>target</title></line>\n", LEFT,
                 place_y(p, p->target), WIDE - RIGHT, place_y(p, p->target));
    text_add(t, "<polyline class=\"curve\" points=\"");
    for (int i = 0; i < p->count; i++)
        text_add(t, "%s%.1f,%.1f", i ? " " : "", place_x(p, p->x[i]), place_y(p, p->y[i]));
    text_add(t, "\"/>\n");
    for (int i = 0; i < p->count; i++)
        text_add(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", place_x(p, p->x[i]), place_y(p, p->y[i]));
}

// Draws the score above the loss. A panel needs at least two points. Returns the number of panels.
static int add_chart(struct text *t, const json_t *run)
{
    const struct run_metric board = curve_board(run);
    struct text body = {0};
    int panels = 0;
    for (int loss = 0; loss < 2; loss++) {
        double *x, *y;
        const struct run_metric *metric = loss ? NULL : &board;
        struct panel p = {.metric = metric, .count = plot_points(run, metric, &x, &y), .top = panels * HIGH,
                          .target = loss ? NAN : (double)record_int(run, "target_micro") / 1e6};
        p.x = x, p.y = y;
        if (p.count > 1) add_panel(&body, &p), panels++;
        free(x);
        free(y);
    }
    if (panels > 0)
        text_add(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
                    "aria-label=\"score and loss over epochs\">\n"
                    "<style>svg{font:12px sans-serif;background:#fff;fill:#222}.title{font-weight:bold}.end{text-anchor:end}"
                    ".middle{text-anchor:middle}.grid{stroke:#ddd}.target{stroke:#b00;stroke-dasharray:4 3}"
                    ".curve{fill:none;stroke:#06c;stroke-width:1.5}circle{fill:#06c}</style>\n%s</svg>\n",
                 WIDE, panels * HIGH, body.at);
    text_free(&body);
    return panels;
}

int document_svg(struct results *r, int64_t id, struct text *into)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    int panels = add_chart(into, run);
    json_decref(run);
    return panels > 0 ? 0 : fail(ERR_INPUT, "run %lld has fewer than two points: there is no curve to draw", (long long)id);
}

// ---- HTML

static void add_html(struct text *t, const json_t *run)
{
    struct facts facts;
    gather(run, &facts);
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\">\n<title>DAWN run %lld</title>\n"
                "<style>body{font:16px/1.5 sans-serif;max-width:46em;margin:2em auto;padding:0 1em}"
                "th{text-align:left;font-weight:normal;color:#555;padding-right:1.5em;vertical-align:top}"
                "td{overflow-wrap:anywhere}</style>\n<h1>Run %lld</h1>\n",
             (long long)record_int(run, "id"), (long long)record_int(run, "id"));
    add_chart(t, run);
    text_add(t, "<table>\n");
    for (int i = 0; i < facts.count; i++) {
        text_add(t, "<tr><th>");
        html_add(t, "%s", facts.at[i].label);
        text_add(t, "<td>");
        html_add(t, "%s", facts.at[i].value);
        text_add(t, "\n");
    }
    text_add(t, "</table>\n</html>\n");
}

int document_html(struct results *r, int64_t id, struct text *into)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    add_html(into, run);
    json_decref(run);
    return 0;
}

// ---- Markdown

static void add_md_points(struct text *t, const json_t *run)
{
    const struct run_metric board = curve_board(run);
    size_t i;
    json_t *point;
    text_add(t, "\n| epoch | training loss | ");
    markdown_add(t, contest_metric_title(board.name));
    text_add(t, " | time |\n|---:|---:|---:|---:|\n");
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        char epoch[CURVE_PLACE], loss[TEXT_FIGURE], score[TEXT_FIGURE], time[TEXT_FIGURE];
        text_add(t, "| %s | %s | %s | %s |\n", curve_epoch(point, epoch), page_loss(loss, point),
                 run_metric_text(&board, curve_score(point, &board), score), page_span(time, record_int(point, "t_ns")));
    }
}

int document_md(struct results *r, int64_t id, struct text *into)
{
    json_t *run;
    struct facts facts;
    TRY(record_read(r, id, &run));
    gather(run, &facts);
    text_add(into, "# Run %lld\n\n|  |  |\n|---|---|\n", (long long)id);
    for (int i = 0; i < facts.count; i++) {
        text_add(into, "| ");
        markdown_add(into, facts.at[i].label);
        text_add(into, " | ");
        markdown_add(into, facts.at[i].value);
        text_add(into, " |\n");
    }
    add_md_points(into, run);
    json_decref(run);
    return 0;
}
