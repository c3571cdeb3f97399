// SPDX-License-Identifier: Apache-2.0
// dawn bench ops: times the test cases of single operators, one row for each.
#include "tasks/cmd_bench_ops.h"

#include "runtime/base/cli/program.h"
#include "runtime/cases/cases.h"
#include "tasks/forecast/roofline.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

struct listing {
    bool json, closed;
    int rows;
};

static int print_operator_row(void *context, const struct case_speed *s)
{
    struct listing *l = context;
    char time[TEXT_FIGURE];
    if (!l->json && !l->rows)
        printf("%-34s %-5s %5s %10s %10s %9s\n", "case", "type", "runs", "time", "GFLOP/s", "GB/s");
    l->rows++;
    if (l->json) {
        json_t *o = json_pack("{ss ss si sf sf sf}", "case", s->row->name, "precision", dtype_name(s->type), "repeats",
                              s->repeats, "seconds", s->seconds, "flops", s->flops, "bytes", s->bytes);
        char *text = json_dumps(o, JSON_COMPACT);
        puts(text);
        free(text);
        json_decref(o);
    } else {
        double rate = s->seconds > 0 ? 1e-9 / s->seconds : 0;
        printf("%-34s %-5s %5d %10s %10.1f %9.1f\n", s->row->name, dtype_name(s->type), s->repeats,
               roofline_span(time, s->seconds), s->flops * rate, s->bytes * rate);
    }
    if (program_flush() == 0) return 0;  // a row may take a second
    l->closed = true;                    // "| head" has read enough, or main reports the error
    return fail(ERR_IO, "cannot write the output");
}

static int bench_ops_by_type(struct device *device, const struct bench_ops *a, struct listing *l)
{
    struct device_facts facts;
    TRY(device->type->facts(device, &facts));
    enum dtype only = F32;
    bool one = a->precision && strcmp(a->precision, "auto") != 0;
    if (one) TRY(dtype_parse(a->precision, &only));
    if (one && !dtype_is_float(only))
        return fail(ERR_USAGE, "--precision must be f32, bf16 or f16; got %s", dtype_name(only));
    for (enum dtype t = F32; t <= F16; t++)
        if (one ? t == only : t == F32 || facts.fast[t]) TRY(cases_bench(device, t, a->op, print_operator_row, l));
    if (l->rows) return 0;
    return fail(ERR_USAGE, "--op: no timed case that this device supports has \"%.60s\" in its name",
                a->op ? a->op : "");
}

int cmd_bench_ops(const struct bench_ops *a)
{
    struct device *device;
    struct listing l = {.json = a->json};
    TRY(device_open(a->device, (int)a->threads, &device));
    int rc = bench_ops_by_type(device, a, &l);
    device_close(device);
    return l.closed ? 0 : rc;
}
