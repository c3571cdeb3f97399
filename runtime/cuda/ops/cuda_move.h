// SPDX-License-Identifier: Apache-2.0
// Copies, for other operator families.
#ifndef DAWN_CUDA_MOVE_H
#define DAWN_CUDA_MOVE_H

#include "runtime/cuda/cuda.h"

// Makes the step copy `bytes` bytes; no launch if both addresses are equal.
void cuda_copy(struct cuda_step *, void *to, const void *from, size_t bytes);

#endif
