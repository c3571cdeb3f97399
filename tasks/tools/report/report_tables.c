// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/report/report_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/score/curve.h"
#include "tasks/tools/forecast/roofline.h"
#include "tasks/tools/measure/sweep.h"
#include "tasks/tools/show/plain.h"

// Adds a cell for a figure that may be unknown.
static void add_figure(struct sheet *s, bool known, const char *text)
{
    sheet_add(s, "%s", known ? text : "-");
}

// ---- runs

static void add_run(const json_t *run, struct sheet *s)
{
    char a[TEXT_FIGURE], date[32];
    struct run_metric board = curve_board(run);
    int64_t energy = record_int(run, "reached_energy_uj");
    sheet_add(s, "%lld%s", (long long)record_int(run, "id"), record_int(run, "synthetic") ? " (synthetic)" : "");
    sheet_add(s, "%s", plain_when(date, record_int(run, "started_ms")));
    sheet_add(s, "%s", record_text(run, "task"));
    sheet_add(s, "%s", record_text(run, "model"));
    sheet_add(s, "%s, %s", record_text(run, "device"), record_text(run, "precision"));
    sheet_add(s, "%lld", (long long)record_int(run, "batch"));
    sheet_add(s, "%s%s", record_text(run, "status"), record_has(run, "broken") ? " BROKEN" : "");
    add_figure(s, record_has(run, "last_score"), run_metric_text(&board, record_int(run, "last_score"), a));
    add_figure(s, record_has(run, "reached_classic_ns"), text_span(a, (double)record_int(run, "reached_classic_ns") * 1e-9));
    add_figure(s, record_has(run, "reached_ns"), text_span(a, (double)record_int(run, "reached_ns") * 1e-9));
    add_figure(s, record_has(run, "reached_samples"), text_count(a, record_int(run, "reached_samples")));
    add_figure(s, energy > 0, text_si(a, (double)energy * 1e-6, "J"));
}

void report_runs(const struct report_data *d, struct sheet *s)
{
    size_t i;
    json_t *run;
    sheet_begin(s, "Runs, and what each needed to its target",
                "run|started (UTC)|task|model|device|#batch|status|#score|#classic clock|#end to end|#samples|#energy");
    json_array_foreach(d->runs, i, run) add_run(run, s);
}

// ---- throughput

// DLPerf's columns come first. One process drives one device, so nodes, devices and speedup are 1.
#define THROUGHPUT_COLUMNS                                                                                              \
    "#node_num|#gpu_num_per_node|#batch_size_per_device|#samples/s|#speedup|#range|#step|#FLOP/s|#of peak|#of roofline|"   \
    "#memory|#others|#steady"

static double rate_of(const json_t *row, const char *step)
{
    double ns = (double)record_int(row, step);
    return ns > 0 ? (double)record_int(row, "batch") * 1e9 / ns : 0;
}

static void add_measurement(const json_t *row, struct sheet *s)
{
    char a[TEXT_FIGURE];
    double step = (double)record_int(row, "step_ns") * 1e-9, flops = (double)record_int(row, "flops") / step;
    double peak = (double)record_int(row, "peak_flops"), bound = (double)record_int(row, "bound_ns") * 1e-9;
    sheet_add(s, "1");
    sheet_add(s, "1");
    sheet_add(s, "%lld", (long long)record_int(row, "batch"));
    sheet_add(s, "%.2f", rate_of(row, "step_ns"));
    sheet_add(s, "1.00");
    sheet_add(s, "%.2f to %.2f", rate_of(row, "step_high_ns"), rate_of(row, "step_low_ns"));
    sheet_add(s, "%s", roofline_span(a, step));
    sheet_add(s, "%s", text_si(a, flops, "FLOP/s"));
    snprintf(a, sizeof a, "%.1f%%", peak > 0 ? 100 * flops / peak : 0);
    add_figure(s, peak > 0, a);
    snprintf(a, sizeof a, "%.1f%%", 100 * bound / step);
    add_figure(s, bound > 0, a);
    sheet_add(s, "%s", text_size(a, (double)record_int(row, "memory_bytes")));
    snprintf(a, sizeof a, "%.2f", (double)record_int(row, "others_micro") * 1e-6);
    add_figure(s, record_has(row, "others_micro"), a);
    sheet_add(s, "%lld%s", (long long)record_int(row, "accepted"), record_int(row, "whole") ? "" : ", short");
}

void report_group_name(const struct report_group *g, struct text *into)
{
    const json_t *row = g->row[0];
    text_add(into, "%s, %s, %s", record_text(row, "task"), record_text(row, "model"), record_text(row, "precision"));
    if (!record_int(row, "fusion")) text_add(into, ", not fused");
    text_add(into, ", %s", record_text(row, "device"));
    long long threads = (long long)record_int(row, "threads");
    if (!strcmp(record_text(row, "device"), "cpu")) text_add(into, " with %lld thread%s", threads, threads == 1 ? "" : "s");
}

