// SPDX-License-Identifier: Apache-2.0
// The losses of a training program and their gradients. A mean over rows is divided by the rows of the whole batch:
// where the batch is cut into parts or slices, gradients of the sums and the counts of rows are added first and divided last.
// Losses with the same count share one set of gradients. Cost, where a batch is cut: one backward pass for each count.
#pragma once

#include "tasks/common/step/step.h"

// What is added over the parts and slices of a batch.
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
// After the tallies were added: grads[] of the batch.
int losses_finish(struct step *, const struct losses *, int *grads, int count) MUST_CHECK;
