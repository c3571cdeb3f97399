// SPDX-License-Identifier: Apache-2.0
// The scaling over processes in a report: for each command its rows in DLPerf's columns, and what its reductions predict
// (docs/scaling.md).
#include "tasks/tools/report/report_inside.h"

#include <string.h>

#include "tasks/tools/forecast/roofline.h"
#include "tasks/tools/measure/scaling.h"

// The rows of one command: those from `first` on with the same sweep.
static size_t end_of(const struct report_data *d, size_t first)
{
    int64_t sweep = record_int(json_array_get(d->scalings, first), "sweep");
    size_t end = first;
    while (end < json_array_size(d->scalings) && record_int(json_array_get(d->scalings, end), "sweep") == sweep) end++;
    return end;
}

static struct scaling_row figures_of(const json_t *row)
{
    return (struct scaling_row){.processes = (int)record_int(row, "processes"), .batch = record_int(row, "batch"),
                                .step = (double)record_int(row, "step_ns") * 1e-9};
}

static double rate_of(const json_t *row)
{
    struct scaling_row r = figures_of(row);
    return scaling_rate(&r);
}

static double speedup_of(const json_t *row, const json_t *first)
{
    struct scaling_row r = figures_of(row), base = figures_of(first);
    return scaling_speedup(&r, &base);
}

static void add_row(const json_t *row, const json_t *first, struct sheet *s)
{
    char a[TEXT_FIGURE];
    int64_t processes = record_int(row, "processes"), machines = record_int(row, "machines");
    double speedup = speedup_of(row, first);
    sheet_add(s, "%lld", (long long)machines);
    sheet_add(s, "%lld", (long long)(machines > 0 ? processes / machines : processes));
    sheet_add(s, "%lld", (long long)record_int(row, "batch"));
    sheet_add(s, "%.2f", rate_of(row));
    sheet_add(s, "%.2f", speedup);
    sheet_add(s, "%.1f%%", processes > 0 ? 100 * speedup / (double)processes : 0);
    sheet_add(s, "%lld", (long long)record_int(row, "threads"));
    sheet_add(s, "%s", roofline_span(a, (double)record_int(row, "step_ns") * 1e-9));
}

// False if the times of the row's reductions do not grow with the size.
static bool fit_row(const struct report_data *d, const json_t *row, struct scaling_model *m)
{
    struct scaling_row r = {.processes = (int)record_int(row, "processes")};
    int count = 0;
    size_t i;
    json_t *one;
    json_array_foreach(d->reductions, i, one)
    {
        if (record_int(one, "scaling") != record_int(row, "id") || count == SCALING_SIZES) continue;
        r.reduce.bytes[count] = (double)record_int(one, "bytes");
        r.reduce.seconds[count++] = (double)record_int(one, "ns") * 1e-9;
    }
    return count == SCALING_SIZES && scaling_fit(&r, m);
}

void report_scaling(const struct report_data *d, size_t *at, struct sheet *s)
{
    const size_t end = end_of(d, *at);
    const json_t *first = json_array_get(d->scalings, *at);
    sheet_begin(s, "", "#node_num|#gpu_num_per_node|#batch_size_per_device|#samples/s|#speedup|#efficiency|#threads|#step");
    s->title = arena_text(&s->arena, "Scaling: %s, %s, %s, %s; samples are %s of %s%s", record_text(first, "task"),
                          record_text(first, "model"), record_text(first, "precision"), record_text(first, "device"),
                          record_text(first, "samples"), record_text(first, "data"),
                          record_int(first, "noise") ? " (noise of its shape)" : "");
    for (; *at < end; ++*at) add_row(json_array_get(d->scalings, *at), first, s);
}

void report_predictions(const struct report_data *d, size_t at, struct sheet *s)
{
    const json_t *first = json_array_get(d->scalings, at), *last = json_array_get(d->scalings, end_of(d, at) - 1);
    struct scaling_model m;
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    double step = (double)record_int(first, "step_ns") * 1e-9, bytes = (double)record_int(last, "gradient_bytes");
    double measured = (double)record_int(last, "step_ns") * 1e-9;
    int exchanges = (int)record_int(last, "exchanges"), processes = (int)record_int(last, "processes");
    sheet_begin(s, "", "#processes|#reduction|#efficiency");
    if (record_int(first, "processes") != 1 || !(step > 0) || !fit_row(d, last, &m)) return;
    double modelled = step + scaling_reduction(&m, processes, exchanges, bytes);
    s->title = arena_text(&s->arena, "Predicted from reductions of %d processes: %.3g s for a message, %s, r2 %.4f; %d "
                          "reductions per step. With %d processes the model gives a step of %s, measured are %s%s", processes,
                          m.alpha, text_si(a, 1 / m.beta, "B/s"), m.r2, exchanges, processes, text_span(b, modelled),
                          text_span(c, measured), scaling_doubt(modelled, measured));
    for (int i = 0; i < SCALING_PREDICTED; i++) {
        double reduction = scaling_reduction(&m, scaling_predicted[i], exchanges, bytes);
        sheet_add(s, "%d", scaling_predicted[i]);
        sheet_add(s, "%s", text_span(a, reduction));
        sheet_add(s, "%.1f%%", 100 * step / (step + reduction));
    }
}

void report_add_scaling_rows(const struct report_data *d, struct sheet *s)
{
    for (size_t at = 0; at < json_array_size(d->scalings);) {
        const json_t *first = json_array_get(d->scalings, at);
        for (size_t end = end_of(d, at); at < end; at++) {
            const json_t *row = json_array_get(d->scalings, at);
            int64_t machines = record_int(row, "machines"), processes = record_int(row, "processes");
            sheet_add(s, "%s", record_text(row, "task"));
            sheet_add(s, "%s", record_text(row, "model"));
            sheet_add(s, "%s %s", record_text(row, "device"), record_text(row, "precision"));
            sheet_add(s, "%lld", (long long)machines);
            sheet_add(s, "%lld", (long long)(machines > 0 ? processes / machines : processes));
            sheet_add(s, "%lld", (long long)record_int(row, "batch"));
            sheet_add(s, "%.2f", rate_of(row));
            sheet_add(s, "%.2f", speedup_of(row, first));
            sheet_add(s, "%lld", (long long)record_int(row, "step_ns"));
            sheet_add(s, "%s", "");
            sheet_add(s, "%lld", (long long)record_int(row, "noise"));
        }
    }
}
