// SPDX-License-Identifier: Apache-2.0
// MLPerf's log of a run: which events, in which order, at which moments, and which runs have none.
#include "submit/results/mllog.h"
#include "runtime/common/base/clock.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

// A run of 100 made-up seconds: 10 until the data are touched, then an evaluation of 2 s after every 20 s of training.
static int64_t record_run(struct results *r, const char *task, const int64_t *score, int count)
{
    struct stopwatch sw;
    struct run *run;
    int64_t start = clock_ns() - 100 * SECOND, at = start;
    stopwatch_start_at(&sw, start, SEGMENT_INIT);
    struct run_facts facts = fixture_facts(3, &sw);
    facts.task = task;
    stopwatch_enter_at(&sw, SEGMENT_DATA, at += 10 * SECOND);
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, at += 1 * SECOND);
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run);
    for (int i = 0; i < count; i++) {
        stopwatch_enter_at(&sw, SEGMENT_EVALUATE, at += 20 * SECOND);
        struct run_point point = fixture_point(i + 1, score[i]);
        point.epoch_micro = 2500000 * (i + 1);
        point.clocks = stopwatch_enter_at(&sw, SEGMENT_TRAIN, at += 2 * SECOND);
        assert_int_equal(result_point(run, &point), 0);
    }
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    stopwatch_free(&sw);
    return id;
}

struct event {
    const char *key, *type;
    int64_t seconds;  // after init_start
};

static void check_events(const char *text, const struct event *want, size_t count)
{
    int64_t zero = -1;
    for (size_t i = 0; i < count; i++) {
        json_error_t error;
        if (strncmp(text, ":::MLLOG ", 9) != 0) fail_msg("event %zu is not a line of the log", i);
        json_t *o = json_loads(text + 9, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
        assert_non_null(o);
        int64_t ms = json_integer_value(json_object_get(o, "time_ms"));
        if (zero < 0) zero = ms;
        if (strcmp(json_string_value(json_object_get(o, "key")), want[i].key) != 0 || ms - zero != 1000 * want[i].seconds)
            fail_msg("event %zu is %s at %lld ms, not %s", i, json_string_value(json_object_get(o, "key")),
                     (long long)(ms - zero),
                     want[i].key);
        assert_string_equal(json_string_value(json_object_get(o, "event_type")), want[i].type);
        assert_true(json_is_object(json_object_get(o, "metadata")) && json_object_get(o, "value"));
        json_decref(o);
        text = strchr(text, '\n') + 1;
    }
    assert_string_equal(text, "");
}

#define POINT "POINT_IN_TIME"
#define BEGIN "INTERVAL_START"
#define END "INTERVAL_END"
#define HEAD                                                                                                           \
    {"submission_benchmark", POINT, 0}, {"submission_org", POINT, 0}, {"submission_division", POINT, 0},                \
    {"submission_status", POINT, 0}, {"submission_platform", POINT, 0}, {"cache_clear", POINT, 0}, {"init_start", BEGIN, 0}, \
    {"seed", POINT, 0}, {"global_batch_size", POINT, 0}, {"train_samples", POINT, 0}, {"eval_samples", POINT, 0},       \
    {"init_stop", END, 10}, {"run_start", BEGIN, 10}
#define EVALUATION(from, start, end)                                                                                    \
    {"block_start", BEGIN, from}, {"block_stop", END, start}, {"eval_start", BEGIN, start}, {"eval_accuracy", POINT, end}, \
    {"eval_stop", END, end}

TEST_WITH(test_events, setup, leave)
{
    static const struct event met[] = {HEAD, EVALUATION(10, 31, 33), EVALUATION(33, 53, 55), {"run_stop", END, 55}};
    static const struct event missed[] = {HEAD, EVALUATION(10, 31, 33), {"run_stop", END, 33}};
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    int64_t id = record_run(r, "cifar10", (const int64_t[]){5000, 9500, 9600}, 3);  // points after the target are left out
    if (mllog_export(r, id, "Somebody \"&\" Co", &text) < 0) fail_msg("%s", error_text());
    check_events(text.at, met, sizeof met / sizeof *met);
    assert_non_null(strstr(text.at, "\"key\":\"submission_benchmark\",\"value\":\"resnet\""));
    assert_non_null(strstr(text.at, "\"submission_org\",\"value\":\"Somebody \\\"&\\\" Co\""));
    assert_non_null(strstr(text.at, "\"train_samples\",\"value\":50000"));
    assert_non_null(strstr(text.at, "\"eval_accuracy\",\"value\":0.95,\"metadata\":{\"epoch_num\":5"));
    assert_non_null(strstr(text.at, "\"eval_accuracy\",\"value\":0.5,\"metadata\":{\"epoch_num\":2.5"));
    assert_non_null(strstr(text.at, "\"status\":\"success\""));
    text_free(&text);
    id = record_run(r, "squad", (const int64_t[]){5000}, 1);
    assert_int_equal(mllog_export(r, id, NULL, &text), 0);
    check_events(text.at, missed, sizeof missed / sizeof *missed);
    assert_non_null(strstr(text.at, "\"value\":\"bert\""));
    assert_non_null(strstr(text.at, "\"submission_org\",\"value\":\"unknown\""));
    assert_non_null(strstr(text.at, "\"status\":\"aborted\""));
    text_free(&text);
    results_close(r);
}

TEST_WITH(test_runs_without_a_log, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    assert_int_equal(mllog_export(r, 1, NULL, &text), ERR_USAGE);
    int64_t id = record_run(r, "cifar10", (const int64_t[]){RUN_SCORE_NONE}, 0);
    assert_int_equal(mllog_export(r, id, NULL, &text), ERR_INPUT);
    id = record_run(r, "cifar10", (const int64_t[]){9500}, 1);
    results_close(r);
    sql_from_outside("UPDATE points SET loss_micro = loss_micro + 1 WHERE run = 2");
    r = open_db(RESULTS_READ);
    assert_fails(mllog_export(r, id, NULL, &text), ERR_INPUT, "changed since it was recorded");
    assert_null(text.at);
    results_close(r);
}
