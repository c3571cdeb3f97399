// SPDX-License-Identifier: Apache-2.0
// The evaluation of a test split with the weights of a session: a program for the full and the short batches of each bucket,
// counters of the device, and the task's judge. A training and an inference evaluate in the same way.
#ifndef DAWN_TRAIN_EVALUATION_H
#define DAWN_TRAIN_EVALUATION_H

#include "tasks/step/supply.h"

enum { EVALUATION_PROGRAMS = 64 };
struct evaluation {
    const struct setting *setting;   // borrowed, as all that follows
    struct dataset *stored, *view;   // the same, where the task has no view
    struct session *session;
    struct step_slots *slots;
    struct supply *supply;           // of the test split
    struct evaluation_program {
        struct variant is;
        int program;
    } program[EVALUATION_PROGRAMS];
    int programs;
    char **told;                     // gets the judge's answer to the first sample; NULL: nobody asks
    int fold;                        // run once before an evaluation; NONE: nothing is folded
    // Called before each batch of evaluation_run; an error ends the evaluation with it. NULL: nobody asks.
    int (*between)(void *context, int64_t done, int64_t all);
    void *context;
};

// Adds the programs to the session; everything borrowed is set.
int evaluation_build(struct evaluation *) MUST_CHECK;
// The program of a batch; NULL: no such batch can come.
const struct evaluation_program *evaluation_find(const struct evaluation *, const struct order_batch *);

// Over the whole split: k of a METRIC_COUNT, millionths of a METRIC_RATIO. `answers`: a file that the judge writes; NULL: none.
int evaluation_run(struct evaluation *, const char *answers, int64_t score[METRICS_MAX]) MUST_CHECK;

// The parts of evaluation_run, for one that takes the time of each batch. evaluation_end follows every evaluation_begin that
// succeeded, with rc below 0 after a failure, which it hands on. `outputs` has room for evaluation_output_bytes.
int evaluation_begin(struct evaluation *, void **judging) MUST_CHECK;  // counters, folded weights, the judge
int evaluation_read(struct evaluation *, const struct variant *, char *outputs) MUST_CHECK;  // waits for the device
int evaluation_judge(struct evaluation *, void *judging, const struct variant *, const struct order_batch *,
                     const char *outputs) MUST_CHECK;
int evaluation_end(struct evaluation *, void *judging, int rc, const char *answers, int64_t score[METRICS_MAX]) MUST_CHECK;
size_t evaluation_output_bytes(const struct evaluation *);  // of the largest batch

#endif
