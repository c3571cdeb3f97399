// SPDX-License-Identifier: Apache-2.0
// Checks that a training fits into the memory of its device, and finds the largest batch that fits. It only plans and takes
// no memory.
#pragma once

#include "tasks/common/train/trainer.h"

// The largest batch below the trainer's with which the same training needs at most `bytes`; 0: none. If a batch is computed
// in parts, the result is a multiple of the number of parts. Cost: about ten plans; for a task with a view, each of them
// builds the view again.
int64_t memory_fit_largest_batch(const struct trainer *, size_t bytes);

// The search itself, for others that plan. `low` fits, `high` does not. low_bytes is 0 if `low` is 0, which is never planned;
// high_bytes is SIZE_MAX if `high` cannot be planned.
struct memory_fit_search {
    int64_t low, high;
    size_t low_bytes, high_bytes, capacity;
    int turn;
};
int64_t memory_fit_probe(struct memory_fit_search *);  // a batch between the two; needs high - low > 1
void memory_fit_found(struct memory_fit_search *, int64_t probe, size_t bytes);  // what it needs by plan

// Fails if the plan needs more memory than the device has free, with a sentence that names the largest batch that fits.
// Succeeds if the amount of free memory is unknown.
int memory_fit_check(const struct trainer *) MUST_CHECK;
