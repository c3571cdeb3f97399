// SPDX-License-Identifier: Apache-2.0
// Compares two runs of a case element by element, and measures the speed of a case. The allowed error is derived from the type
// and the size of the sums (docs/testing.md), never fitted to a device.
#include "runtime/cases/cases.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/sort.h"

#include <math.h>
#include <stdlib.h>

// ---- comparing

double case_slack(const struct op_case *row) { return row->slack > 0.0 ? row->slack : 16.0; }

static double one_rounding(enum dtype type)  // the largest relative distance of adjacent numbers
{
    switch (type) {
    case F32: return 0x1p-23;
    case BF16: return 0x1p-7;
    case F16: return 0x1p-10;
    case U8:
    case I32:
    case DTYPE_COUNT: break;
    }
    return 0.0;
}

static double largest_value(const struct case_output *o)
{
    double most = 0.0;
    for (int64_t i = 0, n = shape_count(&o->slot->shape); i < n; i++)
        most = fmax(most, fabs(element_get(o->slot->dtype, o->host, i)));  // fmax ignores NaN
    return most;
}

static void compare_output(const struct case_output *got, const struct case_output *want,
                           const struct case_output *magnitude, double slack, enum dtype coarse, enum dtype inside,
                           struct case_worst *worst)
{
    enum { INSIDE = 4 };  // roundings inside an operator, relative to the size of the result
    enum dtype type = want->slot->dtype;
    double whole = largest_value(want), rounding = fmax(one_rounding(type), one_rounding(coarse));
    for (int64_t i = 0, n = shape_count(&want->slot->shape); i < n; i++) {
        double g = element_get(type, got->host, i), w = element_get(type, want->host, i);
        double size = magnitude ? fabs(element_get(type, magnitude->host, i)) : whole;
        double allowed = rounding * fabs(w) + slack * 0x1p-24 * size + (type == F16 ? 0x1p-24 : 1e-37);
        if (inside != F32) allowed += INSIDE * one_rounding(inside) * size;
        if (!dtype_is_float(type)) allowed = 0.5;
        bool same = g == w || (isnan(g) && isnan(w));
        double ratio = same ? 0.0 : fabs(g - w) / allowed;
        if (isnan(ratio)) ratio = INFINITY;
        if (ratio > worst->ratio || !worst->slot)
            *worst = (struct case_worst){ratio, want->slot->name, i, g, w, allowed};
    }
}

int case_compare(const struct case_live *got, const struct case_live *want, const struct case_live *magnitude,
                 double slack, struct case_worst *worst)
{
    *worst = (struct case_worst){0};
    bool rounds = got->build.row->op == OP_CONV_WGRAD && got->device->type->rounds_wgrad;
    enum dtype type = got->build.options.type, coarse = rounds ? type : F32;
    enum dtype inside = got->build.row->flags & CASE_INSIDE ? type : F32;
    for (int i = 0; i < got->build.outputs; i++) {
        const struct case_output *g = &got->build.output[i], *w = case_output(want, g->number);
        if (!w || !shape_equal(&g->slot->shape, &w->slot->shape) || g->slot->dtype != w->slot->dtype)
            return fail(ERR_SHAPE, "case %s: output %s has no counterpart to compare with", got->build.row->name,
                        g->slot->name);
        compare_output(g, w, magnitude ? case_output(magnitude, g->number) : NULL, slack, coarse, inside, worst);
    }
    return worst->slot ? 0 : fail(ERR_SHAPE, "case %s: nothing to compare", got->build.row->name);
}

// ---- speed

// Two warm-up runs, then as many as fit in 0.3 s, at least 5 and at most 100; takes the median of the node's own time.
static int measure_case(struct case_live *c, struct case_speed *speed)
{
    enum { MOST = 100, LEAST = 5, WARM = 2 };
    const int64_t enough = 300000000;
    const struct plan *plan = c->session->plan[c->program];
    int64_t *ns = zalloc((size_t)plan->count * sizeof *ns), times[MOST], began = clock_ns();
    int rc = 0, runs = 0;
    for (int i = 0; i < MOST + WARM && rc == 0; i++) {
        if (i == WARM) began = clock_ns();
        if (i >= WARM + LEAST && clock_ns() - began > enough) break;
        rc = session_profile(c->session, c->program, ns);
        for (int at = 0; at < plan->count && rc == 0 && i >= WARM && runs < MOST; at++)
            if (plan->graph->node[plan->order[at]].op == c->build.row->op) times[runs++] = ns[at];
    }
    free(ns);
    TRY(rc);
    if (!runs) return fail(ERR_DEVICE, "case %s: its operator did not run", c->build.row->name);
    qsort(times, (size_t)runs, sizeof *times, sort_i64);
    struct cost cost = node_cost(c->build.g, &c->build.g->node[c->build.node]);
    *speed = (struct case_speed){c->build.row, c->build.options.type, runs, (double)times[runs / 2] * 1e-9, cost.flops,
                                 cost.read + cost.written};
    return 0;
}

static int bench_one(struct device *device, const struct op_case *row, enum dtype type, struct case_speed *speed)
{
    struct case_live *c;
    TRY(case_open(device, row, &(struct case_options){.type = type}, &c));
    int rc = case_run(c);
    if (rc == 0) rc = measure_case(c, speed);
    case_close(c);
    return rc;
}

int cases_bench(struct device *device, enum dtype type, const char *filter,
                int (*each)(void *context, const struct case_speed *), void *context)
{
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row)) {
        if (!(row->flags & CASE_LARGE) || (filter && !strstr(row->name, filter))) continue;
        if (type != F32 && !(row->flags & CASE_HALF)) continue;
        struct case_speed speed;
        int rc = bench_one(device, row, type, &speed);
        if (rc == ERR_UNSUPPORTED) continue;
        TRY(rc);
        TRY(each(context, &speed));
    }
    return 0;
}
