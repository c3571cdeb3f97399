// SPDX-License-Identifier: Apache-2.0
// Schedules of recipes against their formulas.
#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/common/step/rule.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#define OWN(recipe) cifar10_keys(&(recipe))

static int parse(const char *json, struct recipe *r)
{
    return recipe_parse("test.json", json, strlen(json), r);
}

TEST(test_schedule)
{
    struct recipe r;
    OK(parse("{\"schedule\": {\"epochs\": 2.5}, \"data\": {\"resolution\": [24, 28, 32]}}", &r));
    assert_int_equal(recipe_steps(&r, 10), 25);
    assert_int_equal(recipe_steps(&r, 7), 18);  // 17.5: the last part of a step is a step
    OK(recipe_set(&r, "epochs=.3"));
    assert_int_equal(recipe_steps(&r, 10), 3);  // 0.3 x 10 is not 3 in binary
    OK(recipe_set(&r, "epochs=0.01"));
    assert_int_equal(recipe_steps(&r, 1), 1);
    static const int sides[] = {24, 24, 24, 28, 28, 28, 28, 32, 32, 32};
    for (int i = 0; i < 10; i++) assert_int_equal(recipe_side(&r, i, 10, 32), sides[i]);
    OK(recipe_set_all(&r, (const char *const[]){"resolution=24,32", "resolution_parts=1,4"}, 2));
    for (int i = 0; i < 10; i++) assert_int_equal(recipe_side(&r, i, 10, 32), i < 2 ? 24 : 32);
    struct recipe other = r;
    OK(recipe_set(&other, "resolution=24,28,32"));
    REFUSED(recipe_check(&other), "\"data.resolution_parts\" has 2 numbers for the 3 of \"data.resolution\"");
    OK(recipe_set_all(&r, (const char *const[]){"resolution_parts=", "resolution="}, 2));
    assert_int_equal(recipe_side(&r, 3, 10, 32), 32);
}

static double rate_at(const char *json, double step)
{
    struct recipe r;
    OK(parse(json, &r));
    struct schedule s = recipe_rate(&r, 10);
    return schedule_at(&s, step);
}

// 10 steps per epoch, against the formulas as they are published.
TEST(test_shapes_of_the_decay)
{
    static const char steps[] = "{\"model\": {\"name\": \"airbench\"}, \"schedule\": {\"epochs\": 9, \"warmup_epochs\": 1, "
                                "\"shape\": \"step\", \"step\": {\"at\": [3, 6, 20], \"factor\": 0.25}}}";
    static const char exponential[] = "{\"model\": {\"name\": \"airbench\"}, \"schedule\": {\"epochs\": 9, "
                                      "\"shape\": \"exponential\", \"exponential\": {\"factor\": 0.5}, \"lr_floor\": 0.01}}";
    static const char root[] = "{\"model\": {\"name\": \"airbench\"}, \"schedule\": {\"epochs\": 9, \"warmup_epochs\": 2, "
                               "\"shape\": \"inverse-root\"}}";
    for (int i = 0; i < 90; i++) {
        double warm = (1 + i) / 11.0;
        assert_true(fabs(rate_at(steps, i) - (i < 10 ? warm : i < 30 ? 1 : i < 60 ? 0.25 : 0.0625)) < 1e-12);
        assert_true(fabs(rate_at(exponential, i) - fmax(pow(0.5, i / 10.0), 0.01)) < 1e-12);
        assert_true(fabs(rate_at(root, i) - (i < 20 ? (1 + i) / 21.0 : sqrt(20.0 / i))) < 1e-12);
    }
    struct recipe r;
    REFUSED(parse("{\"schedule\": {\"step\": {\"factor\": 0.5}}}", &r),
            "the shape of the decay is linear, not step: \"schedule.step.factor\" does not apply");
    REFUSED(parse("{\"schedule\": {\"shape\": \"step\", \"step\": {\"at\": [6, 3]}}}", &r), "must rise; 3 follows 6");
    REFUSED(parse("{\"optimiser\": {\"rule\": \"sgd\", \"rmsprop\": {\"alpha\": 0.9}}}", &r),
            "the optimiser is sgd, not rmsprop: \"optimiser.rmsprop.alpha\" does not apply");
    REFUSED(parse("{\"optimiser\": {\"rule\": \"sgd\", \"adamw\": {\"beta1\": 0.9}}}", &r), "not adamw, adamax or lamb");
}

// Of 10 steps of warm-up; MLPerf's Mask R-CNN begins with a third of its rate, and its momentum does not look ahead.
TEST(a_warm_up_begins_where_the_recipe_says)
{
    static const char from[] = "{\"model\": {\"name\": \"airbench\"}, \"schedule\": {\"epochs\": 9, \"warmup_epochs\": 1, "
                               "\"warmup_from\": 0.25, \"shape\": \"step\", \"step\": {\"at\": [3]}}}";
    struct recipe r;
    for (int i = 0; i < 30; i++) assert_true(fabs(rate_at(from, i) - (i < 10 ? 0.25 + 0.075 * i : 1)) < 1e-12);
    OK(recipe_embedded("coco-maskrcnn", &r));
    struct setting c = {.recipe = &r, .steps = 9000, .steps_per_epoch = 7330};
    struct rule rule = rule_of_others(&c, "bias", ANY, r.bias_lr);
    assert_true(fabs(schedule_at(&rule.share, 0) - 1.0 / 3) < 1e-6 && !rule.settings.nesterov);
    OK(recipe_set(&r, "optimiser.nesterov=yes"));
    assert_true(rule_of_filters(&c, "filter", ANY).settings.nesterov);
}

// E1's own script: 32 steps per epoch, 284 in all, decay over 272, larger images after whole epochs.
TEST(test_schedule_of_e1)
{
    struct recipe r;
    OK(recipe_embedded("fulcrum-e1", &r));
    assert_int_equal(recipe_steps(&r, 32), 284);
    assert_int_equal(recipe_decay_end(&r, 32), 272);
    assert_int_equal(recipe_whole_steps(OWN(r)->whiten_bias_epochs, 32), 7);
    for (int step = 0; step < 284; step++)
        assert_int_equal(recipe_side(&r, step, 284, 32), step < 96 ? 24 : step < 192 ? 28 : 32);
    struct schedule s = recipe_rate(&r, 32);
    for (int step = 0; step < 284; step++) assert_true(fabs(schedule_at(&s, step) - fmax(1 - step / 272.0, 0.05)) < 1e-12);
    assert_true(r.newton_schulz_norm.at[0] == 1 && r.newton_schulz_norm.at[1] == 1);
}

// The decay goes from 1 to 0, in a line or in half a period of a cosine.
TEST(test_shape)
{
    struct recipe r;
    OK(parse("{\"schedule\": {\"epochs\": 11, \"warmup_epochs\": 1, \"lr_floor\": 0.01}}", &r));
    for (int shape = 0; shape < 2; shape++) {
        if (shape) OK(recipe_set(&r, "schedule.shape=cosine"));
        struct schedule s = recipe_rate(&r, 10);
        for (int step = 10; step <= 110; step++) {
            double x = (step - 10) / 100.0, want = shape ? (1 + cos(M_PI * x)) / 2 : 1 - x;
            assert_true(fabs(schedule_at(&s, step) - fmax(want, 0.01)) < 1e-9);
        }
        assert_true(schedule_at(&s, 0) < 0.1);
    }
    REFUSED(recipe_set(&r, "schedule.shape=round"), "linear, cosine, step, exponential or inverse-root");
}