void report_throughput(const struct report_group *g, struct sheet *s)
{
    const json_t *row = g->row[0];
    sheet_begin(s, "", THROUGHPUT_COLUMNS);
    s->title = arena_text(&s->arena, "Throughput: samples are %s of %s%s; recipe %s", record_text(row, "samples"),
                          record_text(row, "data"), record_int(row, "noise") ? " (noise of its shape)" : "",
                          record_text(row, "recipe"));
    for (int i = 0; i < g->rows; i++) add_measurement(g->row[i], s);
}

void report_all_throughput(const struct report_data *d, struct sheet *s)
{
    sheet_begin(s, "Throughput", "task|model|setting|#node_num|#gpu_num_per_node|#batch_size_per_device|#samples/s|#speedup|"
                                 "#step_ns|#memory_bytes|#noise");
    for (int i = 0; i < d->groups; i++)
        for (int k = 0; k < d->group[i].rows; k++) {
            const json_t *row = d->group[i].row[k];
            sheet_add(s, "%s", record_text(row, "task"));
            sheet_add(s, "%s", record_text(row, "model"));
            sheet_add(s, "%s %s%s", record_text(row, "device"), record_text(row, "precision"),
                      record_int(row, "fusion") ? "" : " not fused");
            sheet_add(s, "1");
            sheet_add(s, "1");
            sheet_add(s, "%lld", (long long)record_int(row, "batch"));
            sheet_add(s, "%.2f", rate_of(row, "step_ns"));
            sheet_add(s, "1.00");
            sheet_add(s, "%lld", (long long)record_int(row, "step_ns"));
            sheet_add(s, "%lld", (long long)record_int(row, "memory_bytes"));
            sheet_add(s, "%lld", (long long)record_int(row, "noise"));
        }
    report_add_scaling_rows(d, s);
}

void report_lines(const struct report_group *g, struct sheet *s)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    struct sweep sweep = {0};
    struct sweep_fit f;
    sheet_begin(s, "Lines through the batches: step = a b + c, memory = g b + d", "#a|#c|#r2|#samples/s at most (1/a)|#g|#d");
    for (int i = 0; i < g->rows && i < SWEEP_BATCHES; i++)
        sweep_add(&sweep, (double)record_int(g->row[i], "batch"), (double)record_int(g->row[i], "step_ns") * 1e-9,
                  (double)record_int(g->row[i], "memory_bytes"));
    if (!sweep_fit(&sweep, &f) || !f.lies) return;
    sheet_add(s, "%.4g s", f.step.slope);
    sheet_add(s, "%.4g s", f.step.offset);
    snprintf(a, sizeof a, "%.4f", f.step.r2);
    add_figure(s, f.points > 2, a);  // two points do not show how well a line fits
    snprintf(a, sizeof a, "%.2f", f.limit);
    add_figure(s, f.limit > 0, a);
    sheet_add(s, "%s", text_size(a, f.memory.slope));
    sheet_add(s, "%s%s", f.memory.offset < 0 ? "-" : "", text_size(b, fabs(f.memory.offset)));
}

// ---- machines

void report_machines(const struct report_data *d, struct sheet *s)
{
    size_t i;
    json_t *m;
    char a[TEXT_FIGURE];
    sheet_begin(s, "Machines", "#number|processor|#usable|memory|GPU|driver|system|virtualised");
    json_array_foreach(d->machines, i, m)
    {
        sheet_add(s, "%lld", (long long)record_int(m, "id"));
        sheet_add(s, "%s", record_text(m, "cpu"));
        sheet_add(s, "%lld of %lld", (long long)record_int(m, "cores_usable"), (long long)record_int(m, "cores_online"));
        sheet_add(s, "%s", text_size(a, (double)record_int(m, "memory_bytes")));
        sheet_add(s, "%s", record_text(m, "gpu"));
        sheet_add(s, "%s", record_text(m, "driver"));
        sheet_add(s, "%s, %s", record_text(m, "os"), record_text(m, "kernel"));
        sheet_add(s, "%s", record_text(m, "virtualised"));
    }
}

void report_software(const struct report_data *d, struct sheet *s)
{
    size_t i;
    json_t *m;
    sheet_begin(s, "Programs", "#number|commit|compiler|libraries");
    json_array_foreach(d->software, i, m)
    {
        sheet_add(s, "%lld", (long long)record_int(m, "id"));
        const char *commit = record_text(m, "commit_name");
        sheet_add(s, "%.12s%s", *commit ? commit : "unknown", record_int(m, "dirty") ? " (changed)" : "");
        sheet_add(s, "%s", record_text(m, "compiler"));
        sheet_add(s, "%s", record_text(m, "libraries"));
    }
}
