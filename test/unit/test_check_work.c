// SPDX-License-Identifier: Apache-2.0
// A forger's list: each is a name, a mutation of a true run, and what has to come of it. The mutations keep the chain, the clocks
// and the crossing right, because a forger would.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "submit/format/check.h"
#include "test/unit/fixture_statement.h"

#include <cmocka.h>

static void point_set(json_t *run, size_t i, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "points", i), name, json_integer(value));
}

static int64_t point_get(json_t *run, size_t i, const char *name)
{
    return canonical_int(fixture_item(run, "points", i), name);
}

static void latency_set(json_t *run, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "latencies", 0), name, json_integer(value));
}

// ---- one run

static void work_no_samples(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", (int64_t)i);
    fixture_follow(run);
}
static void work_few_samples(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", (int64_t)(i + 1) * 1000);
    fixture_follow(run);
}
static void work_many_samples(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", (int64_t)(i + 1) * 50000 + 2);
    fixture_follow(run);
}
static void work_of_a_huge_batch(json_t *run)  // of which an epoch could leave out all
{
    fixture_set(run, "batch", json_integer(6250));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", (int64_t)i + 1);
    fixture_follow(run);
}
static void work_without_training(json_t *run)  // all of its time is the segment "data"
{
    json_t *segments = json_object_get(run, "segments"), *segment;
    size_t s;
    json_array_foreach(segments, s, segment)
        if (strcmp(canonical_text(segment, "segment"), "train") == 0)
            json_object_set_new(segment, "segment", json_string("data"));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        int64_t warm = point_get(run, i, "warm_ns"), both = point_get(run, i, "warm_with_evaluation_ns");
        point_set(run, i, "warm_with_evaluation_ns", both - warm);
        point_set(run, i, "warm_ns", 0);
    }
    fixture_follow(run);
}
static void work_of_one_item(json_t *run)
{
    json_object_set_new(fixture_item(run, "data", 0), "items", json_integer(1));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", (int64_t)i + 1);
    fixture_follow(run);
}
static void recipe_of_small_images(json_t *run)
{
    fixture_set(run, "recipe.text", json_string("{\"batch\":1000,\"epochs\":10,\"resolution\":[1]}"));
}
static void model_small(json_t *run) { fixture_set(run, "model.parameters", json_integer(10)); }
static void model_cheap(json_t *run) { fixture_set(run, "model.flops_per_sample", json_integer(1)); }
static void model_unknown(json_t *run)
{
    fixture_set(run, "division", json_string("open"));
    fixture_set(run, "model.name", json_string("mine"));
}
static void model_cheap_open(json_t *run)
{
    model_cheap(run);
    fixture_set(run, "division", json_string("open"));
}
static void latency_of_a_nanosecond(json_t *run)
{
    static const char *const names[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"};
    for (int i = 0; i < 4; i++) latency_set(run, names[i], 1 + i);
}
static void latency_unknown(json_t *run)
{
    fixture_set(fixture_item(run, "latencies", 0), "hardware.cpu_flags", json_string(""));
}
static void dates_of_no_time(json_t *run)
{
    fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS));
}
static void dates_far_apart(json_t *run)
{
    fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS - (int64_t)86400000));
    fixture_set(run, "group.announced_ms", json_integer(FIXTURE_NOW_MS - (int64_t)86400000));
}
static void dates_latency_before(json_t *run) { latency_set(run, "measured_ms", FIXTURE_NOW_MS - 600000); }

static void price_of_a_bargain(json_t *run)
{
    fixture_set(run, "price.micro_usd_per_hour", json_integer(1));
    fixture_follow(run);
}
static void price_of_another_date(json_t *run)
{
    price_of_a_bargain(run);
    fixture_set(run, "price.date", json_string("2026-11-20"));
}

