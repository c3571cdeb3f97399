// SPDX-License-Identifier: Apache-2.0
// The list of cases (runtime/cases/cases.h), device against ref: in every type a device claims, with one thread and with
// three, through temporaries, with outputs left out; then fused against unfused. Outputs are NaN before each run.
// Two tests show that the comparison can fail, and one that no operator is without a case.
#include "runtime/cases/cases.h"
#include "runtime/fuse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int failures;

static void complain(const struct op_case *row, enum dtype type, const char *what, const struct case_worst *w)
{
    failures++;
    print_error("%s, %s, %s: %s[%lld] is %.9g, not %.9g: %.1f times what is allowed\n", row->name, dtype_name(type),
                what, w->slot, (long long)w->index, w->got, w->want, w->ratio);
}

static void say(const struct op_case *row, enum dtype type, const char *what)
{
    failures++;
    print_error("%s, %s, %s: %s\n", row->name, dtype_name(type), what, error_text());
}

static int open_and_run(struct device *d, const struct op_case *row, const struct case_options *o, struct case_live **c)
{
    *c = NULL;
    TRY(case_open(d, row, o, c));
    return case_run(*c);
}

// One case on a device and on ref. False when the device does not claim it.
static bool hold(struct device *device, struct device *ref, const struct op_case *row, struct case_options o,
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
    if (rc == 0) rc = case_compare(got, want, size, case_slack(row), &worst);
    if (rc < 0) say(row, o.type, what);
    else if (worst.ratio > 1.0) complain(row, o.type, what, &worst);
    case_close(got);
    case_close(want);
    case_close(size);
    return true;
}

// Every small case that `wanted` lets through, in one type; how many the device claimed and did not.
static void hold_all(struct device *device, enum dtype type, const char *what, void (*set)(struct case_options *),
                     unsigned without, int *claimed, int *refused)
{
    struct device *ref;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    *claimed = *refused = 0;
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row)) {
        if (row->flags & (CASE_LARGE | CASE_PATTERN | without) || (type != F32 && !(row->flags & CASE_HALF))) continue;
        if (row->flags & CASE_SLOW && type != BF16) continue;  // the type that such sizes are there for
        struct case_options o = {.type = type};
        if (set) set(&o);
        if (hold(device, ref, row, o, what)) ++*claimed;
        else {
            ++*refused;
            if (type == F32) print_message("%s: %s\n", row->name, error_text());
        }
    }
    device_close(ref);
}

static void cpu_in_types(int threads, enum dtype last, unsigned without)
{
    struct device *cpu;
    failures = 0;
    assert_int_equal(device_open("cpu", threads, &cpu), 0);
    for (enum dtype type = F32; type <= last; type++) {
        int claimed, refused;
        hold_all(cpu, type, "cpu", NULL, without, &claimed, &refused);
        print_message("cpu, %d threads, %s: %d cases held, %d not claimed\n", threads, dtype_name(type), claimed,
                      refused);
        if (type == F32) assert_int_equal(refused, 0);  // f32 is for everything
    }
    device_close(cpu);
    assert_int_equal(failures, 0);
}

static void test_cpu_one_thread(void **state)
{
    (void)state;
    cpu_in_types(1, F16, CASE_SLOW);
}

static void test_cpu_three_threads(void **state)
{
    (void)state;
    cpu_in_types(3, F16, 0);
}

// The vector loops are built for several instruction sets; each must hold, not only the best this processor has.
static void test_cpu_lower_instruction_sets(void **state)
{
    (void)state;
    static const char *const isa[] = {"base", "avx2"};
    for (int i = 0; i < 2; i++) {
        setenv("DAWN_ISA", isa[i], 1);
        print_message("instruction set at most %s:\n", isa[i]);
        cpu_in_types(1, BF16, CASE_SLOW);
    }
    unsetenv("DAWN_ISA");
}

static void set_through(struct case_options *o) { o->through = true; }

