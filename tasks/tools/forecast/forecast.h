// SPDX-License-Identifier: Apache-2.0
// The cost of a whole training, read from a trainer that is built but has taken no memory: the variants of the step with
// their shares, the evaluations, and a bound of the total from measured peaks (roofline.h).
#pragma once

#include "tasks/common/train/trainer.h"
#include "tasks/tools/forecast/roofline.h"

struct forecast_variant {
    int program;
    const char *name;  // name of its graph
    char size[40];         // "32 x 32", "16 of 384 long"
    char samples[64];      // "batch 64 at 32 x 32", "batch 16 of length 384"
    int64_t side;          // of images, or the length of sequences; 0: neither
    int64_t batch, steps;  // samples of one run of the graph; number of runs
    double flops, bytes;  // of one step
    double seconds;       // lower bound; 0 if no peak was measured
};

struct forecast {
    struct forecast_variant variant[TRAINER_VARIANTS];  // in the order of the schedule
    int64_t samples;                                     // in the whole schedule
    int variants, full;                                  // full: index of the step at full resolution, the most expensive
    struct forecast_variant own[PROGRAMS_MAX];           // programs that host code runs between steps
    int owns;
    int64_t evaluations;                                 // if the target is not met before the end
    double evaluation_flops, evaluation_bytes, evaluation_seconds;  // of one evaluation
    double flops, seconds;  // of the whole schedule with evaluations, without the lookahead
    double training_seconds;
};
// The programs that host code runs between steps, at most so often. Returns their number.
int forecast_own(const struct trainer *, const struct device_facts *, struct forecast_variant own[PROGRAMS_MAX]);
void forecast_of(const struct trainer *, const struct device_facts *, struct forecast *);
// Limits the forecast to the samples per second that the host can make: no batch takes less time than its samples do. `tests`:
// size of the test split. Changes nothing if the forecast has no bounds.
void forecast_feed(struct forecast *, double samples_per_second, int64_t tests);
// The highest rate at which a step consumes samples, at its bound; 0 without bounds.
double forecast_appetite(const struct forecast *);
