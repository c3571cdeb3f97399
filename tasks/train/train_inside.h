// SPDX-License-Identifier: Apache-2.0
// What the loop (train.c) and the states of a run that can be resumed (train_state.c) share.
#ifndef DAWN_TRAIN_INSIDE_H
#define DAWN_TRAIN_INSIDE_H

#include "tasks/train/digests.h"
#include "tasks/train/train.h"
#include "tasks/train/trainer.h"

// Where the runs of one command go. It is opened, and a group is announced, when the first run is ready to train: what fails
// before leaves no file behind.
struct kept {
    struct results *results;  // NULL: not yet
    int64_t group;            // 0: none
    struct run_metric board;  // of the last run
    int64_t began_ns;         // when the first run began
};

// One run while it is going on.
struct going {
    const struct train_options *o;
    struct kept *kept;
    struct stopwatch watch;
    struct device *device;
    struct device_facts device_facts;
    struct dataset *data;
    struct digests *digests;
    struct trainer *trainer;
    struct run *run;
    struct progress progress;
    int64_t index;
    bool evaluated;                     // whether there was an evaluation yet
    int64_t score[METRICS_MAX];         // of the last one
    struct run_metric metrics[METRICS_MAX];
    struct stopwatch_clocks reached;    // at the end of the last evaluation
    struct stopwatch_clocks crossed;    // at the end of the first that met the target; all 0 before
    struct machine_meter meter;
    int64_t gpu_uj;                     // reading of the device's own meter when it was opened; -1: it has none
    int64_t energy_uj;                  // 0: not measured
    int64_t point_began_ns, point_samples, point_terms;  // of the last point
    int64_t stalled_before_ns;          // in the processes before this one
    char *state, *nonce;                // the file, NULL: none is written; which run it is of
    int64_t saved_ns;                   // when the last one was written, on the end-to-end clock
    int64_t damaged[SPLIT_COUNT];       // pictures; of the end
    char weights_digest[DIGEST_HEX];
    char *checkpoint;
};

// ---- what it takes, before a resumption too (train_state.c)

void train_energy(struct going *);                    // reads the meters
int64_t train_stalled_ns(const struct going *);       // how long steps have waited for data

// ---- states

char *train_absolute_path(const char *path);          // "" and NULL stay; free() ends it
int train_states_open(struct going *) MUST_CHECK;
bool train_state_is_due(const struct going *);
int train_state_write(struct going *) MUST_CHECK;
int train_state_load(struct going *) MUST_CHECK;      // instead of trainer_begin
// The record names one machine, one program and the files that were taken: a run goes on with them or not at all.
int train_check_place(const struct going *) MUST_CHECK;

#endif
