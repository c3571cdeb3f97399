// SPDX-License-Identifier: Apache-2.0
// dawn bench ops: times the test cases of single operators, one row for each, and names those that compute far below
// the measured product rate (lagging.h).
#include "runtime/common/cli/json_text.h"
#include "tasks/tools/measure/cmd_bench_ops.h"

#include "runtime/cases/cases.h"
#include "runtime/common/cli/program.h"
#include "tasks/tools/forecast/roofline.h"
#include "tasks/tools/measure/lagging.h"

#include <jansson.h>
#include <stdio.h>

struct listing {
    bool json, measure, closed;
    struct device *device;
    struct device_facts facts;  // with peaks once they were measured
    struct lagging lagging;
};

static int end_of_output(struct listing *l)
{
    if (program_flush() == 0) return 0;  // a row may take a second
    l->closed = true;                    // "| head" has read enough, or main reports the error
    return fail(ERR_IO, "cannot write the output");
}

static void print_operator_text(const struct case_speed *s, double share)
{
    char time[TEXT_FIGURE], part[TEXT_FIGURE];
    double rate = s->seconds > 0 ? 1e-9 / s->seconds : 0;
    printf("%-34s %-4s %5d %8s %8.1f %8.1f %7s\n", s->row->name, dtype_name(s->type), s->repeats,
           roofline_span(time, s->seconds), s->flops * rate, s->bytes * rate, roofline_share(part, share, share > 0));
}

static int print_operator_row(void *context, const struct case_speed *s)
{
    struct listing *l = context;
    // Measured at the first row: a name that no case has is an error at once.
    if (!l->lagging.timed && l->measure) TRY(device_measure(l->device, &l->facts));
    if (!l->lagging.timed && !l->json)
        printf("%-34s %-4s %5s %8s %8s %8s %7s\n", "case", "type", "runs", "time", "GFLOP/s", "GB/s", "of peak");
    double share = lagging_add(&l->lagging, &l->facts, s);
    if (l->json)
        TRY(json_text_line(json_pack("{ss ss si sf sf sf so}", "case", s->row->name, "precision", dtype_name(s->type), "repeats",
                                     s->repeats, "seconds", s->seconds, "flops", s->flops, "bytes", s->bytes, "of_peak",
                                     share > 0 ? json_real(share) : json_null())));
    else print_operator_text(s, share);
    return end_of_output(l);
}

static int print_summary(struct listing *l)
{
    struct text text = {0};
    if (l->json) {
        if (l->facts.peak_bytes > 0) TRY(json_text_line(lagging_json(&l->lagging)));
        return end_of_output(l);
    }
    lagging_text(&l->lagging, &text);
    if (text.at) printf("\n%s", text.at);
    text_free(&text);
    return end_of_output(l);
}

static int bench_ops_by_type(struct device *device, const struct bench_ops *a, struct listing *l)
{
    TRY(device->type->facts(device, &l->facts));
    const struct device_facts facts = l->facts;
    enum dtype only = F32;
    bool one = a->precision && strcmp(a->precision, "auto") != 0;
    if (one) TRY(dtype_parse(a->precision, &only));
    if (one && !dtype_is_float(only))
        return fail(ERR_USAGE, "--precision must be f32, bf16 or f16; got %s", dtype_name(only));
    for (enum dtype t = F32; t <= F16; t++)
        if (one ? t == only : t == F32 || facts.fast[t]) TRY(cases_bench(device, t, a->op, print_operator_row, l));
    if (l->lagging.timed) return print_summary(l);
    return fail(ERR_USAGE, "--op: no timed case that this device supports has \"%.60s\" in its name",
                a->op ? a->op : "");
}

int cmd_bench_ops(const struct bench_ops *a)
{
    struct device *device;
    struct listing l = {.json = a->json, .measure = a->measure};
    TRY(device_open(a->device, (int)a->threads, &device));
    l.device = device;
    int rc = bench_ops_by_type(device, a, &l);
    lagging_free(&l.lagging);
    device_close(device);
    return l.closed ? 0 : rc;
}
