// SPDX-License-Identifier: Apache-2.0
// Two tasks that live in the tests alone and use all of tasks/common/step/task.h. A newcomer reads, in this order: second_data.c,
// second.c (own feed, two programs, a judge), games.c, driven.c (own step, own answer, state of the host). This header declares
// both, and has the checks that their tests run on every device.
#pragma once

#include "test/unit/fixture_trainer.h"

enum { SECOND_WORDS = 10, SECOND_CLASSES = 3, SECOND_LONGEST = 24 };  // word 0 pads

extern const struct task task_second;
extern const struct recipe_table second_recipes;
extern int32_t second_limit;  // of the last bucket; SECOND_LONGEST unless a test says otherwise
struct dataset *second_data(int64_t train, int64_t test);
int second_view(const struct setting *, struct dataset *stored, struct dataset **);

// Of the driven task: runs of the decoder for an answer, numbers of a board, moves; its program that plays; its feed of games.
enum { DRIVEN_WORDS = 3, DRIVEN_WIDE = 4, DRIVEN_MOVES = 3, DRIVEN_POLICY = 5, DRIVEN_GAMES = FEED_TEST + 1 };
extern const struct task task_driven;
extern const struct host driven_host;  // games.c, as the two below
int driven_feed(const struct setting *, int number, struct feed_choice *);
int32_t driven_best(const float *moves);  // the number of the highest of DRIVEN_MOVES

// ---- for tests: opens a trainer of a task on drawn samples, and what every device must do with it

static inline void second_open_with(struct bench *b, const struct task *task, const char *device, int threads,
                                    const char *const *settings)
{
    static const char recipe[] = "{\"model\": {\"name\": \"two-bags\"}, \"data\": {\"batch\": 20}, "
                                 "\"schedule\": {\"epochs\": 4}}";
    *b = (struct bench){.choice = {.task = task, .fuse = FUSE_ALL}};
    if (recipe_parse("second", recipe, sizeof recipe - 1, &b->choice.recipe) < 0) fail_msg("%s", error_text());
    for (; *settings; settings++)
        if (recipe_set(&b->choice.recipe, *settings) < 0) fail_msg("%s", error_text());
    if (device_open(device, threads, &b->device) < 0) fail_msg("%s", error_text());
    b->choice.data = b->data = second_data(600, 130);
    b->choice.device = b->device;
    bench_ready(b);
}

static inline void second_open_task(struct bench *b, const struct task *task, const char *device, int threads,
                                    const char *precision)
{
    second_open_with(b, task, device, threads, (const char *const[]){precision, NULL});
}

static inline void second_open(struct bench *b, const char *device, int threads, const char *precision)
{
    second_open_task(b, &task_second, device, threads, precision);
}

// Trains to the end and returns the score "answers" in millionths; only_b: the score "answers b".
static inline int64_t second_train_both(struct bench *b, uint64_t seed, int64_t *only_b)
{
    int64_t score[METRICS_MAX];
    assert_int_equal(trainer_begin(b->trainer, seed), 0);
    while (b->trainer->at < b->trainer->steps)
        if (trainer_step(b->trainer) < 0) fail_msg("%s", error_text());
    if (trainer_evaluate(b->trainer, score) < 0) fail_msg("%s", error_text());
    *only_b = score[1];
    return score[0];
}

static inline int64_t second_train(struct bench *b, uint64_t seed)
{
    int64_t only_b;
    return second_train_both(b, seed, &only_b);
}

static inline void second_reaches_its_target(const char *device)
{
    struct bench b;
    second_open(&b, device, 2, "precision=f32");
    int64_t judged, score = second_train_both(&b, 1, &judged);
    print_message("%s: %.4f\n", device, (double)score * 1e-6);
    assert_true(score >= 900000);
    assert_true(judged >= 800000 && judged <= 1000000);
    assert_int_equal(b.trainer->programs, 2);
    assert_true(b.trainer->samples <= 4 * 600 && b.trainer->samples == b.trainer->at * 20);
    bench_close(&b);
}

static inline void driven_reaches_its_target(const char *device)
{
    struct bench b;
    int64_t before[METRICS_MAX], after[METRICS_MAX];
    second_open_with(&b, &task_driven, device, 2, (const char *const[]){"precision=f32", "schedule.epochs=20", NULL});
    assert_int_equal(trainer_begin(b.trainer, 1), 0);
    if (trainer_evaluate(b.trainer, before) < 0) fail_msg("%s", error_text());
    while (b.trainer->at < b.trainer->steps)
        if (trainer_step(b.trainer) < 0) fail_msg("%s", error_text());
    if (trainer_evaluate(b.trainer, after) < 0) fail_msg("%s", error_text());
    struct trainer_sums sums;
    if (trainer_sums(b.trainer, true, &sums) < 0) fail_msg("%s", error_text());
    assert_true(isfinite(sums.loss) && sums.means == 4);
    for (int i = 0; i < sums.means; i++) assert_true(sums.mean[i].mean > 0.01 && sums.mean[i].mean < 10);
    print_message("%s: %.3f to %.3f\n", device, (double)before[0] * 1e-6, (double)after[0] * 1e-6);
    assert_true(before[0] < 600000 && after[0] >= 900000);
    bench_close(&b);
}

// Evaluating the average does not change the training; the saved weights are the evaluated ones.
static inline void second_keeps_an_average(const char *device)
{
    static const char *const settings[] = {"precision=f32", "schedule.ema.decay=0.8", "schedule.epochs=2", NULL};
    enum { TABLE = SECOND_WORDS * 8 };
    struct bench b;
    float before[TABLE], after[TABLE];
    int64_t score[3][METRICS_MAX];
    second_open_with(&b, &task_second, device, 2, settings);
    struct session *session = b.trainer->session;
    assert_int_equal(trainer_begin(b.trainer, 1), 0);
    while (b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
    assert_int_equal(session_get(session, "a.embedding", before, sizeof before), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(trainer_evaluate(b.trainer, score[i]), 0);
    assert_int_equal(session_get(session, "a.embedding", after, sizeof after), 0);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(trainer_settle(b.trainer), 0);
    assert_int_equal(session_get(session, "a.embedding", after, sizeof after), 0);
    assert_memory_not_equal(before, after, sizeof before);
    assert_int_equal(evaluation_run(&b.trainer->evaluation, NULL, score[2]), 0);
    for (int i = 1; i < 3; i++) assert_memory_equal(score[0], score[i], 2 * sizeof score[0][0]);
    assert_true(score[0][0] > 600000);
    bench_close(&b);
}
