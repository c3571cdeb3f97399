// SPDX-License-Identifier: Apache-2.0
// Runs the list of cases (runtime/cases/cases.h) on a device: against ref, with outputs left out, fused against unfused.
// Outputs are NaN before each run. DAWN_CASE=TEXT narrows the list to cases whose name contains it; "a|b" is either.
#pragma once

#include "test/unit/must.h"

#include "runtime/cases/cases.h"
#include "runtime/fuse.h"

static int failures;

static inline bool is_wanted(const struct op_case *row, const char *wanted)
{
    char text[64];
    for (size_t n; wanted; wanted = wanted[n] ? wanted + n + 1 : NULL) {
        n = strcspn(wanted, "|");
        snprintf(text, sizeof text, "%.*s", (int)n, wanted);
        if (strstr(row->name, text)) return true;
    }
    return false;
}

static inline const struct op_case *next_wanted(const struct op_case *row)
{
    const char *wanted = getenv("DAWN_CASE");
    const struct op_case *next = case_next(row);
    if (!wanted) return next;
    while (next && !is_wanted(next, wanted)) next = case_next(next);
    if (!row && !next) fail_msg("no case has \"%s\" in its name", wanted);
    return next;
}

static inline void complain(const struct op_case *row, enum dtype type, const char *what, const struct case_worst *w)
{
    failures++;
    print_error("%s, %s, %s: %s[%lld] is %.9g, not %.9g: %.1f times the tolerance\n", row->name, dtype_name(type),
                what, w->slot, (long long)w->index, w->got, w->want, w->ratio);
}

static inline void say(const struct op_case *row, enum dtype type, const char *what)
{
    failures++;
    print_error("%s, %s, %s: %s\n", row->name, dtype_name(type), what, error_text());
}

static inline void note(struct device *device, const struct op_case *row, enum dtype type, const char *what, int rc)
{
    say(row, type, what);
    // After a failure of the GPU every later case fails too, so their output is of no use.
    if (rc == ERR_DEVICE && device->type->sync(device) < 0) fail_msg("the GPU is lost after %s", row->name);
}

static inline int open_and_run(struct device *d, const struct op_case *row, const struct case_options *o, struct case_live **c)
{
    *c = NULL;
    TRY(case_open(d, row, o, c));
    return case_run(*c);
}

// Runs a case on a device and on ref. False if the device does not support it.
static inline bool hold(struct device *device, struct device *ref, const struct op_case *row, struct case_options o,
                 const char *what)
{
    struct case_live *got = NULL, *want = NULL, *size = NULL;
    int rc = open_and_run(device, row, &o, &got);
    if (rc == ERR_UNSUPPORTED) {
        case_close(got);
        return false;
    }
    if (rc == 0) rc = open_and_run(ref, row, &o, &want);
    if (rc == 0 && row->flags & CASE_SUM) {
        struct case_options absolute = o;
        absolute.absolute = true;
        rc = open_and_run(ref, row, &absolute, &size);
    }
    struct case_worst worst;
    // A gradient is a chain of two or three operators whose sums, of a hundred terms, may cancel.
    double slack = o.gradient ? fmax(case_slack(row), 128.0) : case_slack(row);
    if (rc == 0) rc = case_compare(got, want, size, slack, &worst);
    if (rc < 0) note(device, row, o.type, what, rc);
    else if (worst.ratio > 1.0) complain(row, o.type, what, &worst);
    case_close(got);
    case_close(want);
    case_close(size);
    return true;
}

// Runs every small case that `wanted` accepts, in one type; counts those that the device supports and those it does not.
static inline void hold_all(struct device *device, enum dtype type, const char *what, void (*set)(struct case_options *),
                     unsigned without, int *claimed, int *refused)
{
    struct device *ref;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    *claimed = *refused = 0;
    for (const struct op_case *row = next_wanted(NULL); row; row = next_wanted(row)) {
        if (row->flags & (CASE_LARGE | CASE_PATTERN | without) || (type != F32 && !(row->flags & CASE_HALF))) continue;
        if (row->flags & CASE_SLOW && type != BF16) continue;  // the type that such sizes are there for
        struct case_options o = {.type = type};
        if (set) set(&o);
        if (o.gradient && !(row->flags & CASE_GRADIENT)) continue;
        if (hold(device, ref, row, o, what)) ++*claimed;
        else if (!(row->flags & CASE_CHOSEN)) {
            ++*refused;
            if (type == F32) print_message("%s: %s\n", row->name, error_text());
        }
    }
    device_close(ref);
}

static inline void hold_types(const char *name, int threads, enum dtype last, unsigned without)
{
    struct device *device;
    failures = 0;
    assert_int_equal(device_open(name, threads, &device), 0);
    for (enum dtype type = F32; type <= last; type++) {
        int claimed, refused;
        hold_all(device, type, name, NULL, without, &claimed, &refused);
        print_message("%s, %d threads, %s: %d cases run, %d not claimed, %d wrong so far\n", name, threads, dtype_name(type),
                      claimed, refused, failures);
        if (type == F32) assert_int_equal(refused, 0);  // f32 is for everything
    }
    device_close(device);
    assert_int_equal(failures, 0);
}

