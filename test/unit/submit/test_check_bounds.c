// SPDX-License-Identifier: Apache-2.0
// Checks of a statement: whose a latency is, how large a score can be, and which date counts.

#include "submit/client/verify.h"
#include "test/unit/submit/fixture_findings.h"

static void latency_set(json_t *run, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "latencies", 0), name, json_integer(value));
}

// The 1,000 samples that wiki-mlm makes of its 32 articles are evaluated, not 32.
static int64_t evaluates_for(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    return strcmp(name, "evaluate") == 0 ? *ns + (int64_t)i : was;
}
TEST(an_evaluation_has_the_samples_of_its_task)
{
    for (int64_t ns = 1000000000; ns < 4000000000; ns += 2000000000) {
        json_t *run = fixture_run();
        fixture_set(run, "task", json_string("wiki-mlm"));
        fixture_set(fixture_item(run, "data", 1), "items", json_integer(32));
        fixture_retime(run, evaluates_for, &ns);
        assert_int_equal(finds_check(run, CHECK_LEFT_OUT), ns > 1000000000);
    }
}

// A game of minigo-9 has up to 81 moves of its player and 240 evaluations for each.
TEST(an_evaluation_of_games_has_the_passes_of_their_searches)
{
    for (int64_t ns = 4000000000; ns < 500000000000000; ns += 400000000000000) {
        json_t *run = fixture_run();
        fixture_set(run, "task", json_string("minigo-9"));
        fixture_set(fixture_item(run, "data", 1), "items", json_integer(200));
        fixture_retime(run, evaluates_for, &ns);
        const struct findings f = findings_at(run, FIXTURE_NOW_MS);
        bool long_ones = false;
        for (int i = 0; i < f.count && i < FINDINGS_MAX; i++)
            long_ones = long_ones || strstr(f.at[i].text, "its evaluations took") != NULL;
        assert_int_equal(long_ones, ns > 4000000000);
    }
}

// A latency belongs to the weights of its run: it cannot come without them, and cannot score what the run did not.
TEST(a_latency_is_that_of_its_run)
{
    static const int64_t far_below[] = {5000, 9290}, just_below[] = {5000, 9395};
    json_t *run = fixture_run();
    assert_false(finds_check(run, CHECK_ELIGIBLE));
    run = fixture_run();
    json_object_del(json_object_get(run, "model"), "weights_digest");
    assert_true(finds_check(run, CHECK_ELIGIBLE));
    for (int near = 0; near < 2; near++) {
        run = fixture_run();
        fixture_curve(run, near ? just_below : far_below, 2);
        fixture_set(run, "status", json_string("missed"));
        latency_set(run, "k", 9400);
        assert_int_equal(finds_check(run, CHECK_ELIGIBLE), !near);
    }
}

static json_t *run_of_nats(int64_t best, int64_t k)
{
    json_t *run = fixture_run();
    fixture_set(run, "task", json_string("gpt-char"));
    fixture_set(run, "metrics", json_pack("[{s:s, s:s, s:i, s:i}]", "name", "nats", "unit", "nat", "lower_is_better", 1,
                                          "items", 0));
    fixture_set(run, "target_micro", json_integer(1550000));
    json_t *scores = json_pack("[{s:s, s:I}]", "metric", "nats", "score", (json_int_t)best);
    for (size_t p = 0; p < FIXTURE_EPOCHS; p++) fixture_set(fixture_item(run, "points", p), "scores", json_deep_copy(scores));
    json_decref(scores);
    latency_set(run, "items", contest_find("gpt-char")->requests);
    fixture_set(fixture_item(run, "latencies", 0), "data_digest", json_string(contest_find("gpt-char")->test_digest));
    latency_set(run, "k", k);
    return run;
}

// A loss of 2.5 nats is far from one of 1.55, though both are small parts of the 100 nats that there can be.
TEST(a_latency_has_the_loss_of_its_run)
{
    assert_false(finds_check(run_of_nats(1560000, 1550000), CHECK_ELIGIBLE));
    assert_true(finds_check(run_of_nats(1560000, 1540000), CHECK_ELIGIBLE));
    assert_true(finds_check(run_of_nats(2500000, 1550000), CHECK_ELIGIBLE));
    json_t *run = fixture_run();
    fixture_set(fixture_item(run, "latencies", 0), "weights_digest", json_string(contest_find("cifar10")->test_digest));
    assert_true(finds_check(run, CHECK_ELIGIBLE));
}

