// SPDX-License-Identifier: Apache-2.0
// What other families need of moving bytes.
#ifndef DAWN_CUDA_MOVE_H
#define DAWN_CUDA_MOVE_H

#include "runtime/cuda/cuda.h"

// The step copies `bytes` as they are; nothing when both addresses are one.
void cuda_copy(struct cuda_step *, void *to, const void *from, size_t bytes);

#endif
