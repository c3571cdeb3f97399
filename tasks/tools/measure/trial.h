// SPDX-License-Identifier: Apache-2.0
// One measured setting: a training made ready as `dawn train` does it, one variant of its step, and one batch of the data.
// Timing repeats the step on that batch, so the time is the device's. `dawn profile` measures what the feed adds.
//
// Order of calls: trial_open (builds and plans, takes no memory), trial_ready, trial_time, trial_profile. trial_close after
// any of them, after a failure, too.
#pragma once

#include "tasks/tools/forecast/forecast.h"
#include "tasks/tools/measure/timing.h"

struct trial_choice {
    const struct task *task;
    const struct recipe *recipe;
    struct dataset *data;     // borrowed
    struct device *device;    // borrowed
    unsigned fuse;            // enum fuse_pattern
    struct task_files files;
    int64_t side;             // image side or sequence length of the step; 0: the largest
};

struct trial {
    struct trial_choice choice;
    struct trainer *trainer;
    struct device_facts facts;  // with the measured peaks, if any; memory: free before the trial took some
    struct forecast forecast;
    const struct forecast_variant *variant;
    struct timing timing;
    int64_t energy_uj;          // average energy of a step: processor packages and device; 0: not readable
    double profiled;            // seconds of a profiled step, over all nodes
    int64_t *ns;                // one for each position of the plan; NULL before trial_profile
    int64_t at;                 // the first step of the schedule that can have the variant
    int64_t taken;              // batches taken from its epoch
    int bucket;                 // bucket of the last of these batches
};

// `facts`: facts of the device, with its peaks if they were measured.
int trial_open(struct trial *, const struct trial_choice *, const struct device_facts *) MUST_CHECK;
void trial_close(struct trial *);
int trial_ready(struct trial *) MUST_CHECK;
// `each_repeat` is called after each repeat; it may be NULL.
int trial_time(struct trial *, double seconds, int64_t repeats, void (*each_repeat)(void *, const struct timing *),
               void *listener) MUST_CHECK;
// Mean times of the nodes over a few steps that are timed node by node. Such steps may take longer than others.
int trial_profile(struct trial *) MUST_CHECK;
// Steps with a feed. trial_begin moves the supply to the first batch of the variant. trial_next takes the next batch of that
// epoch, or its first batch after the last. trial_step runs
// the programs of a step on it, also those that take further batches.
int trial_begin(struct trial *) MUST_CHECK;
int trial_next(struct trial *, int64_t *samples) MUST_CHECK;
int trial_step(struct trial *) MUST_CHECK;
const struct plan *trial_plan(const struct trial *);
// Keeps the higher of each peak, because other load can only lower a measured peak.
void trial_better_peaks(struct trial *, const struct device_facts *);
