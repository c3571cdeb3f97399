// SPDX-License-Identifier: Apache-2.0
// The training made ready: schedules, epochs, evaluation, lookahead, and that it learns.
#include "tasks/common/step/update.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

static void prepare(struct bench *b, int64_t train, int64_t test, const char *const *settings)
{
    bench_open(b, "cpu", 2, train, test, "synthetic", settings);
}

static void start(struct bench *b, uint64_t seed)
{
    bench_ready(b);
    assert_int_equal(trainer_begin(b->trainer, seed), 0);
}

TEST(learns)
{
    struct bench b;
    prepare(&b, 1000, 300, (const char *const[]){"batch=50", "epochs=3", "widths=16,32,32", NULL});
    start(&b, 1);
    struct trainer_sums first = {0}, last = {0};
    int64_t correct[METRICS_MAX];
    while (b.trainer->at < b.trainer->steps) {
        assert_int_equal(trainer_step(b.trainer), 0);
        if (b.trainer->at == b.trainer->steps_per_epoch) assert_int_equal(trainer_sums(b.trainer, true, &first), 0);
        if (b.trainer->at == 2 * b.trainer->steps_per_epoch) assert_int_equal(trainer_sums(b.trainer, true, &last), 0);
    }
    assert_int_equal(trainer_sums(b.trainer, true, &last), 0);
    assert_true(last.loss < 0.8 * first.loss);
    assert_true(last.hits > first.hits);
    assert_int_equal(trainer_evaluate(b.trainer, correct), 0);
    assert_in_range(correct[0], 300 * 6 / 10, 300);  // ten classes: chance is 30
    bench_close(&b);
}

// 10 images more than whole batches: the rest has its own program, and every image counts once.
TEST(evaluates_every_image_once)
{
    struct bench a, b;
    int64_t whole[METRICS_MAX], again[METRICS_MAX], parts[METRICS_MAX];
    prepare(&a, 500, 1010, (const char *const[]){"batch=50", "epochs=1", "widths=16,16,16", "precision=f32", "views=1", NULL});
    start(&a, 3);
    assert_int_equal(a.trainer->evaluation.programs, 2);
    assert_int_equal(trainer_step(a.trainer), 0);
    assert_int_equal(trainer_evaluate(a.trainer, whole), 0);
    assert_int_equal(trainer_evaluate(a.trainer, again), 0);
    assert_int_equal(whole[0], again[0]);
    bench_close(&a);
    prepare(&b, 500, 1000, (const char *const[]){"batch=50", "epochs=1", "widths=16,16,16", "precision=f32", "views=1", NULL});
    start(&b, 3);
    assert_int_equal(trainer_step(b.trainer), 0);
    assert_int_equal(trainer_evaluate(b.trainer, parts), 0);
    assert_in_range(whole[0] - parts[0], 0, 10);  // image i of the test set is the same in both
    bench_close(&b);
}

static int program_of(const struct trainer *t, int64_t step)
{
    return trainer_variant(t, step, 0, 0, 0)->program;
}

static float slot_value(struct trainer *t, const char *name, int64_t i)
{
    struct slot *slot = slot_find(t->session->store, name);
    assert_non_null(slot);
    float *x = zalloc(slot_bytes(slot)), v;
    assert_int_equal(session_get(t->session, name, x, slot_bytes(slot)), 0);
    v = x[i];
    free(x);
    return v;
}

TEST(schedule_rises_and_falls)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=4", "widths=16,16,16", "warmup_epochs=1", "tail_epochs=1",
                                                "lr_floor=0.1", "bias_lr=1", "whiten_bias_epochs=0", NULL});
    start(&b, 1);
    assert_int_equal(b.trainer->steps, 40);
    float at0 = slot_value(b.trainer, "schedule.bias_lr", 0), peak = slot_value(b.trainer, "schedule.bias_lr", 10);
    float later = slot_value(b.trainer, "schedule.bias_lr", 20), end = slot_value(b.trainer, "schedule.bias_lr", 39);
    assert_true(at0 > 0 && at0 < 0.15f);
    assert_float_equal(peak, 1, 1e-6);
    assert_float_equal(later, 0.5, 1e-6);
    assert_float_equal(end, 0.1, 1e-6);
    bench_close(&b);
}

