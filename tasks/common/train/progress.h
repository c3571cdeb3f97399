// SPDX-License-Identifier: Apache-2.0
// Shows a run while it goes on: a live line and a table on a terminal, plain lines in a pipe or a file, one JSON object per line
// with --json. No other file of the training prints.
#pragma once

#include "runtime/common/base/error.h"
#include "submit/format/run_metric.h"
#include "submit/format/score/group.h"
#include "submit/results/machine/stopwatch.h"

#include <stdio.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_QUIET };

struct progress {
    bool live, json, quiet;
    int64_t last_ns;      // when the live line was last drawn, or a plain line printed
    int64_t last_step;    // of the last plain line
    int64_t began_ns;     // when the first step began
    int live_width;
    // Facts of the run.
    int64_t steps, steps_per_epoch, run;
    double step_samples;  // of a step, for the rate
    int64_t from;         // steps done before began_ns
    double group_left;    // seconds left when the run began; negative: unknown
    double target, epochs;
    const struct run_metric *metrics;  // borrowed; the first is the board's
    int metric_count;
    // What fits a narrow terminal: the columns of the rate and of the training score, and the metrics.
    bool rate, train;
    int shown;
};

struct progress_start {
    const char *task, *data, *model, *recipe, *precision, *device;
    const char *samples;     // the plural noun for samples: "images"
    const struct run_metric *metrics;  // borrowed until progress_end
    int metric_count;
    int64_t run, seed, parameters, steps, steps_per_epoch, batch, memory;
    int64_t index, planned;  // within a group; planned 1: no group
    int64_t from;            // steps done by earlier processes of a resumed run
    double epochs, target;
    const char *standing;    // what the result can count for (standing.h)
    double group_left;       // estimated seconds until the end of the group, from its finished runs; negative: unknown
    const char *note;        // what people should know about the samples; NULL: nothing
    bool synthetic, eligible;
};
struct progress_point {
    double epoch;
    double loss, train_accuracy;            // negative: not counted
    const int64_t *score;                   // one for each metric; RUN_SCORE_NONE: not evaluated
    int64_t elapsed_ns, samples;
    double samples_per_second;                // over this epoch
};
struct progress_moment {
    int64_t score;                          // the board's metric, or RUN_SCORE_NONE
    struct stopwatch_clocks clocks;
};
struct progress_end {
    const char *status, *checkpoint;
    struct progress_moment reported;            // when the target was reached, else the last evaluation, else the end
    struct progress_moment last;            // the last evaluation, if there was one
    int64_t peak_memory;
    const char *cost;                       // "$0.0212"; NULL: no price
    const char *damaged;                    // a sentence about damaged pictures; NULL: none
    const int64_t *damaged_count;           // in the training and the test split; NULL: not counted
    const char *scale;                      // a sentence about the loss scale; "": none
    const char *disturbed;                  // a sentence about other programs; NULL: the machine was quiet
    bool synthetic;
};

void progress_open(struct progress *, enum progress_mode);
void progress_start(struct progress *, const struct progress_start *);
// To be called after each step. `wants` is true if figures would be shown now; otherwise the caller need not read them from the
// device. On a terminal: four times per second. Elsewhere a line after each minute without one, and after each tenth of an epoch
// that took 10 s or longer. A loss that is not a number is shown as "-".
bool progress_wants(const struct progress *, int64_t done, int64_t now_ns);
void progress_step(struct progress *, int64_t done, double loss, double accuracy);
// Names the initial weights and the tensors that were read from them.
void progress_weights(struct progress *, const char *path, const char *taken);
void progress_note(struct progress *, const char *what);  // "compiling", "evaluating": while no step runs
void progress_close(struct progress *);                   // erases the live line, also after a failure
void progress_point(struct progress *, const struct progress_point *);
void progress_end(struct progress *, const struct progress_end *);
// No scoreboard can say that the run's clock agreed with its own, for this reason.
void progress_unwitnessed(struct progress *, int64_t run, const char *why);
void progress_pictureless(struct progress *, int64_t run, const char *why);
void progress_group(struct progress *, int64_t id, const struct run_metric *, const struct group_facts *);
