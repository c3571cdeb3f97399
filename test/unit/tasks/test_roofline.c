// SPDX-License-Identifier: Apache-2.0
// Forecasts of a training: bounds of nodes from given peaks, sums of a schedule, the protocol of timing. Everything runs on
// the null device, so that no figure depends on the machine.
#include "runtime/fuse.h"
#include "tasks/tasks.h"
#include "tasks/tools/forecast/forecast.h"
#include "tasks/tools/forecast/gpus.h"
#include "tasks/tools/measure/protocol.h"
#include "test/unit/test.h"

#include <jansson.h>
// cmocka.h requires the four before it

static const struct init ZERO = {INIT_ZERO, 0};

struct bench {
    struct device *device;
    struct slot_store *store;
    struct graph *graph;
    struct plan *plan;
};

// y = a b in bf16 (64 x 64 by 64 x 64), then y + y, then a copy into a slot.
static int setup(void **state)
{
    struct bench *b = zalloc(sizeof *b);
    assert_int_equal(device_open("null", 0, &b->device), 0);
    b->store = slot_store_new();
    struct graph *g = b->graph = graph_new(b->store, "test");
    int a = graph_state(g, "a", SHAPE(64, 64), BF16, MEMORY_STATE, ZERO);
    int out = graph_state(g, "out", SHAPE(64, 64), BF16, MEMORY_STATE, ZERO);
    graph_scope(g, "product");
    int y = g_matmul(g, a, false, a, false, BF16);
    graph_scope(g, "sum");
    y = g_add(g, g_add(g, y, a), a);
    graph_node_over(g, OP_ASSIGN, (int[]){out, y}, 2, NULL, &out, NULL);
    assert_int_equal(plan_new(g, b->device, &b->plan), 0);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    plan_free(b->plan);
    graph_free(b->graph);
    slot_store_free(b->store);
    device_close(b->device);
    free(b);
    return 0;
}

static const double FLOPS = 2.0 * 64 * 64 * 64, BYTES = 2.0 * 64 * 64;

static void near(double got, double want)
{
    assert_true(got >= want * (1 - 1e-9) && got <= want * (1 + 1e-9));
}

// The larger of arithmetic and traffic counts, at the rate of the type that is multiplied.
TEST_WITH(test_bounds, setup, teardown)
{
    const struct bench *b = *state;
    struct device_facts f = {.peak_flops = {[F32] = FLOPS, [BF16] = 4 * FLOPS}, .peak_bytes = 100 * BYTES};
    struct roofline r;
    assert_int_equal(roofline_dtype(b->graph, &b->graph->node[0]), BF16);
    roofline_of(b->plan, &f, ROOFLINE_OPERATORS, NULL, &r);
    assert_int_equal(r.rows, 3);
    assert_string_equal(r.row[0].name, "matmul");  // 0.25 s of arithmetic against 0.03 s of traffic
    near(r.row[0].seconds, 0.25);
    near(r.row[0].moving, 0.03);
    assert_string_equal(r.row[1].name, "add");  // two nodes of three matrices each
    assert_int_equal(r.row[1].nodes, 2);
    near(r.row[1].moving, 0.06);
    near(r.row[1].seconds, r.row[1].moving);
    near(r.all.seconds, r.row[0].seconds + r.row[1].seconds + r.row[2].seconds);
    near(roofline_seconds(b->plan, &f), r.all.seconds);
    roofline_free(&r);

    f.peak_bytes = BYTES;  // a slow memory: now every node is bound by it
    roofline_of(b->plan, &f, ROOFLINE_OPERATORS, NULL, &r);
    assert_string_equal(r.row[0].name, "add");
    near(r.row[1].seconds, 3);
    roofline_free(&r);

    f.peak_flops[BF16] = 0;  // not measured: f32's rate stands in
    f.peak_bytes = 0;
    roofline_of(b->plan, &f, ROOFLINE_NODES, NULL, &r);
    assert_int_equal(r.rows, 4);
    near(r.row[0].seconds, 1);
    assert_string_equal(r.row[0].scope, "product");
    roofline_free(&r);
}

// Without peaks there is no bound, and rows are sorted by FLOPs.
TEST_WITH(test_unknown_peaks, setup, teardown)
{
    const struct bench *b = *state;
    struct device_facts none = {0};
    struct roofline r;
    roofline_of(b->plan, &none, ROOFLINE_OPERATORS, NULL, &r);
    assert_true(r.all.seconds == 0 && r.all.flops >= FLOPS);
    assert_string_equal(r.row[0].name, "matmul");
    struct text t = {0};
    roofline_text(&r, &t);
    assert_null(strstr(t.at, "nan"));
    assert_null(strstr(t.at, "inf"));
    assert_null(strchr(t.at, '%'));
    text_free(&t);
    roofline_free(&r);
}

