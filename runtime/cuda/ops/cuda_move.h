// SPDX-License-Identifier: Apache-2.0
// Copies, for other operator families.
#pragma once

#include "runtime/cuda/cuda.h"

// Makes the step copy `bytes` bytes; no launch if both addresses are equal.
void cuda_copy(struct cuda_step *, void *to, const void *from, size_t bytes);
