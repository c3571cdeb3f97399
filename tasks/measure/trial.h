// SPDX-License-Identifier: Apache-2.0
// One setting that is measured: a training made ready as `dawn train` makes it, one variant of its step, and one batch of the
// data. Timing repeats the step on that batch, so that it is the device's time; what the feed adds is `dawn profile`'s.
//
// Order of calls: trial_open (builds and plans, takes no memory), trial_ready, trial_time, trial_profile. trial_close after
// any of them, also after a failure.
#ifndef DAWN_TASKS_TRIAL_H
#define DAWN_TASKS_TRIAL_H

#include "tasks/forecast/forecast.h"
#include "tasks/measure/timing.h"

struct trial_choice {
    const struct task *task;
    const struct recipe *recipe;
    struct dataset *data;     // borrowed
    struct device *device;    // borrowed
    unsigned fuse;            // enum fuse_pattern
    struct task_files files;
    int64_t side;             // of the step, or its length; 0: the largest
};

struct trial {
    struct trial_choice choice;
    struct trainer *trainer;
    struct device_facts facts;  // with the peaks that were measured, if any; memory: free before the trial took some
    struct forecast forecast;
    const struct forecast_variant *variant;
    struct timing timing;
    int64_t energy_uj;          // of a step, on average: processor packages and device; 0: cannot be read
    double profiled;            // seconds of a profiled step, all nodes
    int64_t *ns;                // of each position of the plan; NULL before trial_profile
    int64_t at;                 // the first step of the schedule that can be of the variant
    int64_t taken;              // batches of its epoch
    int bucket;                 // of the last of them
};

// `facts`: of the device, with its peaks if they were measured.
int trial_open(struct trial *, const struct trial_choice *, const struct device_facts *) MUST_CHECK;
void trial_close(struct trial *);
int trial_ready(struct trial *) MUST_CHECK;
// `told` is called after each repeat; NULL: nobody asks.
int trial_time(struct trial *, double seconds, int64_t repeats, void (*told)(void *, const struct timing *),
               void *listener) MUST_CHECK;
// Mean times of the nodes over a few steps that are timed node by node, which may take longer than the others.
int trial_profile(struct trial *) MUST_CHECK;
// Steps that go through the feed: trial_begin puts the supply to the first batch of the variant, trial_next takes the next
// batch of that epoch, which begins again when it has ended, and trial_step runs the step of the batch's bucket.
int trial_begin(struct trial *) MUST_CHECK;
int trial_next(struct trial *, int64_t *samples) MUST_CHECK;
int trial_step(struct trial *) MUST_CHECK;
const struct plan *trial_plan(const struct trial *);
// Takes the higher of each peak: other load can only lower what was measured.
void trial_better_peaks(struct trial *, const struct device_facts *);

#endif