static inline void set_through(struct case_options *o) { o->through = true; }

// Inputs and outputs are temporaries, so that results may be made in place and memory is shared.
static inline void hold_through_temporaries(const char *name, enum dtype last)
{
    struct device *device;
    int claimed, refused;
    failures = 0;
    assert_int_equal(device_open(name, 2, &device), 0);
    for (enum dtype type = F32; type <= last; type++) {
        hold_all(device, type, "through temporaries", set_through, CASE_SLOW, &claimed, &refused);
        assert_true(claimed > 100 || getenv("DAWN_CASE"));
    }
    device_close(device);
    assert_int_equal(failures, 0);
}

// Leaves out each output that is not an update, one at a time: the others must not change, and NULL must not be written.
static inline void leave_out(struct device *device, const struct op_case *row, int output)
{
    struct case_live *all = NULL, *less = NULL;
    struct case_options o = {.type = F32}, without = {.type = F32, .unwanted = 1 << output};
    struct case_worst worst;
    int rc = open_and_run(device, row, &o, &all);
    if (rc == 0) rc = open_and_run(device, row, &without, &less);
    if (rc == 0) rc = case_compare(less, all, NULL, case_slack(row), &worst);
    if (rc < 0) note(device, row, F32, "with an output left out", rc);
    else if (worst.ratio > 1.0) complain(row, F32, "with an output left out", &worst);
    case_close(all);
    case_close(less);
}

static inline void outputs_left_out(const char *name)
{
    struct device *device;
    failures = 0;
    int tried = 0;
    assert_int_equal(device_open(name, 2, &device), 0);
    for (const struct op_case *row = next_wanted(NULL); row; row = next_wanted(row)) {
        if (row->flags & (CASE_LARGE | CASE_PATTERN | CASE_SLOW) || op_table[row->op].outputs < 2) continue;
        struct case_live *all = NULL;
        int rc = case_open(device, row, &(struct case_options){.type = F32}, &all);
        if (rc == ERR_UNSUPPORTED && row->flags & CASE_CHOSEN) continue;
        if (rc < 0) note(device, row, F32, "with an output left out", rc);
        assert_int_equal(rc, 0);
        int number[CASE_OUTPUTS], count = all->build.outputs;
        bool update[CASE_OUTPUTS];
        for (int i = 0; i < count; i++) {
            number[i] = all->build.output[i].number;
            update[i] = all->build.output[i].update;
        }
        case_close(all);
        for (int i = 0; i < count && count > 1; i++)
            if (!update[i]) leave_out(device, row, number[i]), tried++;
    }
    device_close(device);
    assert_true(tried > 30 || getenv("DAWN_CASE"));
    assert_int_equal(failures, 0);
}

// ---- fused against unfused

static inline int count_ops(const struct case_live *c) { return c->session->plan[c->program]->count; }

static inline void hold_fused(struct device *device, const struct op_case *row, struct case_options fused, double slack,
                       const char *what)
{
    struct case_options plain = {.type = fused.type, .gradient = fused.gradient};
    struct case_live *a = NULL, *b = NULL;
    struct case_worst worst;
    int rc = open_and_run(device, row, &plain, &a);
    if (rc == 0) rc = open_and_run(device, row, &fused, &b);
    if (rc == 0) rc = case_compare(b, a, NULL, slack, &worst);
    if (rc < 0) note(device, row, fused.type, what, rc);
    else if (worst.ratio > 1.0) complain(row, fused.type, what, &worst);
    case_close(a);
    case_close(b);
}

// All patterns together, each pattern alone, and folding with and without the others. fuse_device's are test_cpu's.
static inline void fused_on(const char *name, enum dtype type, double slack)
{
    struct device *device;
    failures = 0;
    assert_int_equal(device_open(name, 2, &device), 0);
    for (const struct op_case *row = next_wanted(NULL); row; row = next_wanted(row)) {
        if (!(row->flags & CASE_PATTERN)) continue;
        struct case_options o = {.type = type, .gradient = row->flags & CASE_GRADIENT, .patterns = FUSE_ALL};
        hold_fused(device, row, o, slack, "all patterns");
        for (o.patterns = 1; o.patterns < FUSE_CONV_POOL; o.patterns *= 2) hold_fused(device, row, o, slack, "one pattern");
        if (!(row->flags & CASE_FOLD)) continue;
        o.fold = true;
        o.patterns = 0;
        hold_fused(device, row, o, slack, "folded");
        o.patterns = FUSE_ALL;
        hold_fused(device, row, o, slack, "fused and folded");
    }
    device_close(device);
    assert_int_equal(failures, 0);
}