// One step under a norm that is far above changes nothing; under one far below, SGD moves by the rate times that norm.
TEST(clipping_bounds_a_step)
{
    static const char *const clips[] = {"clip=0", "clip=1000000", "clip=0.01"};
    float moved[3];
    for (int i = 0; i < 3; i++) {
        struct bench b;
        prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "optimiser=sgd", "momentum=0",
                                                    "filter_momentum=0", "weight_decay=0", "precision=f32", clips[i], NULL});
        start(&b, 1);
        struct slot *slot = slot_find(b.trainer->session->store, "head.weight");
        int64_t n = shape_count(&slot->shape);
        float *before = zalloc(slot_bytes(slot)), *after = zalloc(slot_bytes(slot));
        assert_int_equal(session_read(b.trainer->session, slot, before, slot_bytes(slot)), 0);
        assert_int_equal(trainer_step(b.trainer), 0);
        assert_int_equal(session_read(b.trainer->session, slot, after, slot_bytes(slot)), 0);
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += ((double)after[j] - before[j]) * ((double)after[j] - before[j]);
        moved[i] = (float)sqrt(sum);
        free(before), free(after);
        bench_close(&b);
    }
    assert_float_equal(moved[0], moved[1], 0);
    assert_true(moved[2] > 0 && moved[2] <= 0.67f * 0.01f * 1.001f);  // the head's rate, and all gradients have norm 0.01
    assert_true(moved[0] > 10 * moved[2]);
}

static uint8_t *weights_now(struct bench *b, size_t *bytes)
{
    const struct slot *slot = slot_find(b->trainer->session->store, "head.weight");
    uint8_t *at = zalloc(*bytes = slot_bytes(slot));
    assert_int_equal(session_read(b->trainer->session, slot, at, *bytes), 0);
    return at;
}

// f16 with a scale that overflows: weights stay until the scale is low enough, and then it learns. f32 has no scale.
TEST(overflow_skips_a_step)
{
    struct bench b;
    struct trainer_scale scale;
    struct trainer_sums sums;
    const char *const rules[] = {"optimiser=muon", "optimiser=adamw"};
    for (int i = 0; i < 2; i++) {
        size_t n;
        bench_open(&b, "cpu", 1, 200, 20, "synthetic",
                   (const char *const[]){"batch=20", "epochs=2", "widths=8,8,8", "resolution=16", "precision=f16",
                                         "loss_scale=16777216", rules[i], i ? "filter_lr=0.01" : "views=1",
                                         i ? "filters.decay=0.1" : "views=1", NULL});
        start(&b, 1);
        do {
            uint8_t *before = weights_now(&b, &n);
            int64_t at = b.trainer->at;
            assert_int_equal(trainer_step(b.trainer), 0);
            assert_int_equal(trainer_scale(b.trainer, &scale), 0);
            uint8_t *after = weights_now(&b, &n);
            assert_int_equal(memcmp(before, after, n) == 0, scale.skipped == at + 1);
            free(before), free(after);
        } while (scale.skipped == b.trainer->at && b.trainer->at < b.trainer->steps);
        assert_true(scale.skipped >= 2 && scale.skipped < b.trainer->at);
        assert_float_equal(scale.scale, ldexp(0x1p24, -(int)scale.skipped), 0);
        while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
        assert_int_equal(trainer_sums(b.trainer, true, &sums), 0);
        assert_true(isfinite(sums.loss));
        bench_close(&b);
    }
    prepare(&b, 200, 20, (const char *const[]){"batch=20", "epochs=1", "widths=8,8,8", "precision=f32", "loss_scale=1024", NULL});
    start(&b, 1);
    assert_int_equal(trainer_scale(b.trainer, &scale), 0);
    assert_true(scale.scale == 0);
    bench_close(&b);
}

// With Adamax one rule updates everything, and its second moment is a maximum.
TEST(adamax_updates_everything)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "optimiser=adamax", "weight_decay=0",
                                                "filter_lr=0.01", "head_lr=0.01", "bias_lr=0.01", "precision=f32", NULL});
    start(&b, 1);
    const struct graph *g = b.trainer->session->plan[program_of(b.trainer, 0)]->graph;
    int updates = 0;
    for (int i = 0; i < g->nodes; i++) {
        assert_int_not_equal(g->node[i].op, OP_MOMENTUM);
        if (g->node[i].op != OP_ADAM) continue;
        assert_true(g->node[i].attr.optim.infinity);
        updates++;
    }
    assert_true(updates > 10);
    float before = slot_value(b.trainer, "head.weight", 0);
    assert_int_equal(trainer_step(b.trainer), 0);
    assert_float_equal(fabsf(slot_value(b.trainer, "head.weight", 0) - before), 0.01, 1e-4);  // the first step is the rate
    bench_close(&b);
}