static void test_cpu_through_temporaries(void **state)
{
    (void)state;
    struct device *cpu;
    int claimed, refused;
    failures = 0;
    assert_int_equal(device_open("cpu", 2, &cpu), 0);
    for (enum dtype type = F32; type <= BF16; type++) {
        hold_all(cpu, type, "cpu, through temporaries", set_through, CASE_SLOW, &claimed, &refused);
        assert_true(claimed > 100);
    }
    device_close(cpu);
    assert_int_equal(failures, 0);
}

// Each output that is not an update, left out in turn: the others must not change, and nothing may be written to NULL.
static void leave_out(struct device *device, const struct op_case *row, int output)
{
    struct case_live *all = NULL, *less = NULL;
    struct case_options o = {.type = F32}, without = {.type = F32, .unwanted = 1 << output};
    struct case_worst worst;
    int rc = open_and_run(device, row, &o, &all);
    if (rc == 0) rc = open_and_run(device, row, &without, &less);
    if (rc == 0) rc = case_compare(less, all, NULL, case_slack(row), &worst);
    if (rc < 0) say(row, F32, "with an output left out");
    else if (worst.ratio > 1.0) complain(row, F32, "with an output left out", &worst);
    case_close(all);
    case_close(less);
}

static void outputs_left_out(const char *name)
{
    struct device *device;
    failures = 0;
    int tried = 0;
    assert_int_equal(device_open(name, 2, &device), 0);
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row)) {
        if (row->flags & (CASE_LARGE | CASE_PATTERN | CASE_SLOW) || op_table[row->op].outputs < 2) continue;
        struct case_live *all = NULL;
        assert_int_equal(case_open(device, row, &(struct case_options){.type = F32}, &all), 0);
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
    assert_true(tried > 30);
    assert_int_equal(failures, 0);
}

static void test_outputs_left_out(void **state)
{
    (void)state;
    outputs_left_out("ref");
    outputs_left_out("cpu");
}

// ---- fused against unfused

static int count_ops(const struct case_live *c) { return c->session->plan[c->program]->count; }

static void hold_fused(struct device *device, const struct op_case *row, struct case_options fused, double slack,
                       const char *what)
{
    struct case_options plain = {.type = fused.type, .gradient = fused.gradient};
    struct case_live *a = NULL, *b = NULL;
    struct case_worst worst;
    int rc = open_and_run(device, row, &plain, &a);
    if (rc == 0) rc = open_and_run(device, row, &fused, &b);
    if (rc == 0) rc = case_compare(b, a, NULL, slack, &worst);
    if (rc < 0) say(row, fused.type, what);
    else if (worst.ratio > 1.0) complain(row, fused.type, what, &worst);
    case_close(a);
    case_close(b);
}

// All patterns together, each alone, and folding with and without the others.
static void fused_on(const char *name, enum dtype type, double slack)
{
    struct device *device;
    failures = 0;
    assert_int_equal(device_open(name, 2, &device), 0);
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row)) {
        if (!(row->flags & CASE_PATTERN)) continue;
        struct case_options o = {.type = type, .gradient = row->flags & CASE_GRADIENT, .patterns = FUSE_ALL};
        hold_fused(device, row, o, slack, "all patterns");
        for (o.patterns = 1; o.patterns < FUSE_ALL; o.patterns *= 2) hold_fused(device, row, o, slack, "one pattern");
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

// The longest chain here is six operators deep and sums over 150 terms: a few hundred roundings of f32 at most.
static void test_fused_ref(void **state)
{
    (void)state;
    fused_on("ref", F32, 512.0);
}

static void test_fused_cpu(void **state)
{
    (void)state;
    fused_on("cpu", F32, 1024.0);
}

static bool has_op(const struct graph *g, enum op op)
{
    for (int i = 0; i < g->nodes; i++)
        if (g->node[i].op == op) return true;
    return false;
}

static const struct op_case *row_named(const char *name)
{
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row))
        if (!strcmp(row->name, name)) return row;
    fail_msg("there is no case \"%s\"", name);
    return NULL;
}