static const struct {
    enum check check;
    void (*breaks)(json_t *run);
    const char *name;
} forged[] = {
#define CASE(check, breaks) {CHECK_##check, breaks, #breaks}
    CASE(WORK, work_no_samples), CASE(WORK, work_few_samples), CASE(WORK, work_many_samples), CASE(WORK, work_of_a_huge_batch),
    CASE(DATA, work_of_one_item), CASE(SPEED_UNKNOWN, recipe_of_small_images),
    CASE(WORK, work_without_training),
    CASE(DIVISION, model_small), CASE(DIVISION, model_cheap), CASE(SPEED_UNKNOWN, model_unknown),
    CASE(SPEED_UNKNOWN, model_cheap_open), CASE(SPEED, latency_of_a_nanosecond), CASE(SPEED_UNKNOWN, latency_unknown),
    CASE(CLIENT_TIME, dates_of_no_time), CASE(DATES, dates_far_apart), CASE(CLIENT_TIME, dates_latency_before),
    CASE(PRICE, price_of_a_bargain), CASE(PRICE_OLD, price_of_another_date),
};

static void each_forgery_is_found_and_nothing_else(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        struct statement s;
        struct findings f;
        json_t *run = fixture_run();
        forged[i].breaks(run);
        if (statement_make(run, &s) < 0) fail_msg("%s", error_text());
        check_statement(&s, FIXTURE_NOW_MS, &f);
        statement_free(&s);
        if (f.count == 0) wrong++, print_message("%s: nothing was found\n", forged[i].name);
        for (int n = 0; n < f.count; n++)
            if (f.at[n].check != forged[i].check)
                wrong++, print_message("%s: %s: %s\n", forged[i].name, check_code(f.at[n].check), f.at[n].text);
    }
    assert_int_equal(wrong, 0);
}

// ---- runs of a group

// One against another: `spoil` makes the other what it is.
static int mates(void (*spoil)(json_t *other), struct findings *f)
{
    struct statement s;
    json_t *other = fixture_run();
    *f = (struct findings){0};
    assert_int_equal(statement_make(fixture_run(), &s), 0);
    fixture_set(other, "seed", json_integer(8));
    fixture_set(other, "ended_ms", json_integer(FIXTURE_NOW_MS - 200000));
    point_set(other, FIXTURE_EPOCHS - 1, "t_ns", point_get(other, FIXTURE_EPOCHS - 1, "t_ns") + 1);
    spoil(other);
    check_group_mate(&s, other, f);
    check_group_mate(&s, other, f);  // said once
    statement_free(&s);
    json_decref(other);
    return f->count;
}

static void leave_honest(json_t *other) { (void)other; }
static void take_the_seed(json_t *other) { fixture_set(other, "seed", json_integer(7)); }
static void take_the_times(json_t *other)
{
    point_set(other, FIXTURE_EPOCHS - 1, "t_ns", point_get(other, FIXTURE_EPOCHS - 1, "t_ns") - 1);
}
static void end_together(json_t *other) { fixture_set(other, "ended_ms", json_integer(FIXTURE_NOW_MS - 5000)); }
static void end_together_elsewhere(json_t *other)
{
    end_together(other);
    fixture_set(other, "hardware.cpu", json_string("Another CPU"));
}

static void runs_of_a_group_are_runs_of_their_own(void **state)
{
    (void)state;
    struct findings f;
    assert_int_equal(mates(leave_honest, &f), 0);
    assert_int_equal(mates(end_together_elsewhere, &f), 0);
    assert_int_equal(mates(take_the_seed, &f), 1);
    assert_int_equal(f.at[0].check, CHECK_SEED);
    assert_int_equal(mates(take_the_times, &f), 1);
    assert_int_equal(f.at[0].check, CHECK_TWIN);
    assert_int_equal(mates(end_together, &f), 1);
    assert_int_equal(f.at[0].check, CHECK_OVERLAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_forgery_is_found_and_nothing_else),
        cmocka_unit_test(runs_of_a_group_are_runs_of_their_own),
    };
    return cmocka_run_group_tests_name("check_work", tests, NULL, NULL);
}
