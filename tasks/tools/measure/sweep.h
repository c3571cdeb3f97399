// SPDX-License-Identifier: Apache-2.0
// Lines through the steps of several batches. A step at batch b takes t = a b + c seconds: c is the fixed cost of a step,
// 1/a is the throughput limit. The memory of a step is g b + d. The lines are least squares over the measurements. A step
// that exceeds a cache, or another kernel of a library, bends them, and r2 shows how well they fit.
#pragma once

#include "tasks/tools/measure/trial.h"

enum { SWEEP_BATCHES = 32 };
struct sweep {
    int count;
    double batch[SWEEP_BATCHES], step[SWEEP_BATCHES], memory[SWEEP_BATCHES];  // seconds, bytes
};
struct sweep_fit {
    struct fit_line step, memory;
    int points;
    bool lies;          // the steps grow with the batch along a line; otherwise `step` says nothing
    double limit;       // in samples per second; 0: unknown, as without a line, and if a batch exceeded it
    double near;        // the batch that reaches 90% of the limit; 0: unknown
};
void sweep_add(struct sweep *, double batch, double step, double memory);
bool sweep_fit(const struct sweep *, struct sweep_fit *);  // false with fewer than two batches

// Parses "1,2,4,8": numbers in ascending order, each once, at most SWEEP_BATCHES.
int sweep_batches(const char *option, const char *list, int64_t batch[SWEEP_BATCHES], int *count) MUST_CHECK;

// The largest batch whose plan fits into the free memory: predicted by the line, then planned, and searched for if the prediction
// does not fit; not exact to the last sample.
struct sweep_largest {
    int64_t batch;  // 0: unknown
    size_t bytes;
    bool all_data;  // the batch is the whole data set
    bool stepless;  // more would fit, but a larger batch has no step of the requested side or length
};
int sweep_find_largest(const struct trial_choice *, const struct device_facts *, const struct sweep *, const struct sweep_fit *,
                       struct sweep_largest *) MUST_CHECK;

// Two or three entries of a report (text_entry).
void sweep_text(const struct sweep_fit *, const struct sweep_largest *, const char *samples, const struct device_facts *,
                struct text *into);
