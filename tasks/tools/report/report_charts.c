// SPDX-License-Identifier: Apache-2.0
// The charts of a report. A table shows the figures of each chart, too.
#include "tasks/tools/report/report_inside.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/format/score/curve.h"
#include "tasks/tools/measure/fit.h"
#include "tasks/tools/show/curve_chart.h"

enum { CURVES = CHART_LOOKS, BARS = 24, PARTS = 10, PASSES = 3 };

static void si_label(double value, char into[CHART_LABEL])
{
    char text[TEXT_FIGURE];
    snprintf(into, CHART_LABEL, "%s", text_si(text, value, ""));
}

// ---- curves

struct curve {
    struct chart_point *at;
    int count;
    char label[64];
};

// What a chart shows: the board's score, or the loss of that name.
struct shows {
    bool loss;
    const char *name;  // NULL: the loss without one
};

// The newest runs of a task that have a curve, and how many there are.
static int read_curves(const struct report_data *d, const char *task, struct shows shows, struct curve into[CURVES], int *all)
{
    int count = *all = 0;
    for (size_t i = json_array_size(d->runs); i > 0; i--) {
        const json_t *run = json_array_get(d->runs, i - 1);
        const struct run_metric board = curve_board(run);
        struct curve c = {0};
        if (strcmp(record_text(run, "task"), task) != 0) continue;
        c.count = curve_chart_points(run, shows.loss ? NULL : &board, shows.name, &c.at);
        const char *drawn = record_int(run, "synthetic") ? " synthetic" : "";
        const char *broken = record_has(run, "broken") ? " BROKEN" : "";
        snprintf(c.label, sizeof c.label, "run %lld%s%s, %.24s", (long long)record_int(run, "id"), drawn, broken,
                 record_text(run, "model"));
        *all += c.count > 0;
        if (c.count > 0 && count < CURVES) into[count++] = c;
        else free(c.at);
    }
    return count;
}

