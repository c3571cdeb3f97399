// SPDX-License-Identifier: Apache-2.0
// When one run repeats another: the rule of docs/rules.md with the figures worked out by hand, and what a board says of a group.

#include "submit/format/score/replay.h"
#include "submit/original.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

#define OTHER_HEX "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static json_t *original, *replay;
static struct replay_judged judged;

SETUP(set_up)
{
    original = fixture_run();
    replay = json_deep_copy(original);
    fixture_slow(replay, 700000000);
    fixture_set(replay, "nonce", json_string("00000000000000000000000000000001"));
    return 0;
}

SETUP(tear_down)
{
    replay_free(&judged);
    json_decref(original);
    json_decref(replay);
    return 0;
}

static enum replay_verdict verdict(const struct group_facts *group)
{
    replay_free(&judged);
    replay_judge(original, replay, group, &judged);
    return judged.verdict;
}

static bool says(const char *words)
{
    return judged.differs.at != NULL && strstr(judged.differs.at, words) != NULL;
}

static void set_point(size_t i, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(replay, "points", i), name, json_integer(value));
}

// The board's score of the last point.
static void set_last(int64_t k)
{
    json_t *scores = json_object_get(fixture_item(replay, "points", FIXTURE_EPOCHS - 1), "scores");
    json_object_set_new(json_array_get(scores, 0), "score", json_integer(k));
}

TEST_WITH(the_same_figures_are_exact_however_long_they_took, set_up, tear_down)
{
    assert_int_equal(verdict(NULL), REPLAY_EXACT);
    assert_int_equal(judged.settings, 0);
    assert_int_equal(judged.equal, FIXTURE_EPOCHS);
    assert_int_equal(judged.points, FIXTURE_EPOCHS);
    assert_int_equal(judged.score[0], 9450);
    assert_int_equal(judged.score[1], 9450);
    assert_null(judged.differs.at);
    assert_true(isnan(judged.low));
    fixture_set(replay, "threads", json_integer(8));
    assert_int_equal(verdict(NULL), REPLAY_EXACT);  // more than was due
    assert_int_equal(judged.settings, 1);
    assert_true(says("threads: 16, in the replay 8\n"));
}

TEST_WITH(the_same_settings_owe_the_same_figures, set_up, tear_down)
{
    set_point(3, "loss", 1);
    json_object_set_new(fixture_item(replay, "points", 4), "losses", json_pack("[{s:s, s:i}]", "name", "real", "loss", 1));
    assert_int_equal(verdict(NULL), REPLAY_DIFFERS);
    assert_int_equal(judged.equal, FIXTURE_EPOCHS - 2);
    fixture_set(replay, "software.libraries", json_string("oneDNN 3"));
    assert_int_equal(verdict(NULL), REPLAY_WITHIN);  // the last score is the same
    assert_true(says("libraries: oneDNN 2.6.3, in the replay oneDNN 3"));
    json_array_remove(json_object_get(replay, "points"), FIXTURE_EPOCHS - 1);
    assert_int_equal(verdict(NULL), REPLAY_WITHIN);  // the last evaluation that both made
    assert_int_equal(judged.score[0], 9410);
}

TEST_WITH(other_weights_of_one_program_are_other_figures, set_up, tear_down)
{
    fixture_set(replay, "model.weights_digest", json_string(OTHER_HEX));
    assert_int_equal(verdict(NULL), REPLAY_DIFFERS);
    assert_true(says("weights: other bytes"));
    json_object_del(json_object_get(replay, "model"), "weights_digest");
    assert_int_equal(verdict(NULL), REPLAY_EXACT);  // none were kept
}

TEST_WITH(every_setting_has_its_line, set_up, tear_down)
{
    static const struct {
        const char *path, *value, *line;
    } settings[] = {
        {"software.binary_digest", OTHER_HEX, "program: cccccccccccc..."},
        {"hardware.cpu", "Other CPU", "processor: Test CPU, in the replay Other CPU"},
        {"hardware.cpu_flags", "avx2", "its instruction sets: "},
        {"precision", "f32", "precision: bf16, in the replay f32"},
    };
    set_point(0, "loss", 1);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        fixture_set(replay, settings[i].path, json_string(settings[i].value));
        assert_int_equal(verdict(NULL), REPLAY_WITHIN);
        assert_int_equal(judged.settings, i + 1);
        assert_true(says(settings[i].line));
    }
    fixture_set(replay, "device", json_string("cuda"));
    fixture_set(original, "hardware.gpu", json_string("a"));
    verdict(NULL);
    assert_true(says("device: cpu, in the replay cuda"));
    assert_false(says("GPU:"));
    fixture_set(original, "device", json_string("cuda"));
    verdict(NULL);
    assert_true(says("GPU: a, in the replay unknown"));
}

