// SPDX-License-Identifier: Apache-2.0
// The checks on several metrics, steps, recipes, work by parts, trainings that were resumed.

#include "test/unit/submit/fixture_findings.h"

static void expect_nothing(json_t *run)
{
    fixture_chain(run);
    struct findings f = findings_at(run, FIXTURE_NOW_MS);
    if (f.count > 0) fail_msg("%s: %s", check_code(f.at[0].check), f.at[0].text);
}

static void expect(json_t *run, enum check check, const char *words)
{
    struct findings f = findings_at(run, FIXTURE_NOW_MS);
    for (int i = 0; i < f.count; i++)
        if (f.at[i].check == check && strstr(f.at[i].text, words) != NULL) return;
    fail_msg("no %s with \"%s\", but %s", check_code(check), words, f.count > 0 ? f.at[0].text : "nothing");
}

static json_t *score_at(json_t *run, size_t point, size_t metric)
{
    return json_array_get(json_object_get(fixture_item(run, "points", point), "scores"), metric);
}

TEST(good_runs_pass)
{
    expect_nothing(fixture_run());
    json_t *run = fixture_run();
    for (size_t i = 0; i < 5; i++) json_object_del(fixture_item(run, "points", i), "scores");  // evaluated in its second half
    fixture_follow(run);
    expect_nothing(run);
    run = fixture_run();
    json_object_set_new(score_at(run, 3, 1), "score", json_integer(-7));  // a value may be anything
    fixture_chain(run);
    expect_nothing(run);
}

TEST(the_recipe_is_the_one_of_its_digest)
{
    json_t *run = fixture_run();
    fixture_set(run, "recipe.text", json_string("{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":9}}"));
    fixture_chain(run);
    expect(run, CHECK_CHAIN, "but its text has");
}

// Another parser may read each of these as the schedule of a shorter training.
TEST(a_recipe_that_hides_its_schedule_is_refused)
{
    static const char *const texts[] = {
        "", "x", "[]", "{}", "10", "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":NaN}}",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"Epochs\":10}}",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":\"10\"}}",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10,\"epochs\":9}}",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":1e999}}",
        "{\"data\":{\"batch\":99999999999999999999},\"schedule\":{\"epochs\":10}}", "{\"schedule\":{\"epochs\":10}}",
        "{\"batch\":1000,\"epochs\":10}", "{\"data.batch\":1000,\"schedule.epochs\":10}",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}} x",
        "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *run = fixture_run();
        fixture_recipe(run, texts[i]);
        fixture_chain(run);
        expect(run, CHECK_RECIPE, "its text is no JSON, or lacks");
    }
    json_t *run = fixture_run();  // the command of another program
    fixture_edit(run, "'evaluated_by': 'self', 'division': 'open'");
    fixture_recipe(run, "python3 train.py");
    fixture_chain(run);
    struct findings f = findings_at(run, FIXTURE_NOW_MS);
    for (int i = 0; i < f.count; i++) assert_true(f.at[i].check != CHECK_RECIPE);
}

TEST(the_closed_division_takes_published_recipes)
{
    json_t *run = fixture_run();
    fixture_set(run, "recipe.published", json_integer(0));
    fixture_chain(run);
    expect(run, CHECK_DIVISION, "is not a published one");
    run = fixture_run();
    fixture_edit(run, "'recipe.published': 0, 'division': 'open'");
    fixture_chain(run);
    expect_nothing(run);
}

TEST(the_closed_division_takes_no_files)
{
    json_t *run = fixture_run();
    fixture_set(run, "files", json_pack("[{s:s, s:s, s:s, s:i}]", "kind", "weights", "name", "a.safetensors", "digest",
                                        FIXTURE_HEX, "bytes", 7));
    expect(run, CHECK_DIVISION, "took files");
}

TEST(wrong_scores_are_refused)
{
    json_t *run = fixture_run();
    json_object_set_new(score_at(run, 4, 0), "score", json_integer(10001));
    fixture_follow(run);
    expect(run, CHECK_SCORE, "point 4, step 250: 10001 correct of 10000 items");
    run = fixture_run();
    json_object_set_new(score_at(run, 4, 0), "score", json_integer(-1));
    fixture_follow(run);
    expect(run, CHECK_SCORE, "-1 correct");
    run = fixture_run();
    json_object_set_new(score_at(run, 4, 1), "metric", json_string("accuracy"));
    fixture_follow(run);
    expect(run, CHECK_SCORE, "point 4, step 250: its scores do not match");
    run = fixture_run();
    json_object_set_new(score_at(run, 4, 1), "metric", json_string("top1"));  // two for one
    fixture_follow(run);
    expect(run, CHECK_SCORE, "its scores do not match");
    run = fixture_run();
    json_object_set_new(fixture_item(run, "metrics", 1), "name", json_string("top1"));
    fixture_follow(run);
    expect(run, CHECK_SCORE, "named twice");
    run = fixture_run();
    json_object_set_new(score_at(run, 4, 1), "score", json_integer(1));  // the hashes are as they were
    expect(run, CHECK_CHAIN, "point 4, step 250: its hash is");
    run = fixture_run();
    json_object_set_new(fixture_item(run, "metrics", 1), "unit", json_string("nats"));
    expect(run, CHECK_CHAIN, "the root is");
}