// An F1 lies between 0 and 1, a BLEU between 0 and 100; training images have a Frechet distance of 0.099. A metric that no board
// has may be anything.
TEST(shares_have_bounds)
{
    static const struct {
        const char *task, *metric, *unit;
        int64_t score;
        bool wild;
    } rows[] = {{"squad", "f1", "", 1000000, false}, {"squad", "f1", "", 1500000, true}, {"squad", "f1", "", -1, true},
                 {"multi30k", "bleu", "BLEU", 41020000, false}, {"multi30k", "bleu", "BLEU", 100000001, true},
                 {"squad", "perplexity", "", 1500000, false}, {"squad", "em", "%", 1000001, true},
                 {"wmt16-gnmt", "bleu", "BLEU", 5000000000, true}, {"wmt17-transformer", "bleu", "BLEU", -1, true},
                 {"multi30k", "greedy", "BLEU", 100000001, true}, {"multi30k", "greedy", "BLEU", 38000000, false},
                 {"wgan-mnist", "fd-lenet84", "FD", 49999, true}, {"wgan-mnist", "fd-lenet84", "FD", 2300000, false},
                 {"wgan-cifar10", "fid", "FD", 499999, true}, {"wgan-cifar10", "fid", "FD", 24800000, false},
                 {"connect4", "mistakes", "%", 1000001, true}, {"connect4", "mistakes", "%", 350000, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *run = fixture_run(), *metric = fixture_item(run, "metrics", 0);
        fixture_set(run, "task", json_string(rows[i].task));
        fixture_set(metric, "name", json_string(rows[i].metric)), fixture_set(metric, "unit", json_string(rows[i].unit));
        fixture_set(metric, "items", json_integer(0));
        for (size_t p = 0; p < json_array_size(json_object_get(run, "points")); p++)
            fixture_set(fixture_item(run, "points", p), "scores",
                        json_pack("[{s:s, s:I}]", "metric", rows[i].metric, "score", (json_int_t)rows[i].score));
        assert_int_equal(finds_check(run, CHECK_SCORE), rows[i].wild);
    }
}

// Where the target is met, pictures that are all nearer to training images, or none, are copies. A bad generator may make any.
TEST(other_metrics_may_have_bounds_where_the_target_is_met)
{
    static const struct {
        int64_t distance, copies;
        bool wild;
    } rows[] = {{2600000, 840000, false}, {2600000, 750000, false}, {2600000, 749999, true}, {2600000, 950001, true},
                {2600000, RUN_SCORE_NONE, false}, {2700000, 0, true}, {2700001, 0, false}, {9000000, 1000000, false},
                {9000000, 1000001, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *run = fixture_run();
        fixture_set(run, "task", json_string("wgan-mnist"));
        fixture_set(run, "target_micro", json_integer(2700000));
        fixture_set(run, "metrics", json_pack("[{s:s, s:s, s:i, s:i}, {s:s, s:s, s:i, s:i}]", "name", "fd-lenet84", "unit", "FD",
                                              "lower_is_better", 1, "items", 0, "name", "copies", "unit", "%",
                                              "lower_is_better", 1, "items", 0));
        for (size_t p = 0; p < json_array_size(json_object_get(run, "points")); p++) {
            json_t *scores = json_pack("[{s:s, s:I}]", "metric", "fd-lenet84", "score", (json_int_t)rows[i].distance);
            if (rows[i].copies != RUN_SCORE_NONE)
                json_array_append_new(scores, json_pack("{s:s, s:I}", "metric", "copies", "score", (json_int_t)rows[i].copies));
            fixture_set(fixture_item(run, "points", p), "scores", scores);
        }
        assert_int_equal(finds_check(run, CHECK_SCORE), rows[i].wild);
    }
}

// Without a receipt the statement's own date counts, but it may not lie in the future.
TEST(a_date_to_come_is_wrong)
{
    json_t *run = fixture_run();
    char *payload;
    size_t count;
    assert_int_equal(canonical_write(run, &payload, &count), 0);
    for (int early = 0; early < 2; early++) {
        struct text said = {0};
        const struct evidence e = {.payload = payload, .payload_count = count,
                                   .now_ms = FIXTURE_NOW_MS - early * (int64_t)24 * 3600 * 1000};
        int faults = verify(&e, &said);
        assert_int_equal(strstr(said.at, "client-time") != NULL, early);
        assert_true(faults > early);  // nothing signs it
        text_free(&said);
    }
    free(payload);
    json_decref(run);
}
