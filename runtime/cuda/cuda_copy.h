// SPDX-License-Identifier: Apache-2.0
// Copies between the host and the GPU. Small ones pass through a ring of pinned memory: an upload returns without waiting, as
// soon as its bytes are in the ring, and a download waits once. A served request, or the begin of an epoch, then costs one wait.
//
// Cost: pinned memory of CUDA_RING bytes, taken by the first small copy; a copy on the host of every small range.
#pragma once

#include "runtime/cuda/cuda.h"

enum { CUDA_RING = 1 << 20, CUDA_RING_MOST = CUDA_RING / 4 /* bytes of a small copy */ };

int cuda_copy_up(struct device *, void *to, const void *from, size_t bytes) MUST_CHECK;
int cuda_copy_down(struct device *, void *to, const void *from, size_t bytes) MUST_CHECK;
void cuda_copy_close(struct cuda_device *);
