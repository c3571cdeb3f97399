// SPDX-License-Identifier: Apache-2.0
// An average of weights and running statistics (Polyak and Juditsky 1992), exponential or the plain mean. The average is
// evaluated and saved in place of the trained weights. An evaluation swaps the two before and after, so training continues
// from the same bytes.
#pragma once

#include "tasks/common/step/task.h"

struct average {
    int begin, update, swap;  // programs; NONE: the recipe has no average
    int64_t first, every;     // the average begins after `first` steps and moves every `every` steps
    bool mean;
};

// Adds the programs of the average. Call it after the training graphs exist, because it averages their slots.
int average_build(struct average *, struct session *, const struct recipe *, int64_t steps_per_epoch) MUST_CHECK;
int average_after(const struct average *, struct session *, int64_t done) MUST_CHECK;  // after step number `done`, counted from 1
int average_swap(const struct average *, struct session *, int64_t done) MUST_CHECK;  // does nothing before the average has begun
// True for running statistics and for weights that train in a program of the session, with any initial values.
bool average_has(const struct session *, const struct slot *);
