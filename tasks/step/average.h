// SPDX-License-Identifier: Apache-2.0
// An exponential moving average of weights and running statistics (Polyak and Juditsky 1992), which is evaluated and saved in
// place of the weights that train. Evaluations swap the two and swap them back, so training goes on from the same bytes.
#ifndef DAWN_TRAIN_AVERAGE_H
#define DAWN_TRAIN_AVERAGE_H

#include "tasks/step/task.h"

struct average {
    int begin, update, swap;  // programs; NONE: the recipe has no average
    int64_t first, every;     // it begins after so many steps
};

// Adds its programs. After the training graphs, whose slots it averages.
int average_build(struct average *, struct session *, const struct recipe *, int64_t steps_an_epoch) MUST_CHECK;
int average_after(const struct average *, struct session *, int64_t done) MUST_CHECK;  // after step number `done`, from 1
bool average_is_there(const struct average *, int64_t done);
int average_swap(const struct average *, struct session *, int64_t done) MUST_CHECK;   // nothing before it is there
// Trained weights and running statistics. What is uploaded (whitening filters) is no result of training.
bool average_has(const struct slot *);

#endif