// sqrt(2 x .945 x .055 / 10,000) is .00322, times 1.96 .00632: a replay may have 62 items fewer, or 63, by the mean of both.
TEST_WITH(one_evaluation_has_the_interval_of_its_items, set_up, tear_down)
{
    fixture_set(replay, "threads", json_integer(8));
    assert_true(fabs(replay_sampling(0.945, 10000) - 0.0063194) < 1e-6);
    set_last(9390);
    assert_int_equal(verdict(NULL), REPLAY_WITHIN);
    assert_int_equal(judged.runs, 0);
    set_last(9380);
    assert_int_equal(verdict(NULL), REPLAY_DIFFERS);
    set_last(9505);
    assert_int_equal(verdict(NULL), REPLAY_WITHIN);
    set_last(9525);
    assert_int_equal(verdict(NULL), REPLAY_DIFFERS);  // too good is another figure, too
}

// t(0.975, 4) = 2.7764: 2.7764 x 0.001 x sqrt(1.2) = 0.0030414.
TEST_WITH(a_group_has_a_prediction_interval, set_up, tear_down)
{
    struct group_facts group = {.planned = 5, .finished = 5, .accuracy = {.mean = 0.945, .sigma = 0.001}};
    fixture_set(replay, "threads", json_integer(8));
    assert_true(fabs(replay_spread(0.001, 5) - 0.0030414) < 1e-6);
    set_last(9480);
    assert_int_equal(verdict(&group), REPLAY_WITHIN);
    assert_int_equal(judged.runs, 5);
    set_last(9481);
    assert_int_equal(verdict(&group), REPLAY_DIFFERS);
    group.finished = 4;
    assert_int_equal(verdict(&group), REPLAY_WITHIN);  // too few: the interval of one evaluation
    assert_int_equal(judged.runs, 0);
    group = (struct group_facts){.finished = 5, .accuracy = {.mean = 0.9450000000000001}};
    set_last(9450);
    set_point(0, "loss", 1);
    assert_int_equal(verdict(&group), REPLAY_WITHIN);  // no spread, and the same
}

TEST_WITH(a_value_that_is_no_share_has_no_interval, set_up, tear_down)
{
    fixture_set(replay, "threads", json_integer(8));
    set_last(9449);
    for (int i = 0; i < 2; i++) {
        json_t *metric = fixture_item(i == 0 ? original : replay, "metrics", 0);
        json_object_set_new(metric, "items", json_integer(0));
        json_object_set_new(metric, "unit", json_string("BLEU"));
    }
    assert_int_equal(verdict(NULL), REPLAY_DIFFERS);
    assert_true(isnan(judged.low));
    for (int i = 0; i < 2; i++)
        json_object_set_new(fixture_item(i == 0 ? original : replay, "metrics", 0), "unit", json_string(""));
    assert_int_equal(verdict(NULL), REPLAY_WITHIN);  // F1, in millionths, over 10,000 items of the test set
}

