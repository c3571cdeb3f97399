// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/scaling.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/sort.h"
#include "runtime/common/base/text.h"
#include "runtime/ranks/ranks.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, IGNORED = 2 };
static const int64_t sizes[SCALING_SIZES] = {4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20};
const int scaling_predicted[SCALING_PREDICTED] = {8, 32, 1024};

// ---- measuring

static int time_size(float *values, float *other, int64_t count, double *median)
{
    double seconds[ROUNDS];
    for (int i = -IGNORED; i < ROUNDS; i++) {
        int64_t together = 0, began;
        TRY(ranks_add(&together, 1));  // they begin together
        began = clock_ns();
        TRY(ranks_reduce(values, other, count));
        if (i >= 0) seconds[i] = (double)(clock_ns() - began) * 1e-9;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, sort_f64);
    *median = seconds[ROUNDS / 2];
    return 0;
}

int scaling_reduce(struct scaling_reduce *r)
{
    int64_t capacity = ranks_scratch(sizes[SCALING_SIZES - 1] / (int64_t)sizeof(float));
    float *values = zalloc(2 * (size_t)capacity * sizeof *values);
    int rc = 0;
    for (int i = 0; i < SCALING_SIZES && rc == 0; i++) {
        r->bytes[i] = (double)sizes[i];
        rc = time_size(values, values + capacity, sizes[i] / (int64_t)sizeof(float), &r->seconds[i]);
    }
    free(values);
    return rc;
}

// ---- the model

bool scaling_fit(const struct scaling_row *row, struct scaling_model *m)
{
    struct fit_line line;
    double others = row->processes - 1;
    *m = (struct scaling_model){0};
    bool fits = others > 0 && fit_line(row->reduce.bytes, row->reduce.seconds, SCALING_SIZES, &line);
    if (!fits || !(line.slope > 0)) return false;
    // The line fits the large sizes; the smallest shows the time of one message.
    double shares = 2 * others / row->processes;
    double least = row->reduce.seconds[0] - line.slope * row->reduce.bytes[0];
    m->beta = line.slope / shares;
    m->alpha = (least > 0 ? least : row->reduce.seconds[0]) / (2 * others);
    m->r2 = line.r2;
    return true;
}

double scaling_reduction(const struct scaling_model *m, int processes, int exchanges, double bytes)
{
    double others = processes - 1;
    return 2 * others * exchanges * m->alpha + 2 * others / processes * bytes * m->beta;
}

// ---- figures

double scaling_rate(const struct scaling_row *r)
{
    return r->step > 0 ? (double)r->batch * r->processes / r->step : 0;
}

double scaling_speedup(const struct scaling_row *r, const struct scaling_row *first)
{
    double base = scaling_rate(first);
    return base > 0 ? scaling_rate(r) / base * first->processes : 0;
}

// ---- text

static void add_row(const struct scaling_row *r, const struct scaling_row *first, struct text *into)
{
    char step[TEXT_FIGURE];
    double speedup = scaling_speedup(r, first);
    text_add(into, "  %9d %8d %7lld %8lld %12.1f %9s %8.2f %10.1f%%\n", r->processes, r->machines, (long long)r->threads,
             (long long)r->batch * r->processes, scaling_rate(r), text_span(step, r->step), speedup,
             100 * speedup / r->processes);
}

static void add_reductions(const struct scaling_row *r, struct text *into)
{
    struct text line = {0};
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    if (r->processes < 2) return;
    for (size_t i = 0; i < SCALING_SIZES; i++)
        text_add(&line, "%s%s in %s", i ? ", " : "", text_size(a, r->reduce.bytes[i]), text_span(b, r->reduce.seconds[i]));
    text_add(into, "\n");
    text_entry(into, "reductions", "by %d processes: %s", r->processes, line.at);
    text_free(&line);
}

static double reductions_of(const struct scaling_row *r, const struct scaling_model *m, int processes)
{
    return scaling_reduction(m, processes, r->exchanges, r->gradients);
}

const char *scaling_doubt(double modelled, double measured)
{
    bool near = measured < 1.25 * modelled && modelled < 1.25 * measured;
    return near ? "" : ": do not trust its predictions";
}