// After a pull the weights are the average.
TEST(lookahead_pulls)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "lookahead_every=2",
                                                "lookahead_before=4", "lookahead_decay=0.7", NULL});
    start(&b, 1);
    struct trainer *t = b.trainer;
    while (t->at < 16) assert_int_equal(trainer_step(t), 0);  // decay ends at 20, the average begins after 16 steps
    float average = slot_value(t, "ema.head.weight", 5), weight = slot_value(t, "head.weight", 5);
    assert_float_equal(average, weight, 0);
    assert_int_equal(trainer_step(t), 0);
    assert_float_equal(slot_value(t, "ema.head.weight", 5), average, 0);
    assert_true(slot_value(t, "head.weight", 5) != weight);
    assert_int_equal(trainer_step(t), 0);
    assert_float_equal(slot_value(t, "ema.head.weight", 5), slot_value(t, "head.weight", 5), 0);
    assert_true(slot_value(t, "head.weight", 5) != weight);
    while (t->at < t->steps) assert_int_equal(trainer_step(t), 0);  // the last step is followed by a pull
    assert_float_equal(slot_value(t, "ema.head.weight", 5), slot_value(t, "head.weight", 5), 0);
    bench_close(&b);
}

// The renormalisation's progress counts the steps of the decay: E1's, in which 2 + 15 x progress grows beyond 17 in the tail.
TEST(renormalising_follows_the_decay)
{
    struct recipe r;
    assert_int_equal(recipe_embedded("fulcrum-e1", &r), 0);
    struct setting setting = {.recipe = &r, .steps = 284, .steps_per_epoch = 32};
    int64_t last = 0, expected = 0;
    for (int64_t done = 1; done <= 284; done++) {
        bool due = done - expected >= 2 + (int64_t)(15 * ((double)done / 272));
        assert_int_equal(update_renormalises(&setting, done - 1, &last), due);
        if (due) expected = done;
    }
}

// The bias of the whitening layer begins uniformly, as airbench's does: within 1 / sqrt(12), and not at zero.
TEST(the_first_bias_is_drawn)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", NULL});
    start(&b, 1);
    float most = 0, sum = 0;
    for (int i = 0; i < 24; i++) {
        float v = fabsf(slot_value(b.trainer, "whiten.bias", i));
        most = fmaxf(most, v), sum += v;
    }
    assert_true(most > 0.15f && most < 0.28868f && sum / 24 > 0.07f && sum / 24 < 0.22f);
    bench_close(&b);
}

// A schedule that ends before the average would begin: it begins with the first step instead.
TEST(lookahead_on_a_short_schedule)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=0.4", "widths=16,16,16", "lookahead_every=2",
                                                "lookahead_before=8", "lookahead_decay=0.7", NULL});
    start(&b, 1);
    float before = slot_value(b.trainer, "head.weight", 5);
    while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
    assert_true(fabsf(slot_value(b.trainer, "head.weight", 5)) > 0.6f * fabsf(before));  // not pulled to an empty average
    bench_close(&b);
}

TEST(resolutions_share_weights)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "resolution=24,28,32",
                                                "whiten_bias_epochs=0.5", NULL});
    start(&b, 1);
    assert_int_not_equal(program_of(b.trainer, 0), program_of(b.trainer, 6));   // the first layer stops training
    assert_int_not_equal(program_of(b.trainer, 6), program_of(b.trainer, 7));   // 24 -> 28
    assert_int_not_equal(program_of(b.trainer, 7), program_of(b.trainer, 19));  // 28 -> 32
    while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
    struct trainer_sums sums;
    assert_int_equal(trainer_sums(b.trainer, true, &sums), 0);
    assert_true(isfinite(sums.loss));
    bench_close(&b);
}

// Steps that renormalise their filters have programs of their own, in which that is done; the others do nothing of it.
TEST(renormalising_is_a_variant)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "whiten_bias_epochs=0",
                                                "optimiser=muon", "renormalise=seldom", NULL});
    start(&b, 1);
    int seldom = 0, nodes[2] = {0};
    for (int64_t i = 0; i < b.trainer->steps; i++) {
        const struct graph *g = b.trainer->session->graph[program_of(b.trainer, i)];
        bool again = strstr(g->name, "renormalising") != NULL;
        nodes[again] = g->nodes;
        seldom += again;
    }
    assert_int_equal(seldom, 1);  // the 8th: 8 >= 2 + 15 * 8/20; the next would be the 40th of 20
    assert_int_equal(nodes[true] - nodes[false], 12);  // six filters: their norm, and the way there
    bench_close(&b);
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=1", "widths=16,16,16", "whiten_bias_epochs=0",
                                                "optimiser=muon", "renormalise=always", NULL});
    start(&b, 1);
    for (int64_t i = 1; i < b.trainer->steps; i++) assert_int_equal(program_of(b.trainer, i), program_of(b.trainer, 0));
    bench_close(&b);
}

TEST(too_large_a_batch_is_said)
{
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=501", NULL});
    assert_fails(trainer_new(&b.choice, &b.trainer), ERR_USAGE, "501");
    b.trainer = NULL;
    bench_close(&b);
}