TEST_WITH(another_training_is_no_replay, set_up, tear_down)
{
    static const struct {
        const char *path, *value, *line;
    } others[] = {
        {"task_digest", FIXTURE_HEX, "task, metric or target"}, {"recipe.text", "{}", "recipe: another text"},
        {"evaluated_by", "self", "the harness did not"},        {"status", "failed", "did not finish"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *before = strdup(canonical_text(replay, others[i].path));
        fixture_set(replay, others[i].path, json_string(others[i].value));
        assert_int_equal(verdict(NULL), REPLAY_NONE);
        assert_true(says(others[i].line));
        fixture_set(replay, others[i].path, json_string(before));
        free(before);
    }
    assert_int_equal(verdict(NULL), REPLAY_EXACT);
    fixture_set(replay, "seed", json_integer(8));
    assert_int_equal(verdict(NULL), REPLAY_NONE);
    fixture_set(replay, "seed", json_integer(7));
    fixture_set(replay, "files", json_pack("[{s:s, s:s, s:s, s:i}]", "kind", "vocab", "name", "v", "digest", FIXTURE_HEX, "bytes",
                                           5));
    assert_int_equal(verdict(NULL), REPLAY_NONE);
    assert_true(says("files"));
    json_object_del(replay, "files");
    json_object_set_new(fixture_item(replay, "data", 1), "digest", json_string(FIXTURE_HEX));
    assert_int_equal(verdict(NULL), REPLAY_NONE);
    assert_true(says("data: other digests"));
    fixture_set(replay, "version", json_integer(1));
    assert_int_equal(verdict(NULL), REPLAY_NONE);
}

// The beginning of a run: the replay has ended there, and later points of the original do not count.
TEST_WITH(a_part_is_compared_bit_for_bit, set_up, tear_down)
{
    for (int i = FIXTURE_EPOCHS; i > 3; i--) json_array_remove(json_object_get(replay, "points"), (size_t)i - 1);
    json_object_set_new(replay, "status", json_string("interrupted"));
    assert_int_equal(verdict(NULL), REPLAY_NONE);  // as a whole it did not finish
    replay_free(&judged);
    replay_judge_first(original, replay, 3000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_EXACT);
    assert_int_equal(judged.points, 3);
    assert_int_equal(judged.equal, 3);
    replay_judge_first(original, replay, 4000000, &judged);  // the fourth is missing
    assert_int_equal(judged.verdict, REPLAY_DIFFERS);
    assert_int_equal(judged.equal, 3);
    replay_judge_first(original, replay, 999999, &judged);
    assert_int_equal(judged.verdict, REPLAY_NONE);
    assert_true(says("neither has one up to there"));
    replay_free(&judged);
    json_t *hidden = json_incref(json_array_get(json_object_get(original, "points"), 0));  // left out by a forger
    json_array_remove(json_object_get(original, "points"), 0);
    replay_judge_first(original, replay, 1000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_DIFFERS);
    assert_int_equal(judged.points, 1);
    assert_int_equal(judged.equal, 0);
    json_array_insert_new(json_object_get(original, "points"), 0, hidden);
    set_point(2, "loss", canonical_int(fixture_item(original, "points", 2), "loss") + 1);
    replay_judge_first(original, replay, 2000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_EXACT);
    replay_judge_first(original, replay, 3000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_DIFFERS);
    assert_int_equal(judged.settings, 0);
    fixture_set(replay, "threads", json_integer(3));
    replay_judge_first(original, replay, 3000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_DIFFERS);
    assert_int_equal(judged.settings, 1);
    replay_free(&judged);
    fixture_set(replay, "seed", json_integer(123456));
    replay_judge_first(original, replay, 2000000, &judged);
    assert_int_equal(judged.verdict, REPLAY_NONE);
}

TEST_WITH(the_answer_about_a_group_is_read, set_up, tear_down)
{
    struct group_facts facts;
    static const char good[] = "{\"planned\":5,\"verdict\":{\"finished\":5,\"accuracy\":{\"mean\":0.9416,\"sigma\":0.0017}}}",
                      early[] = "{\"verdict\":{\"finished\":1,\"accuracy\":{\"mean\":0.94,\"sigma\":null}}}";
    static const char *const bad[] = {
        "", "{\"verdict\":{\"finished\":-1}}", "{\"verdict\":{\"finished\":100000}}", "[",
        "{\"verdict\":{\"finished\":5,\"accuracy\":{\"mean\":0.9,\"sigma\":-1}}}",
        "{\"verdict\":{\"finished\":5,\"accuracy\":{\"mean\":1e999,\"sigma\":0}}}"};
    assert_int_equal(original_group(good, strlen(good), &facts), 0);
    assert_int_equal(facts.finished, 5);
    assert_true(fabs(facts.accuracy.sigma - 0.0017) < 1e-15);
    assert_int_equal(original_group(early, strlen(early), &facts), 0);
    assert_int_equal(facts.finished, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(original_group(bad[i], strlen(bad[i]), &facts), ERR_NETWORK);
}
