// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/show/show_bench.h"

#include <stdio.h>

#include "tasks/tools/show/plain.h"

// A cell with a text from outside: no control characters, at most as wide as the column.
static const char *cell(char into[24], const json_t *row, const char *key)
{
    snprintf(into, 24, "%.23s", record_text(row, key));
    plain_tame(into);
    return into;
}

static void add_bench(const json_t *row, struct text *t)
{
    char when[32], task[24], model[24], device[24], precision[24];
    double s = (double)record_int(row, "step_ns") * 1e-9, batch = (double)record_int(row, "batch");
    text_add(t, "%4lld  %-16s  %-11.11s %-9.9s %6lld  %-4.4s %-3s  %-4.4s %9.*f%s\n", (long long)record_int(row, "id"),
             plain_when(when, record_int(row, "measured_ms")), cell(task, row, "task"), cell(model, row, "model"),
             (long long)record_int(row, "batch"), cell(precision, row, "precision"), record_int(row, "fusion") ? "on" : "off",
             cell(device, row, "device"), batch / s < 1e6 ? 1 : 0, batch / s, record_int(row, "noise") ? " *" : "");
}

static void add_scaling(const json_t *row, struct text *t)
{
    char when[32], task[24], model[24], precision[24], device[24];
    double s = (double)record_int(row, "step_ns") * 1e-9;
    double samples = (double)record_int(row, "batch") * (double)record_int(row, "processes");
    text_add(t, "%4lld  %-16s  %-11.11s %-9.9s %6lld  %-4.4s %3lld  %-4.4s %9.*f%s\n", (long long)record_int(row, "id"),
             plain_when(when, record_int(row, "measured_ms")), cell(task, row, "task"), cell(model, row, "model"),
             (long long)record_int(row, "batch"), cell(precision, row, "precision"), (long long)record_int(row, "processes"),
             cell(device, row, "device"), samples / s < 1e6 ? 1 : 0, samples / s, record_int(row, "noise") ? " *" : "");
}

static int add_scalings(struct results *r, struct text *t, bool *noise)
{
    json_t *rows, *row;
    size_t i;
    TRY(record_rows(r, "SELECT * FROM scalings ORDER BY id", 0, &rows));
    if (json_array_size(rows) > 0)
        text_add(t, "%sScaling over processes, each with that batch:\n%4s  %-16s  %-11s %-9s %6s  %-4s %3s  %-4s %9s\n",
                 t->length > 0 ? "\n" : "", "id", "measured (UTC)", "task", "model", "batch", "type", "num", "dev", "samples/s");
    json_array_foreach(rows, i, row)
    {
        add_scaling(row, t);
        *noise = *noise || record_int(row, "noise");
    }
    json_decref(rows);
    return 0;
}

int show_bench_list(struct results *r, struct text *t)
{
    json_t *rows, *row;
    size_t i;
    bool noise = false;
    TRY(record_rows(r, "SELECT * FROM benches ORDER BY id", 0, &rows));
    if (json_array_size(rows) > 0)
        text_add(t, "%4s  %-16s  %-11s %-9s %6s  %-4s %-3s  %-4s %9s\n", "id", "measured (UTC)", "task", "model", "batch",
                 "type", "fus", "dev", "samples/s");
    json_array_foreach(rows, i, row)
    {
        add_bench(row, t);
        noise = noise || record_int(row, "noise");
    }
    json_decref(rows);
    TRY(add_scalings(r, t, &noise));
    if (t->length == 0)
        text_add(t, "%s holds no measurement yet: \"dawn bench TASK%s\" adds one.\n", result_file(r), result_option(r));
    if (noise) text_add(t, "* noise of the data set's shape\n");
    return 0;
}