// The step without its reduction, and the reduction as the model has it. Nothing of it is hidden behind the backward pass.
static void add_predictions(const struct scaling_row *first, const struct scaling_row *last, struct text *into)
{
    struct scaling_model m;
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    add_reductions(last, into);
    if (first->processes != 1 || !scaling_fit(last, &m)) return;
    text_entry(into, "model", "%d reductions of n bytes together over R processes: %d x 2 (R - 1) x %s + 2 (R - 1) / R x n / %s "
               "(r2 %.4f), measured with %d processes", last->exchanges, last->exchanges, text_span(a, m.alpha),
               text_si(b, 1 / m.beta, "B/s"), m.r2, last->processes);
    double modelled = first->step + reductions_of(last, &m, last->processes);
    text_entry(into, "checked", "with %d processes the model gives a step of %s; %s was measured%s", last->processes,
               text_span(a, modelled), text_span(b, last->step), scaling_doubt(modelled, last->step));
    for (int i = 0; i < SCALING_PREDICTED; i++) {
        double reduction = reductions_of(last, &m, scaling_predicted[i]);
        text_entry(into, i ? "" : "predicted", "%d processes on as many such links: efficiency %.1f%%; %s of a step is the "
                   "reduction of %s", scaling_predicted[i], 100 * first->step / (first->step + reduction),
                   text_span(a, reduction), text_size(b, last->gradients));
    }
}

void scaling_text(const struct scaling_row *row, int count, const char *samples, struct text *into)
{
    char rate[TEXT_FIGURE];
    snprintf(rate, sizeof rate, "%s/s", samples);
    text_add(into, "  %9s %8s %7s %8s %12s %9s %8s %11s\n", "processes", "machines", "threads", "batch", rate, "step", "speedup",
             "efficiency");
    for (int i = 0; i < count; i++) add_row(&row[i], &row[0], into);
    add_predictions(&row[0], &row[count - 1], into);
}

// ---- JSON

json_t *scaling_row_json(const struct scaling_row *r)
{
    json_t *bytes = json_array(), *seconds = json_array();
    for (int i = 0; i < SCALING_SIZES && r->processes > 1; i++) {
        json_array_append_new(bytes, json_real(r->reduce.bytes[i]));
        json_array_append_new(seconds, json_real(r->reduce.seconds[i]));
    }
    return json_pack("{ss ss ss ss ss ss sb si si sI sI sf sf sf si so so}", "data", r->data, "model", r->model, "recipe",
                     r->recipe, "precision", r->precision, "device", r->device, "size", r->size, "noise", r->noise, "processes",
                     r->processes, "machines", r->machines, "threads", (json_int_t)r->threads, "batch",
                     (json_int_t)r->batch, "step_s", r->step, "samples_per_s", scaling_rate(r), "gradient_bytes", r->gradients,
                     "exchanges", r->exchanges, "reduce_bytes", bytes, "reduce_s", seconds);
}

json_t *scaling_json(const struct scaling_row *row, int count)
{
    json_t *rows = json_array(), *whole = json_pack("{so}", "rows", rows);
    struct scaling_model m;
    for (int i = 0; i < count; i++) {
        double speedup = scaling_speedup(&row[i], &row[0]);
        json_t *o = scaling_row_json(&row[i]);
        json_object_update_new(o, json_pack("{sf sf}", "speedup", speedup, "efficiency", speedup / row[i].processes));
        json_array_append_new(rows, o);
    }
    if (scaling_fit(&row[count - 1], &m))
        json_object_set_new(whole, "model", json_pack("{sf sf sf}", "alpha_s", m.alpha, "beta_s_per_byte", m.beta, "r2", m.r2));
    return whole;
}

static double number_at(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void take_word(const json_t *o, const char *key, char into[SCALING_WORD])
{
    const char *word = json_string_value(json_object_get(o, key));
    snprintf(into, SCALING_WORD, "%s", word ? word : "");
}

int scaling_row_parse(const char *text, struct scaling_row *r)
{
    const char *from = strchr(text, '{');
    json_t *o = from ? json_loads(from, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    *r = (struct scaling_row){.processes = (int)number_at(o, "processes"), .machines = (int)number_at(o, "machines"),
                              .threads = (int64_t)number_at(o, "threads"), .batch = (int64_t)number_at(o, "batch"),
                              .step = number_at(o, "step_s"), .gradients = number_at(o, "gradient_bytes"),
                              .exchanges = (int)number_at(o, "exchanges")};
    take_word(o, "data", r->data);
    take_word(o, "model", r->model);
    take_word(o, "recipe", r->recipe);
    take_word(o, "precision", r->precision);
    take_word(o, "device", r->device);
    take_word(o, "size", r->size);
    r->noise = json_is_true(json_object_get(o, "noise"));
    for (size_t i = 0; i < SCALING_SIZES; i++) {
        r->reduce.bytes[i] = json_number_value(json_array_get(json_object_get(o, "reduce_bytes"), i));
        r->reduce.seconds[i] = json_number_value(json_array_get(json_object_get(o, "reduce_s"), i));
    }
    json_decref(o);
    return r->processes > 0 && r->step > 0 ? 0 : fail(ERR_INPUT, "the report of a process that measured cannot be read");
}
