// SPDX-License-Identifier: Apache-2.0
// What a whole training will cost, read off a trainer that has been built but takes no memory: the variants of the
// step with their shares, the evaluations, and the bound of all of it from measured peaks (roofline.h).
#ifndef DAWN_TASKS_FORECAST_H
#define DAWN_TASKS_FORECAST_H

#include "tasks/measure/roofline.h"
#include "tasks/train/trainer.h"

struct forecast_variant {
    int program;
    const char *name;  // of its graph
    int64_t side, steps;
    double flops, bytes;  // of one step
    double seconds;       // its bound; 0 where nothing was measured
};

struct forecast {
    struct forecast_variant variant[TRAINER_VARIANTS];  // in the order the schedule meets them
    int variants, full;                                  // full: of the dearest step, the one at full resolution
    int64_t evaluations;                                 // when the target is not met before the end
    double evaluation_flops, evaluation_bytes, evaluation_seconds;  // of one
    double flops, seconds;  // of the whole schedule, evaluations included; the lookahead's copies are not
    double training_seconds;
};
void forecast_of(const struct trainer *, const struct device_facts *, struct forecast *);

#endif
