// SPDX-License-Identifier: Apache-2.0
// Lookahead (Zhang et al. 2019) near the end of a schedule: an average of the weights is begun before the decay ends, and
// from then on the weights are pulled to it every few steps.
#ifndef DAWN_TRAIN_LOOKAHEAD_H
#define DAWN_TRAIN_LOOKAHEAD_H

#include "tasks/step/task.h"

struct lookahead {
    int begin, pull;     // programs; NONE: the recipe has none
    int64_t first;       // the average begins after so many steps
    int64_t every;
};

// Adds its programs. After the training graphs, whose slots it averages; `decay_end` in steps.
int lookahead_build(struct lookahead *, struct session *, const struct recipe *, int64_t decay_end) MUST_CHECK;
// After step number `done` (counted from 1) of the schedule.
int lookahead_after(const struct lookahead *, struct session *, int64_t done) MUST_CHECK;

#endif
