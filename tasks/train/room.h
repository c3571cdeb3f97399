// SPDX-License-Identifier: Apache-2.0
// Whether a training fits into the memory of its device, and if not, with which batch it would: by planning alone, before
// anything is taken.
#ifndef DAWN_TRAIN_ROOM_H
#define DAWN_TRAIN_ROOM_H

#include "tasks/train/trainer.h"

// The largest batch, below that of a trainer that does not fit, with which the same training needs at most `bytes`; 0: none.
// A batch that is computed in parts stays a multiple of them. Cost: some ten plans.
int64_t room_largest_batch(const struct trainer *, size_t bytes);
// Fails if the plan needs more memory than the device has free, with a sentence that names that batch. Where nobody knows how
// much is free, everything fits.
int room_check(const struct trainer *) MUST_CHECK;

#endif
