// SPDX-License-Identifier: Apache-2.0
// The losses of a training program and their gradients. A mean over rows is divided by the rows of the whole batch:
// if the batch is cut into parts or slices, gradients of the sums and the counts of rows are added first and divided last.
// Losses with the same count share one set of gradients. Cost, if a batch is cut: one backward pass per count.
#pragma once

#include "tasks/common/step/step.h"

// The values that are summed over the parts and slices of a batch.
struct tally {
    int value;
    const char *name;  // of its sums
};

struct losses {
    struct tally *tally;
    int tallies;
    int groups, rows[LOSSES_MAX + 1];  // tally of the count of each group; NONE: its number of terms is known
    int *at;                           // tally of each gradient: [group][parameter]; NONE: no gradient
    int loss, sum[LOSSES_MAX], count[LOSSES_MAX];  // tallies of the displayed losses, in slices
};

// Differentiates the losses by the parameters.
int losses_differentiate(struct step *, const int *params, int count, struct losses *) MUST_CHECK;
// Computes grads[] of the batch. Call it after the tallies were added.
int losses_finish(struct step *, const struct losses *, int *grads, int count) MUST_CHECK;
