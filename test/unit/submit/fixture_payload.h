// SPDX-License-Identifier: Apache-2.0
// A results.db with runs that may be submitted, for the tests of their statements.
#pragma once

#include <sqlite3.h>

#include "runtime/common/base/clock.h"
#include "submit/format/score/contest.h"
#include "submit/payload.h"
#include "test/unit/fixture_open.h"

static const char *const two_tags[] = {"zebra", "ant", "zebra"};
static const struct payload_words plain = {.board = "board.example", .handle = "ada"};
static const struct payload_words full = {.board = "board.example", .handle = "ada", .team = "Café Müller", .note = "a note",
                                          .code_url = "https://code.example/x", .tags = two_tags, .tag_count = 3};

// A run with a stopwatch, so that its segments fit its points; the published digests, so that it may count.
static struct run_data official[2];
static inline struct run *begin(struct run_facts *facts, struct stopwatch *sw)
{
    const struct contest *contest = contest_find("cifar10");
    memcpy(official, fixture_data, sizeof official);
    official[0].digest = contest->train_digest;
    official[1].digest = contest->test_digest;
    official[0].reading = READING_NOW, official[1].reading = READING_REMEMBERED;
    facts->data = facts->data_count > 0 ? official : NULL;
    facts->stopwatch = sw;
    facts->flops_per_sample = 1234567;  // what a test's ten seconds could hold
    stopwatch_start_at(sw, clock_ns() - 100 * SECOND, SEGMENT_INIT);
    struct run *run;
    OK(result_begin(r, facts, &run));
    return run;
}

static inline void add_points(struct run *run, struct stopwatch *sw, const int64_t *k, int count)
{
    static const struct run_loss losses[] = {{"real", 0.25}, {"fake", 0.5}};
    int64_t now = sw->start_ns + 3 * SECOND;
    for (int i = 0; i < count; i++) {
        stopwatch_enter_at(sw, SEGMENT_TRAIN, now);
        now += 10 * SECOND + i;
        stopwatch_enter_at(sw, SEGMENT_EVALUATE, now);
        now += SECOND;
        const struct run_point point = {.step = 25 * (i + 1), .epoch_micro = 1000000 * (i + 1),
                                        .clocks = stopwatch_enter_at(sw, SEGMENT_CHECKPOINT, now),
                                        .samples = 50000 * (i + 1), .score = {k[i] < 0 ? RUN_SCORE_NONE : k[i]},
                                        .loss = 1.0 / (i + 1), .losses = losses, .loss_count = 2,
                                        .energy_uj = 100000000LL * (i + 1)};
        assert_int_equal(result_point(run, &point), 0);
    }
}

static inline int64_t whole_run(struct run_facts facts, const int64_t *k, int count)
{
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    add_points(run, &sw, k, count);
    const struct run_end end = {.weights_digest = DIGEST_C, .checkpoint = "x", .energy_uj = 500000000};
    assert_int_equal(result_end(run, RUN_DONE, &end, NULL), 0);
    stopwatch_free(&sw);
    return id;
}

static inline int64_t usual_run(int64_t seed)
{
    return whole_run(fixture_facts(seed, NULL), (const int64_t[]){5000, -1, 9400, 9420}, 4);
}

static inline void add_latency(int64_t run)
{
    struct latency_facts f = {.run = run, .weights_digest = DIGEST_C, .task = "cifar10", .model = "airbench", .precision = "f32",
                              .device = "cpu", .target_micro = 940000, .threads = 1, .items = 10000, .warmup_items = 100,
                              .model_ns = {900000, 890000, 950000, 1200000}, .whole_ns = {910000, 900000, 960000, 1300000},
                              .k = 9400, .views = 1, .data = &official[1], .machine = &fixture_machine,
                              .software = &fixture_software, .price = &fixture_price};
    int64_t id;
    assert_int_equal(result_latency(r, &f, &id), 0);
}

static inline void sql(const char *words)
{
    char *why = NULL;
    if (sqlite3_exec(result_connection(r), words, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", words, why);
}
