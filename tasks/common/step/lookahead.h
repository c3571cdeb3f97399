// SPDX-License-Identifier: Apache-2.0
// Lookahead (Zhang et al. 2019) near the end of a schedule: an average of the weights begins before the decay ends. From
// then on the weights are pulled towards the average every few steps.
#pragma once

#include "tasks/common/step/task.h"

struct lookahead {
    int begin, pull;     // programs; NONE: the recipe has no lookahead
    int64_t first;       // the average begins after this many steps
    int64_t every;
};

// Adds the programs. Call it after the training graphs exist, because it averages their slots. `decay_end` is in steps.
int lookahead_build(struct lookahead *, struct session *, const struct recipe *, int64_t decay_end) MUST_CHECK;
// To be called after step number `done` of the schedule, counted from 1.
int lookahead_after(const struct lookahead *, struct session *, int64_t done) MUST_CHECK;