TEST(steps_and_epochs_grow)
{
    static const struct {
        const char *name;
        int64_t value;
    } cases[] = {{"step", 100}, {"epoch_micro", 1999999}, {"stall_ns", 0}, {"samples", 99999}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = fixture_run();
        json_object_set_new(fixture_item(run, "points", 2), cases[i].name, json_integer(cases[i].value));
        fixture_follow(run);
        expect(run, CHECK_EPOCH_ORDER, "point 2: step");
    }
    json_t *run = fixture_run();
    json_object_set_new(fixture_item(run, "points", 9), "stall_ns", json_integer((int64_t)1 << 50));  // longer than the run
    fixture_follow(run);
    expect(run, CHECK_EPOCH_ORDER, "point 9: step");
    run = fixture_run();
    fixture_set(run, "reached.step", json_integer(1));
    expect(run, CHECK_CROSSING, "has step 450, but 1 is claimed");
    run = fixture_run();
    fixture_set(run, "reached.epoch_micro", json_integer(1));
    expect(run, CHECK_CROSSING, "has epoch_micro 9000000, but 1 is claimed");
}

TEST(the_metric_is_that_of_the_board)
{
    json_t *run = fixture_run();
    json_array_append(json_object_get(run, "metrics"), fixture_item(run, "metrics", 0));
    json_array_remove(json_object_get(run, "metrics"), 0);  // the loss is first now
    fixture_follow(run);
    fixture_rules(run);
    expect(run, CHECK_TASK, "cifar10 is measured as top1, not as log_loss");
    run = fixture_run();
    json_object_set_new(fixture_item(run, "metrics", 0), "lower_is_better", json_integer(1));
    fixture_follow(run);
    fixture_rules(run);
    expect(run, CHECK_TASK, "measured as top1");
    run = fixture_run();
    json_object_set_new(fixture_item(run, "metrics", 0), "items", json_integer(0));
    fixture_follow(run);
    fixture_rules(run);
    expect(run, CHECK_TASK, "measured over 10000 items");
    run = fixture_run();
    fixture_set(run, "target_micro", json_integer(94000000));  // of a count, a slip; of a value, it could be
    fixture_follow(run);
    fixture_rules(run);
    expect(run, CHECK_SCALE, "above 100%");
}

// Only a count can look like a percentage.
TEST(values_have_no_scale)
{
    json_t *run = fixture_run(), *point;
    size_t i;
    fixture_edit(run, "'task': 'squad', 'evaluated_by': 'self', 'division': 'open', 'official': 0");
    fixture_set(run, "data", json_array());
    fixture_set(run, "latencies", json_array());
    fixture_set(run, "target_micro", json_integer(750000));
    json_object_set_new(fixture_item(run, "metrics", 0), "name", json_string("f1"));
    json_object_set_new(fixture_item(run, "metrics", 0), "unit", json_string(""));
    json_object_set_new(fixture_item(run, "metrics", 0), "items", json_integer(0));
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        json_object_set_new(score_at(run, i, 0), "metric", json_string("f1"));
        json_object_set_new(score_at(run, i, 0), "score", json_integer(i < 9 ? 76 : 761234));
    }
    fixture_follow(run);
    fixture_rules(run);
    struct findings f = findings_at(run, FIXTURE_NOW_MS);
    for (int n = 0; n < f.count; n++)
        if (f.at[n].check != CHECK_SELF) fail_msg("%s: %s", check_code(f.at[n].check), f.at[n].text);
}

// On data that the program drew, where a model may be of any size.
static void model_of_no_recipe(json_t *run)
{
    fixture_edit(run, "'synthetic': 1, 'official': 0");
    fixture_set(run, "latencies", json_array());
    fixture_set(run, "model.flops_per_sample", json_integer(0));
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(fixture_item(run, "data", i), "synthetic", json_integer(1));
        json_object_set_new(fixture_item(run, "data", i), "official", json_integer(0));
    }
}

// Two parts: the first at a quarter of the arithmetic of the second.
static json_t *with_work(int64_t flops)
{
    json_t *run = fixture_run();
    fixture_set(run, "work", json_pack("[{s:i, s:I}, {s:i, s:I}]", "samples", 250000, "flops_per_sample", (json_int_t)flops / 4,
                                       "samples", 250000, "flops_per_sample", (json_int_t)flops));
    return run;
}

static void set_bounds(json_t *run, int64_t least, int64_t most)
{
    fixture_set(run, "step_least", json_integer(least));
    fixture_set(run, "step_most", json_integer(most));
}