TEST_WITH(test_profile, setup, teardown)
{
    const struct bench *b = *state;
    struct device_facts f = {.peak_flops = {[F32] = FLOPS}, .peak_bytes = BYTES};
    const int64_t ns[] = {1000000000, 500000000, 250000000, 4000000000};
    struct roofline r;
    roofline_of(b->plan, &f, ROOFLINE_OPERATORS, ns, &r);
    assert_string_equal(r.row[0].name, "assign");  // dearest by measured time
    near(r.row[0].measured, 4);
    near(r.row[2].measured, 0.75);
    near(r.all.measured, 5.75);

    double flops = r.all.flops, seconds = r.all.seconds;
    roofline_shorten(&r, 2);
    assert_int_equal(r.rows, 2);
    assert_string_equal(r.row[1].name, "others");
    assert_int_equal(r.row[1].nodes, 3);
    near(r.row[0].measured + r.row[1].measured, 5.75);
    near(r.row[0].flops + r.row[1].flops, flops);
    near(r.row[0].seconds + r.row[1].seconds, seconds);

    json_t *rows = roofline_json(&r);
    assert_int_equal(json_array_size(rows), 2);
    near(json_real_value(json_object_get(json_array_get(rows, 0), "measured_s")), 4);
    json_decref(rows);

    struct text t = {0};
    roofline_text(&r, &t);
    assert_non_null(strstr(t.at, "69.6%"));  // 4 of 5.75
    for (char *line = t.at, *end; (end = strchr(line, '\n')); line = end + 1) assert_true(end - line <= 80);
    text_free(&t);
    r.row[0].seconds = r.row[1].seconds = 1;
    roofline_text(&r, &t);
    assert_null(strstr(t.at, "faster"));
    text_free(&t);
    r.row[0].seconds = 5;  // a bound above the 4 s that were measured
    roofline_text(&r, &t);
    assert_non_null(strstr(t.at, "  1 row is faster than the roofline."));
    for (char *line = t.at, *end; (end = strchr(line, '\n')); line = end + 1) assert_true(end - line <= 80);
    text_free(&t);
    roofline_free(&r);
}

TEST(test_span)
{
    char into[TEXT_FIGURE];
    assert_string_equal(roofline_span(into, 0), "-");
    assert_string_equal(roofline_span(into, 1.574), "1.58 s");
    assert_string_equal(roofline_span(into, 21.5), "21.5 s");
    assert_string_equal(roofline_span(into, 0.85), "850 ms");
}

// ---- a whole schedule

static struct trainer *planned(struct device *device, struct dataset *data, const char *const *set)
{
    struct trainer_choice choice = {.data = data, .device = device, .fuse = FUSE_ALL};
    struct trainer *t = NULL;
    assert_int_equal(task_find("cifar10", &choice.task), 0);
    assert_int_equal(recipe_embedded("synthetic", &choice.recipe), 0);
    for (; *set; set++) assert_int_equal(recipe_set(&choice.recipe, *set), 0);
    assert_int_equal(trainer_new(&choice, &t), 0);
    return t;
}

TEST(test_forecast)
{
    struct device *device;
    struct dataset *data;
    assert_int_equal(device_open("null", 0, &device), 0);
    assert_int_equal(dataset_open_synthetic(1000, 150, &data), 0);
    const char *set[] = {"batch=100",        "epochs=4",        "resolution=16,32", "whiten_bias_epochs=1",
                         "evaluate_every=2", "evaluate_from=0", "widths=8,8,8",     "renormalise=never", NULL};
    struct trainer *t = planned(device, data, set);
    struct device_facts f = {.peak_flops = {[F32] = 1e9}, .peak_bytes = 1e9};
    struct forecast c;
    forecast_of(t, &f, &c);
    assert_int_equal(c.variants, 3);  // 16 with the first layer, 16 without, 32
    assert_int_equal(c.variant[0].steps, 10);
    assert_int_equal(c.variant[0].side, 16);
    assert_int_equal(c.variant[1].steps, 10);
    assert_int_equal(c.variant[2].steps, 20);
    assert_int_equal(c.variant[2].side, 32);
    assert_int_equal(c.full, 2);
    assert_true(c.variant[0].flops > c.variant[1].flops);
    assert_true(c.variant[2].flops > 3 * c.variant[1].flops && c.variant[2].bytes > c.variant[1].bytes);
    assert_int_equal(c.evaluations, 2);  // after epochs 2 and 4
    double training = 10 * c.variant[0].seconds + 10 * c.variant[1].seconds + 20 * c.variant[2].seconds;
    near(c.training_seconds, training);
    near(c.seconds, training + 2 * c.evaluation_seconds);
    assert_int_equal(t->evaluation.programs, 1);  // 150 images fit one batch
    double flops = 10 * c.variant[0].flops + 10 * c.variant[1].flops + 20 * c.variant[2].flops;
    near(c.flops, flops + 2 * c.evaluation_flops);
    assert_true(c.evaluation_flops >= 150 * trainer_forward_flops(t));

    // A host that makes one sample per second: a batch takes 100 seconds, the test split 150.
    near(forecast_appetite(&c), 100 / fmin(fmin(c.variant[0].seconds, c.variant[1].seconds), c.variant[2].seconds));
    forecast_feed(&c, 1e12, 150);
    near(c.seconds, training + 2 * c.evaluation_seconds);
    forecast_feed(&c, 1, 150);
    assert_true(c.variant[0].seconds == 100 && c.evaluation_seconds == 150);
    near(c.seconds, 40 * 100 + 2 * 150);

    size_t sum = 0;
    for (int i = 0; i < MEMORY_CLASSES; i++) sum += t->session->memory[i];
    assert_int_equal(sum, t->session->memory_total);
    trainer_free(t);
    dataset_close(data);
    device_close(device);
}

