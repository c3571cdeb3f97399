// SPDX-License-Identifier: Apache-2.0
// A training that was interrupted and resumed: one record, one chain, and the time in between where it belongs.
#include "runtime/common/base/clock.h"
#include "submit/format/check/check.h"
#include "submit/payload.h"
#include "submit/results/record.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static void add_point(struct run *run, struct stopwatch *sw, int64_t step, int64_t score)
{
    stopwatch_enter(sw, SEGMENT_TRAIN);
    stopwatch_enter(sw, SEGMENT_EVALUATE);
    const struct run_point point = {.step = step, .epoch_micro = 40000 * step, .samples = 2000 * step, .score = {score},
                                    .clocks = stopwatch_enter(sw, SEGMENT_CHECKPOINT), .loss = 1};
    if (result_point(run, &point) < 0) fail_msg("%s", error_text());
}

// Three points, the last of which meets the target; then it is stopped.
static int64_t interrupted(struct results *r)
{
    struct stopwatch sw;
    stopwatch_start_at(&sw, clock_ns() - SECOND, SEGMENT_INIT);
    struct run_facts facts = fixture_facts(7, &sw);
    facts.flops_per_sample = 1;
    struct run *run;
    if (result_begin(r, &facts, &run) < 0) fail_msg("%s", error_text());
    int64_t id = result_id(run);
    add_point(run, &sw, 25, 5000);
    add_point(run, &sw, 50, 9000);
    add_point(run, &sw, 75, 9500);
    assert_int_equal(result_end(run, RUN_INTERRUPTED, &(struct run_end){.message = "stopped"}, NULL), 0);
    stopwatch_free(&sw);
    return id;
}

static int64_t sum_of(struct results *r, const char *segment)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT coalesce(sum(end_ns - start_ns), 0) FROM segments WHERE segment = '%s'", segment);
    return number(r, sql);
}

TEST_WITH(a_run_goes_on_where_its_checkpoint_was, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    int64_t id = interrupted(r);
    struct stopwatch sw;
    struct run *run;
    const struct run_moment hour_ago = {clock_unix_ms() - 3600000, 0};
    int64_t classic = number(r, "SELECT max(classic_ns) FROM points WHERE step <= 50");
    if (result_resume(r, id, 50, &hour_ago, &sw, &run) < 0) fail_msg("%s", error_text());
    assert_int_equal(result_id(run), id);
    assert_int_equal(number(r, "SELECT count(*) FROM points"), 2);  // the third came after the checkpoint
    assert_int_equal(number(r, "SELECT count(*) FROM runs WHERE status = 'running' AND reached_step IS NULL"), 1);
    add_point(run, &sw, 75, 9390);
    add_point(run, &sw, 100, 9410);
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    stopwatch_free(&sw);

    json_t *record;
    assert_int_equal(record_read(r, id, &record), 0);
    if (record_chain(record) < 0) fail_msg("%s", error_text());
    assert_string_equal(record_text(record, "status"), "done");
    assert_int_equal(record_int(record, "resumed"), 1);
    assert_int_equal(record_int(record, "reached_step"), 100);
    int64_t away = sum_of(r, "away");
    assert_true(away > 3500 * SECOND && away < 3700 * SECOND);  // an hour, without the seconds since this process started
    assert_true(record_int(record, "reached_ns") > 3600 * SECOND);  // end-to-end holds it
    assert_true(record_int(record, "reached_classic_ns") < classic + 60 * SECOND);  // the classic clock does not
    json_decref(record);

    struct statement s;
    struct findings f;
    const struct payload_words words = {.board = "board.example", .handle = "ada"};
    if (payload_run(r, id, &words, &s) < 0) fail_msg("%s", error_text());
    check_statement(&s, canonical_int(s.json, "ended_ms"), &f);
    for (int i = 0; i < f.count; i++)  // the data of the fixture are not the published ones, and the hour is made up
        if (check_level(f.at[i].check) == CHECK_REJECT && f.at[i].check != CHECK_DATA && f.at[i].check != CHECK_CLIENT_TIME)
            fail_msg("%s", f.at[i].text);
    assert_int_equal(canonical_int(s.json, "resumed"), 1);
    statement_free(&s);
    results_close(r);
}

// The stopwatch began a second before the record was opened. Without a moment on both clocks that second would be missing.
TEST_WITH(time_away_counts_from_a_known_moment, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    int64_t id = interrupted(r);
    struct stopwatch sw;
    struct run *run;
    const struct run_moment known = {clock_unix_ms() - 10000, 500000000};  // ten seconds ago it had run for half a second
    int64_t end = number(r, "SELECT max(end_ns) FROM segments");
    if (result_resume(r, id, 75, &known, &sw, &run) < 0) fail_msg("%s", error_text());
    int64_t away = sum_of(r, "away");
    assert_true(away + end >= 10 * SECOND + SECOND / 2 && away + end < 60 * SECOND);
    assert_int_equal(result_end(run, RUN_INTERRUPTED, NULL, NULL), 0);
    stopwatch_free(&sw);
    results_close(r);
}

TEST_WITH(from_the_start_and_more_than_once, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    int64_t id = interrupted(r);
    for (int i = 1; i <= 3; i++) {
        struct stopwatch sw;
        struct run *run;
        json_t *record;
        if (result_resume(r, id, 0, NULL, &sw, &run) < 0) fail_msg("%s", error_text());
        assert_int_equal(number(r, "SELECT count(*) FROM points"), 0);
        add_point(run, &sw, 5, 100 * i);
        assert_int_equal(result_end(run, RUN_FAILED, NULL, NULL), 0);
        stopwatch_free(&sw);
        assert_int_equal(record_read(r, id, &record), 0);
        assert_int_equal(record_chain(record), 0);
        assert_int_equal(record_int(record, "resumed"), i);
        json_decref(record);
    }
    results_close(r);
}

static void refused(struct results *r, int64_t id, int64_t step, const char *because)
{
    struct stopwatch sw = {0};
    struct run *run;
    assert_true(result_resume(r, id, step, NULL, &sw, &run) < 0);
    if (strstr(error_text(), because) == NULL) fail_msg("\"%s\" is not said by: %s", because, error_text());
    assert_null(run);
    stopwatch_free(&sw);
}

TEST_WITH(what_cannot_go_on_is_refused, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    int64_t done = fixture_run(r, &facts, (const int64_t[]){9500}, 1), id = interrupted(r);
    refused(r, done, 25, "is done");
    refused(r, 99, 25, "no run 99");
    refused(r, id, -1, "at step -1");
    results_close(r);
    sql_from_outside("UPDATE segments SET end_ns = end_ns + 1 WHERE number = 1 AND run = 2");
    r = open_db(RESULTS_WRITE);
    refused(r, id, 25, "the hash of its end");
    results_close(r);
    sql_from_outside("UPDATE scores SET score = 9999 WHERE run = 2 AND step = 25");
    r = open_db(RESULTS_WRITE);
    refused(r, id, 25, "was changed since");
    results_close(r);
}
