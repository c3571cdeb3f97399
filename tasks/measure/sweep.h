// SPDX-License-Identifier: Apache-2.0
// What the steps of several batches say together. A step takes t = a b + c seconds at batch b: c is what every step costs, 1/a
// is the throughput that no batch exceeds. The memory of a step is g b + d. The lines are least squares over what was measured;
// a step that leaves a cache, or another kernel that a library chooses, bends them, and r2 says how well they fit.
#ifndef DAWN_TASKS_SWEEP_H
#define DAWN_TASKS_SWEEP_H

#include "tasks/measure/trial.h"

enum { SWEEP_BATCHES = 32 };
struct sweep {
    int count;
    double batch[SWEEP_BATCHES], step[SWEEP_BATCHES], memory[SWEEP_BATCHES];  // seconds, bytes
};
struct sweep_fit {
    struct fit_line step, memory;
    int points;
    double limit;       // samples a second; 0: the step does not grow with the batch
    double near;        // the batch from which on 90% of it are reached; 0: none is known
};
void sweep_add(struct sweep *, double batch, double step, double memory);
bool sweep_fit(const struct sweep *, struct sweep_fit *);  // false with fewer than two batches

// "1,2,4,8": the numbers in ascending order, each once. SWEEP_BATCHES at most.
int sweep_batches(const char *option, const char *list, int64_t batch[SWEEP_BATCHES], int *count) MUST_CHECK;

// The largest batch whose plan fits into the free memory: foretold from the line, then planned; not exact to the last sample.
struct sweep_largest {
    int64_t batch;  // 0: unknown
    size_t bytes;
    bool all_data;  // the data set has no more samples
};
int sweep_find_largest(const struct trial_choice *, const struct device_facts *, const struct sweep *, const struct sweep_fit *,
                       struct sweep_largest *) MUST_CHECK;

// Two or three entries of a report (text_entry).
void sweep_text(const struct sweep_fit *, const struct sweep_largest *, const char *samples, const struct device_facts *,
                struct text *into);

#endif
