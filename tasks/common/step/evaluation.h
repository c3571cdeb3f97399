// SPDX-License-Identifier: Apache-2.0
// The evaluation of a test split with the weights of a session: programs for the full and the short batches of each bucket,
// counters on the device, and the task's judge. Training and inference share this code.
#pragma once

#include "tasks/common/step/drive.h"
#include "tasks/common/step/supply.h"

enum { EVALUATION_PROGRAMS = 64 };
struct evaluation {
    const struct setting *setting;   // borrowed, like the pointers below
    struct dataset *stored, *view;   // equal if the task has no view
    struct session *session;
    struct step_slots *slots;
    struct supply *supply;           // feeds the test split
    struct evaluation_program {
        struct variant is;
        int first, program[PROGRAMS_MAX];  // the one that answers alone; by their numbers in the task's table, NONE: not built
    } program[EVALUATION_PROGRAMS];
    int programs;
    struct text *lines;               // receives the judge's answer to each stored sample as a line; NULL: not needed
    struct text *drawn;              // receives the judge's picture of the first stored sample; NULL: not needed
    struct exhibit *exhibit;         // receives the judge's charts of the answers; NULL: not needed
    void *kept;                      // state of a judge that stays, between evaluations; NULL: none
    bool last;                       // the schedule's last evaluation, or an inference (drive.h)
    int fold;                        // program to run once before an evaluation; NONE: nothing to fold
    // Called before each batch of evaluation_run. An error ends the evaluation and is returned. May be NULL.
    int (*between)(void *context, int64_t done, int64_t all);
    void *context;
};

// Adds the programs to the session. All borrowed members must be set.
int evaluation_build(struct evaluation *) MUST_CHECK;
// The program of a batch; NULL if such a batch cannot occur.
const struct evaluation_program *evaluation_find(const struct evaluation *, const struct order_batch *);

// Runs the programs that answer for a batch that is on the device.
int evaluation_answer(struct evaluation *, const struct order_batch *) MUST_CHECK;

// Call it before a training: fails if the judge lacks a file or an image. Otherwise only the first evaluation would find out.
int evaluation_check(struct evaluation *) MUST_CHECK;

void evaluation_close(struct evaluation *);  // frees what the judge keeps

// Evaluates the whole split. A METRIC_COUNT scores k, the number of hits, a METRIC_RATIO millionths. The judge writes its answers
// to the file `answers`; NULL: no file.
int evaluation_run(struct evaluation *, const char *answers, int64_t score[METRICS_MAX]) MUST_CHECK;

// The parts of evaluation_run, for a caller that times each batch. Every successful evaluation_begin is followed by
// evaluation_end, which receives rc and returns it if it is negative. `outputs` holds evaluation_output_bytes.
int evaluation_begin(struct evaluation *, void **judging) MUST_CHECK;  // resets counters, folds weights, begins the judge
int evaluation_read(struct evaluation *, const struct variant *, char *outputs) MUST_CHECK;  // waits for the device
int evaluation_judge(struct evaluation *, void *judging, const struct variant *, const struct order_batch *,
                     const char *outputs) MUST_CHECK;
int evaluation_end(struct evaluation *, void *judging, int rc, const char *answers, int64_t score[METRICS_MAX]) MUST_CHECK;
size_t evaluation_output_bytes(const struct evaluation *);  // size for the largest batch