// That two graphs agree shows nothing when fusing did nothing: count what it left.
static void test_fusing_happens(void **state)
{
    (void)state;
    struct device *ref;
    struct case_live *c;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    struct case_options fused = {.type = F32, .patterns = FUSE_ALL}, plain = {.type = F32};

    assert_int_equal(case_open(ref, row_named("group of an odd side"), &plain, &c), 0);
    int before = count_ops(c);
    case_close(c);
    assert_int_equal(case_open(ref, row_named("group of an odd side"), &fused, &c), 0);
    assert_true(has_op(c->build.g, OP_POOL_NORM));
    assert_false(has_op(c->build.g, OP_MAXPOOL));
    assert_false(has_op(c->build.g, OP_ACT));
    assert_int_equal(count_ops(c), before - 3);  // pool, two activations
    const struct node *conv = &c->build.g->node[0];
    assert_int_equal(conv->op, OP_CONV);
    assert_int_equal(node_out(c->build.g, conv, 0)->shape.dim[1], 8);  // 9 would be computed and dropped
    case_close(c);

    assert_int_equal(case_open(ref, row_named("norm that is read twice"), &fused, &c), 0);
    assert_true(has_op(c->build.g, OP_ACT));
    case_close(c);

    assert_int_equal(case_open(ref, row_named("frozen convolution, bias, activation"), &fused, &c), 0);
    assert_int_equal(count_ops(c), 2);  // the convolution, and the copy into the slot
    case_close(c);

    fused.fold = true;
    assert_int_equal(case_open(ref, row_named("fold convolution, max pool, norm"), &fused, &c), 0);
    assert_false(has_op(c->build.g, OP_NORM_INFER));
    case_close(c);
    assert_int_equal(case_open(ref, row_named("convolution, max pool, scaled norm: not to be folded"), &fused, &c), 0);
    assert_true(has_op(c->build.g, OP_NORM_INFER));
    case_close(c);
    device_close(ref);
}

// ---- the tests of the test

static void test_every_operator_has_a_case(void **state)
{
    (void)state;
    int missing = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        bool found = false;
        for (const struct op_case *row = case_next(NULL); row && !found; row = case_next(row))
            found = (int)row->op == op && !(row->flags & (CASE_LARGE | CASE_PATTERN));
        if (found) continue;
        print_error("operator %s has no case\n", op_table[op].name);
        missing++;
    }
    assert_int_equal(missing, 0);
}

static void test_names_are_unique(void **state)
{
    (void)state;
    int rows = 0;
    for (const struct op_case *a = case_next(NULL); a; a = case_next(a), rows++)
        for (const struct op_case *b = case_next(a); b; b = case_next(b)) assert_string_not_equal(a->name, b->name);
    assert_true(rows > 200);
}