// A sentence that several charts share is added once.
static void draw_curves(const struct report_data *d, const json_t *last, struct shows shows, struct text *into,
                        struct text *notes)
{
    const char *task = record_text(last, "task"), *name = shows.name ? shows.name : "", *blank = shows.name ? " " : "";
    const struct run_metric board = curve_board(last);
    double target = run_metric_shown(&board, (double)record_int(last, "target_micro") * 1e-6);
    struct curve curve[CURVES];
    struct chart_series series[CURVES];
    char title[128], id[96], about[128];
    int all, count = read_curves(d, task, shows, curve, &all);
    struct chart chart = curve_chart(shows.loss ? NULL : &board);
    for (int i = 0; i < count; i++)
        series[i] = (struct chart_series){.label = curve[i].label, .at = curve[i].at, .count = curve[i].count, .look = i,
                                          .marks = curve[i].count <= CURVE_CHART_MARKS};
    const struct chart_level level = {target, "target"};
    snprintf(title, sizeof title, "%.40s: %s%s%c%s", task, name, blank, tolower((unsigned char)chart.title[0]), chart.title + 1);
    snprintf(id, sizeof id, "%s-%.40s%s%.32s", shows.loss ? "loss" : "score", task, shows.name ? "-" : "", name);
    snprintf(about, sizeof about, "The newest %d of the %d runs of this task that have a curve; %d are left out.", count, all,
             all - count);
    if (all == count) snprintf(about, sizeof about, "All runs of this task that have a curve.");
    for (char *at = id; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", *at)) *at = '-';
    chart.id = id, chart.title = title, chart.about = about;
    chart.series = series, chart.series_count = count;
    chart.levels = &level, chart.level_count = shows.loss ? 0 : 1;
    if (count) chart_draw(into, &chart);
    if (count < all && (notes->at == NULL || strstr(notes->at, about) == NULL)) sheet_words(SHEET_HTML, about, notes);
    for (int i = 0; i < count; i++) free(curve[i].at);
}

void report_curves(const struct report_data *d, const char *task, struct text *into)
{
    size_t i;
    json_t *run, *last = NULL;
    json_array_foreach(d->runs, i, run) if (!strcmp(record_text(run, "task"), task)) last = run;
    if (!last) return;
    const char *name[RUN_LOSSES_MAX];
    int losses = curve_losses(last, name);
    struct text notes = {0};
    text_add(into, "<div class=\"pictures\">\n");
    draw_curves(d, last, (struct shows){false, NULL}, into, &notes);
    for (int n = -1; n < losses; n++) draw_curves(d, last, (struct shows){true, n < 0 ? NULL : name[n]}, into, &notes);
    text_add(into, "</div>\n%s", notes.at != NULL ? notes.at : "");
    text_free(&notes);
}

// ---- throughput

static void draw_bars(const struct report_group *g, const char *id, struct text *into)
{
    struct chart_part part[BARS];
    char label[BARS][32], figure[BARS][48];
    int count = g->rows < BARS ? g->rows : BARS;
    for (int i = 0; i < count; i++) {
        double rate = (double)record_int(g->row[i], "batch") * 1e9 / fmax((double)record_int(g->row[i], "step_ns"), 1);
        snprintf(label[i], sizeof label[i], "batch %lld", (long long)record_int(g->row[i], "batch"));
        snprintf(figure[i], sizeof figure[i], "%.1f/s", rate);
        part[i] = (struct chart_part){.label = label[i], .figure = figure[i], .value = rate, .look = 0};
    }
    char title[64];
    snprintf(title, sizeof title, "%.30s per second, by batch", record_text(g->row[0], "samples"));
    chart_bars(into, id, title, "Median of the repeats.", part, count);
}

// Draws measured steps as marks, and the fitted line.
static void draw_steps(const struct report_group *g, const char *id, struct text *into)
{
    double *x = zalloc((size_t)g->rows * sizeof *x), *y = zalloc((size_t)g->rows * sizeof *y);
    struct chart_point *at = zalloc((size_t)g->rows * sizeof *at), line[2] = {{0}};
    struct fit_line fit;
    for (int i = 0; i < g->rows; i++) {
        x[i] = (double)record_int(g->row[i], "batch"), y[i] = (double)record_int(g->row[i], "step_ns") * 1e-6;
        at[i] = (struct chart_point){.x = x[i], .y = y[i]};
    }
    bool fits = fit_line(x, y, g->rows, &fit) && fit.slope > 0 && fit.r2 >= FIT_LINE;
    if (fits)
        for (int i = 0; i < 2; i++)
            line[i] = (struct chart_point){.x = i ? x[g->rows - 1] : 0, .y = fit.slope * (i ? x[g->rows - 1] : 0) + fit.offset};
    const struct chart_series series[] = {
        {.label = "measured", .at = at, .count = g->rows, .line = CHART_NONE, .marks = true, .look = 0},
        {.label = "a b + c", .at = line, .count = 2, .line = CHART_STRAIGHT, .look = 1},
    };
    const struct chart chart = {
        .id = id, .title = "Time of a step by batch",
        .about = fits ? "Measured steps and their line." : "Measured steps, not on a line.",
        .x = {.title = "batch", .scale = CHART_LINEAR, .label = chart_number},
        .y = {.title = "ms", .scale = CHART_LINEAR, .label = chart_number}, .series = series, .series_count = fits ? 2 : 1,
    };
    chart_draw(into, &chart);
    free(x), free(y), free(at);
}

// ---- the roofline

static int add_operators(const struct report_data *d, int64_t bench, const char *pass, struct chart_point *at, struct text *names,
                         double *least, double *most)
{
    size_t i;
    json_t *row;
    int count = 0;
    json_array_foreach(d->operators, i, row)
    {
        double ns = (double)record_int(row, "ns"), flops = (double)record_int(row, "flops");
        double bytes = (double)record_int(row, "bytes");
        if (record_int(row, "bench") != bench || strcmp(record_text(row, "pass"), pass) != 0) continue;
        if (!(ns > 0) || !(flops > 0) || !(bytes > 0)) continue;
        text_add(&names[count], "%s %s, %lld nodes, %.3f ms", record_text(row, "operator"), pass, (long long)record_int(row,
            "nodes"),
                 ns * 1e-6);
        at[count] = (struct chart_point){.x = flops / bytes, .y = flops * 1e9 / ns, .what = names[count].at};
        *least = fmin(*least, at[count].x), *most = fmax(*most, at[count].x);
        count++;
    }
    return count;
}

static void draw_roofline(const struct report_data *d, const json_t *bench, const char *id, struct text *into)
{
    static const char *const passes[PASSES] = {"forward", "backward", "update"};
    double flops = (double)record_int(bench, "peak_flops"), bytes = (double)record_int(bench, "peak_bytes");
    size_t rows = json_array_size(d->operators) + 1;
    struct chart_point *at[PASSES], roof[3];
    struct text *names[PASSES];
    struct chart_series series[PASSES + 1];
    double least = INFINITY, most = 0;
    int count = 0;
    if (!(flops > 0) || !(bytes > 0)) return;
    for (int p = 0; p < PASSES; p++) {
        at[p] = zalloc(rows * sizeof **at), names[p] = zalloc(rows * sizeof **names);
        series[p] = (struct chart_series){.label = passes[p], .at = at[p], .line = CHART_NONE, .marks = true, .look = p};
        count += series[p].count = add_operators(d, record_int(bench, "id"), passes[p], at[p], names[p], &least, &most);
    }
    double ridge = flops / bytes, low = fmin(least, ridge) / 2, high = fmax(most, ridge) * 2;
    roof[0] = (struct chart_point){.x = low, .y = low * bytes};
    roof[1] = (struct chart_point){.x = ridge, .y = flops};
    roof[2] = (struct chart_point){.x = high, .y = flops};
    series[PASSES] = (struct chart_series){.label = "roof", .at = roof, .count = 3, .line = CHART_STRAIGHT, .look = 3};
    const struct chart chart = {
        .id = id, .title = "Roofline of one step, by operator and pass",
        .about = "Measured rate over arithmetic intensity. The roof is the copy rate at the left, the matrix product at the "
                 "right. Points above it worked in a cache.",
        .x = {.title = "FLOP for each byte", .scale = CHART_LOG, .label = chart_number},
        .y = {.title = "FLOP/s", .scale = CHART_LOG, .label = si_label}, .series = series, .series_count = PASSES + 1,
    };
    if (count) chart_draw(into, &chart);
    for (int p = 0; p < PASSES; p++) {
        for (int i = 0; i < series[p].count; i++) text_free(&names[p][i]);
        free(at[p]), free(names[p]);
    }
}

// ---- memory

static void draw_memory(const struct report_data *d, const json_t *bench, const char *id, struct text *into)
{
    struct chart_part part[PARTS];
    char figure[PARTS][TEXT_FIGURE], title[64];
    size_t i;
    json_t *row;
    int count = 0;
    json_array_foreach(d->memory, i, row)
    {
        if (record_int(row, "bench") != record_int(bench, "id") || count == PARTS) continue;
        part[count] = (struct chart_part){.label = record_text(row, "class"),
                                          .figure = text_size(figure[count], (double)record_int(row, "bytes")),
                                          .value = (double)record_int(row, "bytes"), .look = count};
        count++;
    }
    snprintf(title, sizeof title, "Memory by class at batch %lld", (long long)record_int(bench, "batch"));
    if (count) chart_stack(into, id, title, "At the peak of the plan.", part, count);
}

void report_group_charts(const struct report_data *d, int group, struct text *into)
{
    const struct report_group *g = &d->group[group];
    const json_t *largest = g->row[g->rows - 1];
    char id[32];
    text_add(into, "<div class=\"pictures\">\n");
    if (g->rows > 1) {
        snprintf(id, sizeof id, "rate-%d", group);
        draw_bars(g, id, into);
        snprintf(id, sizeof id, "step-%d", group);
        draw_steps(g, id, into);
    }
    snprintf(id, sizeof id, "roof-%d", group);
    draw_roofline(d, largest, id, into);
    snprintf(id, sizeof id, "memory-%d", group);
    draw_memory(d, largest, id, into);
    text_add(into, "</div>\n");
}
