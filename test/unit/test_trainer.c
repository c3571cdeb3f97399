// SPDX-License-Identifier: Apache-2.0
// The training made ready: schedules, epochs, evaluation, lookahead, and that it learns.
#include "runtime/fuse.h"
#include "tasks/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

struct bench {
    struct device *device;
    struct dataset *data;
    struct trainer *trainer;
    struct trainer_choice choice;
};

static void prepare(struct bench *b, int64_t train, int64_t test, const char *const *settings)
{
    *b = (struct bench){.choice = {.fuse = FUSE_ALL}};
    assert_int_equal(task_find("cifar10", &b->choice.task), 0);
    assert_int_equal(recipe_embedded("synthetic", &b->choice.recipe), 0);
    for (int i = 0; settings[i]; i++) assert_int_equal(recipe_set(&b->choice.recipe, settings[i]), 0);
    assert_int_equal(device_open("cpu", 2, &b->device), 0);
    assert_int_equal(dataset_open_synthetic(train, test, &b->data), 0);
    b->choice.data = b->data;
    b->choice.device = b->device;
}

static void start(struct bench *b, uint64_t seed)
{
    assert_int_equal(trainer_new(&b->choice, &b->trainer), 0);
    assert_int_equal(trainer_ready(b->trainer), 0);
    assert_int_equal(trainer_load(b->trainer), 0);
    assert_int_equal(trainer_begin(b->trainer, seed), 0);
}

static void finish(struct bench *b)
{
    trainer_free(b->trainer);
    dataset_close(b->data);
    device_close(b->device);
}

static void learns(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b, 1000, 300, (const char *const[]){"batch=50", "epochs=3", "widths=16,32,32", NULL});
    start(&b, 1);
    struct trainer_sums first = {0}, last = {0};
    int64_t correct = 0;
    while (b.trainer->at < b.trainer->steps) {
        assert_int_equal(trainer_step(b.trainer), 0);
        if (b.trainer->at == b.trainer->steps_an_epoch) assert_int_equal(trainer_sums(b.trainer, true, &first), 0);
        if (b.trainer->at == 2 * b.trainer->steps_an_epoch) assert_int_equal(trainer_sums(b.trainer, true, &last), 0);
    }
    assert_int_equal(trainer_sums(b.trainer, true, &last), 0);
    assert_true(last.loss < 0.8 * first.loss);
    assert_true(last.correct > first.correct);
    assert_int_equal(trainer_evaluate(b.trainer, &correct), 0);
    assert_in_range(correct, 300 * 6 / 10, 300);  // ten classes: chance is 30
    finish(&b);
}

// 10 images more than whole batches: the rest has its own program, and every image counts once.
static void evaluates_every_image_once(void **state)
{
    (void)state;
    struct bench a, b;
    int64_t whole, again, parts;
    prepare(&a, 500, 1010, (const char *const[]){"batch=50", "epochs=1", "widths=16,16,16", "precision=f32", "views=1", NULL});
    start(&a, 3);
    assert_int_not_equal(a.trainer->evaluate_rest, NONE);
    assert_int_equal(trainer_step(a.trainer), 0);
    assert_int_equal(trainer_evaluate(a.trainer, &whole), 0);
    assert_int_equal(trainer_evaluate(a.trainer, &again), 0);
    assert_int_equal(whole, again);
    finish(&a);
    prepare(&b, 500, 1000, (const char *const[]){"batch=50", "epochs=1", "widths=16,16,16", "precision=f32", "views=1", NULL});
    start(&b, 3);
    assert_int_equal(trainer_step(b.trainer), 0);
    assert_int_equal(trainer_evaluate(b.trainer, &parts), 0);
    assert_in_range(whole - parts, 0, 10);  // image i of the test set is the same in both
    finish(&b);
}

static float slot_value(struct trainer *t, const char *name, int64_t i)
{
    struct slot *slot = store_find(t->session->store, name);
    assert_non_null(slot);
    float *x = zalloc(slot_bytes(slot)), v;
    assert_int_equal(session_get(t->session, name, x, slot_bytes(slot)), 0);
    v = x[i];
    free(x);
    return v;
}

static void schedule_rises_and_falls(void **state)
{
    (void)state;
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
    finish(&b);
}

// After a pull the weights are the average.
static void lookahead_pulls(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "lookahead_every=2",
                                                "lookahead_before=4", "lookahead_decay=0.7", NULL});
    start(&b, 1);
    struct trainer *t = b.trainer;
    while (t->at < 17) assert_int_equal(trainer_step(t), 0);  // decay ends at 20, the average begins after step 16
    float average = slot_value(t, "ema.head.weight", 5), weight = slot_value(t, "head.weight", 5);
    assert_float_equal(average, weight, 0);
    assert_int_equal(trainer_step(t), 0);
    assert_float_equal(slot_value(t, "ema.head.weight", 5), average, 0);
    assert_true(slot_value(t, "head.weight", 5) != weight);
    assert_int_equal(trainer_step(t), 0);
    assert_float_equal(slot_value(t, "ema.head.weight", 5), slot_value(t, "head.weight", 5), 0);
    assert_true(slot_value(t, "head.weight", 5) != weight);
    finish(&b);
}

// A schedule that ends before the average would begin: it begins with the first step instead.
static void lookahead_on_a_short_schedule(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=0.4", "widths=16,16,16", "lookahead_every=2",
                                                "lookahead_before=8", "lookahead_decay=0.7", NULL});
    start(&b, 1);
    float before = slot_value(b.trainer, "head.weight", 5);
    while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
    assert_true(fabsf(slot_value(b.trainer, "head.weight", 5)) > 0.6f * fabsf(before));  // not pulled to an empty average
    finish(&b);
}

static void resolutions_share_weights(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=50", "epochs=2", "widths=16,16,16", "resolution=24,28,32",
                                                "whiten_bias_epochs=0.5", NULL});
    start(&b, 1);
    assert_int_not_equal(b.trainer->program[0], b.trainer->program[6]);   // the first layer stops training
    assert_int_not_equal(b.trainer->program[6], b.trainer->program[7]);   // 24 -> 28
    assert_int_not_equal(b.trainer->program[7], b.trainer->program[19]);  // 28 -> 32
    while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
    struct trainer_sums sums;
    assert_int_equal(trainer_sums(b.trainer, true, &sums), 0);
    assert_true(isfinite(sums.loss));
    finish(&b);
}

static void too_large_a_batch_is_said(void **state)
{
    (void)state;
    struct bench b;
    prepare(&b, 500, 100, (const char *const[]){"batch=501", NULL});
    assert_int_equal(trainer_new(&b.choice, &b.trainer), ERR_USAGE);
    assert_non_null(strstr(error_text(), "501"));
    b.trainer = NULL;
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns),
        cmocka_unit_test(evaluates_every_image_once),
        cmocka_unit_test(schedule_rises_and_falls),
        cmocka_unit_test(lookahead_pulls),
        cmocka_unit_test(lookahead_on_a_short_schedule),
        cmocka_unit_test(resolutions_share_weights),
        cmocka_unit_test(too_large_a_batch_is_said),
    };
    return cmocka_run_group_tests_name("trainer", tests, NULL, NULL);
}