TEST(test_evaluation_rest)
{
    struct device *device;
    struct dataset *whole, *rest;
    assert_int_equal(device_open("null", 0, &device), 0);
    assert_int_equal(dataset_open_synthetic(1000, 1000, &whole), 0);
    assert_int_equal(dataset_open_synthetic(1000, 1500, &rest), 0);
    const char *set[] = {"widths=8,8,8", "evaluate_every=0", NULL};
    struct trainer *a = planned(device, whole, set), *b = planned(device, rest, set);
    struct device_facts none = {0};
    struct forecast one, more;
    forecast_of(a, &none, &one);
    forecast_of(b, &none, &more);
    assert_int_equal(one.evaluations, 1);
    assert_int_equal(b->evaluation.programs, 2);
    double ratio = more.evaluation_flops / one.evaluation_flops;
    assert_true(ratio > 1.49 && ratio < 1.51);
    trainer_free(a);
    trainer_free(b);
    dataset_close(whole);
    dataset_close(rest);
    device_close(device);
}

// Of a GPU that is not here the peaks are known, and what the exchange of gradients costs.
TEST(test_gpus)
{
    const struct gpu *gpu;
    struct device_facts f;
    assert_int_equal(gpu_find("h200", &gpu), 0);
    gpu_facts(gpu, &f);
    assert_true(f.peak_flops[F16] == 790e12 && f.peak_bytes == 4.3e12 && f.fast[BF16] && !f.fast[F32]);
    assert_int_equal(f.memory >> 30, 140);
    assert_true(gpu_exchange_seconds(gpu, 1, 1e9) == 0);
    near(gpu_exchange_seconds(gpu, 2, 450e9), 1);
    near(gpu_exchange_seconds(gpu, 8, 450e9), 1.75);
    assert_int_equal(gpu_find("h20", &gpu), ERR_USAGE);
    const char *const names[] = {"A100", "H100", "h200", "L4", "V100"};
    const double rates[] = {312e12, 989.5e12, 790e12, 121e12, 125e12};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(gpu_find(names[i], &gpu), 0);
        gpu_facts(gpu, &f);
        near(f.peak_flops[F16] / rates[i], 1);
        assert_true(f.fast[F16] && f.fast[BF16] == (i < 4) && f.peak_bytes >= 0.3e12 && f.memory >= (size_t)16 << 30 >> 1);
    }
}

// ---- timing

static void fits(double step, double budget, int64_t ignored, int64_t timed, int64_t repeats, bool whole)
{
    struct protocol p = protocol_fit(step, budget, 7);
    assert_int_equal(p.ignored, ignored);
    assert_int_equal(p.timed, timed);
    assert_int_equal(p.repeats, repeats);
    assert_int_equal(p.whole, whole);
}

TEST(test_protocol)
{
    fits(0.01, 60, 20, 100, 7, true);    // 7.2 s
    fits(0.0625, 45, 20, 100, 7, true);  // exactly 720 steps
    fits(0.0625, 44.9, 20, 99, 7, false);
    fits(0.5, 60, 12, 15, 7, false);  // 120 steps
    fits(3, 60, 2, 2, 7, false);      // 20 steps: 18 left, 14 of them timed
    fits(10, 60, 1, 1, 5, false);     // 6 steps
    fits(100, 60, 1, 1, 1, false);    // slower than the budget: one of each all the same
}

TEST(test_spread)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 3};
    struct spread s = protocol_spread(odd, 3);
    assert_true(s.median == 2 && s.low == 1 && s.high == 3);
    assert_true(protocol_spread(even, 4).median == 2.5);
}