// A run on drawn data whose steps have 900 to 1,100 samples, `more` than 1,000 on average up to its fourth point.
static json_t *with_bounds(int64_t least, int64_t most, int64_t more)
{
    json_t *run = with_work(600000000), *point = fixture_item(run, "points", 3);
    model_of_no_recipe(run);
    if (most > 0) set_bounds(run, least, most);
    json_object_set_new(point, "samples", json_integer(canonical_int(point, "samples") + more));
    return run;
}

// Samples of a step stay within what the run declares, from point to point, and only some tasks may declare anything.
TEST(steps_keep_their_bounds)
{
    static const char words[] = "do not follow from";
    expect_nothing(with_bounds(0, 0, 0));
    expect(with_bounds(0, 0, 1), CHECK_WORK, words);
    expect_nothing(with_bounds(900, 1100, 1));
    expect_nothing(with_bounds(900, 1100, -5000));
    expect(with_bounds(900, 1100, -5001), CHECK_WORK, words);  // 50 steps per epoch
    expect(with_bounds(1000, 1100, -1), CHECK_WORK, words);
    expect(with_bounds(900, 1000, 1), CHECK_WORK, words);
    expect(with_bounds(900, 1010, 501), CHECK_WORK, words);
    expect(with_bounds(1001, 1000, 0), CHECK_WORK, "at least 1001");
    json_t *run = fixture_run();
    set_bounds(run, 1000, 1000);
    expect(run, CHECK_WORK, "every step of this task has its batch");
    run = fixture_run();
    fixture_set(run, "step_least", json_integer(1));
    expect(run, CHECK_WORK, "every step of this task has its batch");
}

// An epoch of Multi30k, whose 32 buckets leave samples over: 234 steps of 32 to 256.
static json_t *of_buckets(int64_t each)
{
    json_t *run = with_work(600000000);
    model_of_no_recipe(run);
    set_bounds(run, 32, 256);
    fixture_recipe(run, "{\"data\":{\"batch\":128},\"schedule\":{\"epochs\":10}}");
    fixture_set(run, "batch", json_integer(128));
    json_object_set_new(fixture_item(run, "data", 0), "items", json_integer(29000));
    for (int64_t i = 1; i <= FIXTURE_EPOCHS; i++) {
        json_object_set_new(fixture_item(run, "points", (size_t)i - 1), "step", json_integer(234 * i));
        json_object_set_new(fixture_item(run, "points", (size_t)i - 1), "samples", json_integer(each * i));
    }
    fixture_follow(run);
    return run;
}

TEST(buckets_leave_samples_over)
{
    expect_nothing(of_buckets(26856));  // as it was in a real run
    expect_nothing(of_buckets(29000));
    expect(of_buckets(25000), CHECK_WORK, "do not follow from");
}

TEST(work_comes_by_parts)
{
    expect_nothing(with_work(600000000));
    expect(with_work((int64_t)1 << 40), CHECK_SPEED, "of the stated hardware");
    expect(with_work(6000000), CHECK_SPEED_UNKNOWN, "its schedule");  // too little for its model
    json_t *padded = with_work(6000000);  // and a dear part that is never trained does not help
    json_object_set_new(fixture_item(padded, "work", 0), "samples", json_integer(500000));
    json_object_set_new(fixture_item(padded, "work", 1), "flops_per_sample", json_integer((json_int_t)1 << 40));
    expect(padded, CHECK_SPEED_UNKNOWN, "its schedule");
    json_t *run = with_work(600000000);
    model_of_no_recipe(run);  // the parts are all there is to know
    expect_nothing(run);
    run = fixture_run();
    model_of_no_recipe(run);
    expect(run, CHECK_SPEED_UNKNOWN, "is not known");
}

// Away: in the end-to-end clock, in no other.
TEST(a_resumed_training_was_away)
{
    const int64_t away = 3600000000000;
    for (int honest = 0; honest < 2; honest++) {
        json_t *run = fixture_run(), *segments = json_object_get(run, "segments"), *p;
        size_t i, at = 5;  // after the first point's checkpoint
        int64_t from = canonical_int(json_array_get(segments, at - 1), "end_ns");
        for (i = at; i < json_array_size(segments); i++) {
            json_t *s = json_array_get(segments, i);
            json_object_set_new(s, "start_ns", json_integer(canonical_int(s, "start_ns") + away));
            json_object_set_new(s, "end_ns", json_integer(canonical_int(s, "end_ns") + away));
        }
        json_array_insert_new(segments, at,
                              json_pack("{s:s, s:I, s:I}", "segment", honest ? "away" : "idle", "start_ns", (json_int_t)from,
                                        "end_ns", (json_int_t)(from + away)));
        json_array_foreach(json_object_get(run, "points"), i, p)
            if (i > 0) json_object_set_new(p, "t_ns", json_integer(canonical_int(p, "t_ns") + away));
        fixture_set(run, "resumed", json_integer(1));
        fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS - 3730000));
        json_object_del(run, "group");  // whose runs cannot be resumed
        fixture_follow(run);
        if (honest) expect_nothing(run);
        else expect(run, CHECK_CLOCKS, "the classic clock says");
    }
}
