// SPDX-License-Identifier: Apache-2.0
// The cost of a whole training, read from a trainer that is built but takes no memory: the variants of the step with their
// shares, the evaluations, and a bound of the total from measured peaks (roofline.h).
#ifndef DAWN_TASKS_FORECAST_H
#define DAWN_TASKS_FORECAST_H

#include "tasks/forecast/roofline.h"
#include "tasks/train/trainer.h"

struct forecast_variant {
    int program;
    const char *name;  // of its graph
    char size[40];         // "32 x 32", "16 of 384 long"
    int64_t side;          // of images, or the length of sequences; 0: neither
    int64_t batch, steps;  // samples of one run of it; how often it runs
    double flops, bytes;  // of one step
    double seconds;       // its bound; 0 if nothing was measured
};

struct forecast {
    struct forecast_variant variant[TRAINER_VARIANTS];  // in the order of the schedule
    int64_t samples;                                     // of the whole schedule
    int variants, full;                                  // full: index of the step at full resolution, the most expensive
    int64_t evaluations;                                 // if the target is not met before the end
    double evaluation_flops, evaluation_bytes, evaluation_seconds;  // of one
    double flops, seconds;  // of the whole schedule with evaluations, without the lookahead
    double training_seconds;
};
void forecast_of(const struct trainer *, const struct device_facts *, struct forecast *);
// The same where the host makes at most so many samples a second: no batch takes less time than they do. `tests`: of the test
// split. Without bounds nothing changes.
void forecast_feed(struct forecast *, double samples_a_second, int64_t tests);
// The most samples a second that a step takes at its bound; 0 without bounds.
double forecast_appetite(const struct forecast *);

#endif
