// SPDX-License-Identifier: Apache-2.0
// Metrics: who meets a target, how scores read, and the run axis of both versions.

#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "submit/format/score/group.h"
#include "submit/format/score/training_log.h"
#include "test/unit/test.h"

static const struct run_metric top5 = {"top5", "%", false, 50000}, f1 = {"f1", "", false, 0}, wer = {"wer", "%", true, 0},
                               bleu = {"bleu", "BLEU", false, 0}, nats = {"loss", "nats", true, 0}, fid = {"fid", "", true, 0},
                               fd = {"fd-lenet84", "FD", true, 0};

TEST(targets_are_met_to_the_last_item)
{
    assert_true(run_metric_meets(&top5, 46500, 930000));
    assert_false(run_metric_meets(&top5, 46499, 930000));
    assert_true(run_metric_meets(&f1, 750000, 750000));
    assert_false(run_metric_meets(&f1, 749999, 750000));
    assert_true(run_metric_meets(&wer, 58000, 58000));  // lower is better
    assert_true(run_metric_meets(&wer, 0, 58000));
    assert_false(run_metric_meets(&wer, 58001, 58000));
    assert_true(run_metric_meets(&bleu, 25300000, 25300000));
    const struct run_metric *all[] = {&top5, &f1, &wer, &bleu};
    for (int i = 0; i < 4; i++) assert_false(run_metric_meets(all[i], RUN_SCORE_NONE, 1));
}

// No text claims more than was reached: higher scores are cut off, lower ones rounded up.
TEST(scores_read_in_their_unit)
{
    static const struct {
        const struct run_metric *metric;
        int64_t score;
        const char *text;
    } cases[] = {{&top5, 46999, "93.99%"}, {&top5, 50000, "100.00%"}, {&f1, 761299, "0.7612"}, {&wer, 57001, "5.71%"},
                 {&wer, 57000, "5.70%"}, {&bleu, 25319999, "25.31"}, {&bleu, 9999999, "9.9999"}, {&bleu, -25310001, "-25.32"},
                 {&nats, 3280001, "3.2801 nats"}, {&fid, 25310001, "25.32"}, {&fid, 10000000, "10.00"},
                 {&fid, -25319999, "-25.31"}, {&fd, 27010000, "27.01"}, {&f1, -1, "-0.0001"}, {&wer, -57001, "-5.70%"},
                 {&f1, RUN_SCORE_NONE, "-"}};
    char text[TEXT_FIGURE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(run_metric_text(cases[i].metric, cases[i].score, text), cases[i].text);
    const struct run_metric odd = {"odd", "ÄÖÜäöü", false, 1};  // what does not fit stays away whole
    assert_string_equal(run_metric_text(&odd, (int64_t)1 << 50, text), "1125899906842624.00");
    assert_string_equal(run_metric_text(&odd, 7, text), "7.0000 ÄÖÜäöü");
    assert_string_equal(run_metric_value_text(&top5, 0.93, text), "93.00%");  // 0.93 lies below 93% as a double
    assert_string_equal(run_metric_value_text(&wer, 0.057, text), "5.70%");
    assert_string_equal(run_metric_value_text(&wer, NAN, text), "-");
    assert_string_equal(run_metric_value_text(&f1, INFINITY, text), "-");
}

static json_t *parsed(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    return value;
}

TEST(curves_are_read)
{
    struct run_metric metrics[RUN_METRICS_MAX];
    char moment[CURVE_MOMENT];
    json_t *run = parsed("{\"metrics\":[{\"name\":\"top5\",\"unit\":\"%\",\"lower_is_better\":0,\"items\":50000},"
                         "{\"name\":\"top1\",\"unit\":\"%\",\"lower_is_better\":0,\"items\":50000}],"
                         "\"points\":[{\"step\":1200,\"epoch_micro\":2500000,\"classic_ns\":3600000000000,"
                         "\"scores\":[{\"metric\":\"top5\",\"score\":46500},{\"metric\":\"top1\",\"score\":38000}]},"
                         "{\"step\":1300,\"epoch_micro\":2700000,\"classic_ns\":3700000000000}]}");
    assert_int_equal(curve_metrics(run, metrics), 2);
    const json_t *point = json_array_get(json_object_get(run, "points"), 0);
    assert_int_equal(curve_score(point, &metrics[1]), 38000);
    assert_string_equal(curve_moment(point, moment), "epoch 2.5, step 1200");
    assert_int_equal(curve_score(json_array_get(json_object_get(run, "points"), 1), &metrics[0]), RUN_SCORE_NONE);
    struct text log = {0};
    training_log(run, &log);
    assert_string_equal(log.at, "epoch\thours\ttop5Accuracy\ttop1Accuracy\n2.5\t1.0000000000\t93.0000\t76.0000\n");
    text_free(&log);
    json_decref(run);
    json_t *whole = parsed("{\"step\":2,\"epoch_micro\":2000000}");  // of a program that counts epochs alone
    assert_string_equal(curve_moment(whole, moment), "epoch 2");
    json_decref(whole);
    json_t *far = parsed("{\"step\":1125899906842624,\"epoch_micro\":0}");  // the most that the table of members lets in
    assert_string_equal(curve_moment(far, moment), "epoch 0, step 1125899906842624");
    json_decref(far);
    assert_int_equal(curve_metrics(NULL, metrics), 1);
}

// A group of word error rates is judged the other way round.
TEST(groups_know_the_direction)
{
    struct group_run runs[5];
    struct group_facts facts;
    for (int i = 0; i < 5; i++)
        runs[i] = (struct group_run){.seed = i, .ns = 1000, .k = 57000 + i % 2, .items = 0, .lower = true, .finished = true};
    group_judge(runs, 5, 5, 58000, &facts);
    assert_true(facts.meets && facts.official && facts.p < 0.01);
    group_judge(runs, 5, 5, 57000, &facts);
    assert_false(facts.meets);
    assert_true(facts.p > 0.5);
    for (int i = 0; i < 5; i++) runs[i].lower = false;
    group_judge(runs, 5, 5, 57000, &facts);
    assert_true(facts.meets);
}

TEST(contests_say_what_they_measure)
{
    const struct contest *squad = contest_find("squad"), *imagenet = contest_find("imagenet");
    assert_int_equal(squad->board.items, 0);
    assert_true(contest_is_share(squad) && !contest_is_share(imagenet) && !contest_is_share(NULL));
    assert_string_equal(imagenet->board.name, "top5");
    assert_true(run_metric_meets(&imagenet->board, 46500, imagenet->target_micro[0]));
    char old[DIGEST_HEX], now[DIGEST_HEX], lower[DIGEST_HEX];
    const struct run_metric as_count = {"f1", "", false, 1000000}, falls = {"f1", "", true, 0};
    assert_int_equal(contest_digest("squad", &squad->board, 750000, now), 0);
    assert_int_equal(contest_digest("squad", &as_count, 750000, old), 0);  // the rules are the same
    assert_int_equal(contest_digest("squad", &falls, 750000, lower), 0);
    assert_string_equal(old, now);
    assert_string_not_equal(now, lower);
    assert_string_equal(contest_column("top5"), "top5Accuracy");
    assert_null(contest_column("bleu"));
}