// A result that is wrong by a little more than a rounding, or not written at all, must be caught in every type.
static void test_wrong_results_are_caught(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum dtype type;
        double off;  // relative
    } wrong[] = {
        {"conv 3x3 pad 1", F32, 1e-4},     {"conv 3x3 pad 1", BF16, 0.02}, {"conv 3x3 pad 1", F16, 0.003},
        {"maxpool 2x2", F32, 1e-5},        {"norm bias gelu", BF16, 0.04}, {"gather bytes", F32, 1.0},
        {"correct top 1", F32, 0.002},
    };
    struct device *ref;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct op_case *row = row_named(wrong[i].row);
        struct case_options o = {.type = wrong[i].type};
        struct case_live *a, *b;
        struct case_worst worst;
        assert_int_equal(open_and_run(ref, row, &o, &a), 0);
        assert_int_equal(open_and_run(ref, row, &o, &b), 0);
        assert_int_equal(case_compare(a, b, NULL, case_slack(row), &worst), 0);
        assert_true(worst.ratio == 0.0);  // ref against itself is exact
        const struct case_output *out = &a->build.output[0];
        enum dtype type = out->slot->dtype;
        int64_t at = 0, n = shape_count(&out->slot->shape);
        for (int64_t j = 0; j < n; j++)  // the largest, where a relative error is largest
            if (fabs(element_get(type, out->host, j)) > fabs(element_get(type, out->host, at))) at = j;
        double right = element_get(type, out->host, at);
        double step = fabs(right) * wrong[i].off < 1.0 && !dtype_is_float(type) ? 1.0 : fabs(right) * wrong[i].off;
        element_set(type, out->host, at, right > 0.0 && !dtype_is_float(type) ? right - step : right + step);
        assert_int_equal(case_compare(a, b, NULL, case_slack(row), &worst), 0);
        if (!(worst.ratio > 1.0))
            fail_msg("%s in %s: off by %g and not caught", row->name, dtype_name(o.type), wrong[i].off);
        assert_int_equal(worst.index, at);
        if (dtype_is_float(type)) {
            element_set(type, out->host, at, right);
            element_set(type, out->host, 0, NAN);
            assert_int_equal(case_compare(a, b, NULL, case_slack(row), &worst), 0);
            assert_true(isinf(worst.ratio));
        }
        case_close(a);
        case_close(b);
    }
    device_close(ref);
}

// An output that a device does not write keeps the poison it had before the run, and that is seen.
static void test_poison_is_seen(void **state)
{
    (void)state;
    struct device *ref;
    struct case_live *a, *b;
    struct case_worst worst;
    struct case_options o = {.type = F32};
    assert_int_equal(device_open("ref", 1, &ref), 0);
    const struct op_case *row = row_named("add");
    assert_int_equal(open_and_run(ref, row, &o, &a), 0);
    assert_int_equal(case_open(ref, row, &o, &b), 0);
    memset(b->build.output[0].host, 0xff, slot_bytes(b->build.output[0].slot));  // what poisoning leaves
    assert_int_equal(case_compare(b, a, NULL, case_slack(row), &worst), 0);
    assert_true(isinf(worst.ratio));
    assert_true(isnan(worst.got));
    case_close(a);
    case_close(b);
    device_close(ref);
}

static int count_speed(void *context, const struct case_speed *s)
{
    int *count = context;
    assert_true(s->seconds > 0.0);
    assert_true(s->repeats >= 5);
    assert_true(s->flops == 2.0 * 2000 * 10 * 256);
    assert_true(s->bytes == (2000 * 256 + 10 * 256 + 2000 * 10) * 4.0);
    assert_string_equal(s->row->name, "matmul head");
    ++*count;
    return 0;
}

static void test_bench_measures_what_is_asked(void **state)
{
    (void)state;
    struct device *ref;
    int count = 0;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    assert_int_equal(cases_bench(ref, F32, "matmul head", count_speed, &count), 0);
    assert_int_equal(count, 1);  // the small cases of that name are not for speed
    assert_int_equal(cases_bench(ref, F32, "no case has this name", count_speed, &count), 0);
    assert_int_equal(count, 1);
    device_close(ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator_has_a_case),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_wrong_results_are_caught),
        cmocka_unit_test(test_poison_is_seen),
        cmocka_unit_test(test_bench_measures_what_is_asked),
        cmocka_unit_test(test_cpu_one_thread),
        cmocka_unit_test(test_cpu_three_threads),
        cmocka_unit_test(test_cpu_lower_instruction_sets),
        cmocka_unit_test(test_cpu_through_temporaries),
        cmocka_unit_test(test_outputs_left_out),
        cmocka_unit_test(test_fused_ref),
        cmocka_unit_test(test_fused_cpu),
        cmocka_unit_test(test_fusing_happens),
    };
    return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
