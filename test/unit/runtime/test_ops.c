// SPDX-License-Identifier: Apache-2.0
// The list of cases (runtime/cases/cases.h), device against ref: in every type that a device supports, with one thread and with
// three, through temporaries, with outputs left out; then fused against unfused. Outputs are NaN before each run.
// Two tests show that the comparison can fail, and one that no operator is without a case.
#include "test/unit/test.h"
#include "test/unit/fixture_cases.h"

#include "runtime/cpu/tiles/tiles.h"

TEST(test_cpu_one_thread)
{
    hold_types("cpu", 1, BF16, CASE_SLOW);
}

TEST(test_cpu_three_threads)
{
    hold_types("cpu", 3, F16, 0);
}

// The vector loops are built for several instruction sets. Each is tested, not only the best of this processor.
TEST(test_cpu_lower_instruction_sets)
{
    static const char *const isa[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < (tiles_exist() ? 3 : 2); i++) {
        setenv("DAWN_ISA", isa[i], 1);
        print_message("instruction set at most %s:\n", isa[i]);
        hold_types("cpu", 1, BF16, CASE_SLOW);
    }
    unsetenv("DAWN_ISA");
}

TEST(test_cpu_through_temporaries)
{
    hold_through_temporaries("cpu", BF16);
}

TEST(test_outputs_left_out)
{
    outputs_left_out("ref");
    outputs_left_out("cpu");
}

// The longest chain here is six operators deep and sums over 150 terms: a few hundred roundings of f32 at most.
TEST(test_fused_ref)
{
    fused_on("ref", F32, 512.0);
}

TEST(test_fused_cpu)
{
    fused_on("cpu", F32, 1024.0);
}

static bool has_op(const struct graph *g, enum op op)
{
    for (int i = 0; i < g->nodes; i++)
        if (g->node[i].op == op) return true;
    return false;
}

static int count_acts(const struct graph *g)
{
    int acts = 0;
    for (int i = 0; i < g->nodes; i++) acts += g->node[i].op == OP_ACT || node_act(&g->node[i]) != ACT_NONE;
    return acts;
}

static const struct op_case *row_named(const char *name)
{
    for (const struct op_case *row = case_next(NULL); row; row = case_next(row))
        if (!strcmp(row->name, name)) return row;
    fail_msg("there is no case \"%s\"", name);
    return NULL;
}

// Two equal graphs prove nothing if fusing did nothing: count the nodes that remain.
TEST(test_fusing_happens)
{
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
    assert_int_equal(count_acts(c->build.g), 0);
    assert_int_equal(count_ops(c), before - 3);  // pool, two activations
    const struct node *conv = &c->build.g->node[0];
    assert_int_equal(conv->op, OP_CONV);
    assert_int_equal(node_out(c->build.g, conv, 0)->shape.dim[1], 8);  // 9 would be computed and dropped
    case_close(c);

    assert_int_equal(case_open(ref, row_named("norm that is read twice"), &fused, &c), 0);
    assert_true(count_acts(c->build.g) > 0);
    case_close(c);

    assert_int_equal(case_open(ref, row_named("frozen convolution, bias, activation"), &fused, &c), 0);
    assert_int_equal(count_ops(c), 2);  // the convolution, and the copy into the slot
    case_close(c);

    assert_int_equal(case_open(ref, row_named("residual, dropout, layer norm"), &fused, &c), 0);
    assert_int_equal(count_ops(c), 2);  // layer norm, and the copy into the slot
    case_close(c);
    assert_int_equal(case_open(ref, row_named("residual that is read twice, layer norm"), &fused, &c), 0);
    assert_true(has_op(c->build.g, OP_DROPOUT));
    case_close(c);
    assert_int_equal(case_open(ref, row_named("layer of an encoder"), &fused, &c), 0);
    assert_int_equal(count_acts(c->build.g), 1);  // bias and activation are one
    case_close(c);

    fused.fold = true;
    assert_int_equal(case_open(ref, row_named("fold convolution, max pool, norm"), &fused, &c), 0);
    assert_false(has_op(c->build.g, OP_NORM_INFER));
    case_close(c);
    assert_int_equal(case_open(ref, row_named("fold a residual block with two norms"), &fused, &c), 0);
    assert_int_equal(count_ops(c), 5);  // three convolutions, the sum, the copy into the slot
    assert_int_equal(c->build.g->node[3].attr.map.formula, MAP_ADD_RELU);
    case_close(c);
    assert_int_equal(case_open(ref, row_named("convolution, max pool, scaled norm: not to be folded"), &fused, &c), 0);
    assert_true(has_op(c->build.g, OP_NORM_INFER));
    case_close(c);
    device_close(ref);
}

// ---- the tests of the test

TEST(test_every_operator_has_a_case)
{
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

TEST(test_names_are_unique)
{
    int rows = 0;
    for (const struct op_case *a = case_next(NULL); a; a = case_next(a), rows++)
        for (const struct op_case *b = case_next(a); b; b = case_next(b)) assert_string_not_equal(a->name, b->name);
    assert_true(rows > 200);
}

// A result with an error above one rounding, or one that is not written, must be detected in every type.
TEST(test_wrong_results_are_caught)
{
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

// An output that a device does not write keeps its NaN from before the run, which is detected.
TEST(test_poison_is_seen)
{
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

TEST(test_bench_measures_what_is_asked)
{
    struct device *ref;
    int count = 0;
    assert_int_equal(device_open("ref", 1, &ref), 0);
    assert_int_equal(cases_bench(ref, F32, "matmul head", count_speed, &count), 0);
    assert_int_equal(count, 1);  // the small cases of that name are not for speed
    assert_int_equal(cases_bench(ref, F32, "no case has this name", count_speed, &count), 0);
    assert_int_equal(count, 1);
    device_close(ref);
}
