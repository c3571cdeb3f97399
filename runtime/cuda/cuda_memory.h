// SPDX-License-Identifier: Apache-2.0
// Device memory. A session has hundreds of small slots and the driver's smallest allocation is large, so small requests are
// carved from chunks; large ones are allocated by the driver. Waste: the ends of chunks, some MiB per device at most.
#pragma once

#include "runtime/cuda/cuda.h"

enum {
    CUDA_MEMORY_ALIGN = 256,
    CUDA_MEMORY_CHUNK = 2 << 20,   // the driver's smallest allocation
    CUDA_MEMORY_SMALL = 256 << 10  // requests up to this size are carved
};

struct cuda_memory *cuda_memory_new(bool carves);  // false: every request is its own allocation of exactly its bytes
void cuda_memory_free(struct cuda_memory *);  // also frees blocks that were never given back
int cuda_memory_take(struct cuda_memory *, size_t bytes, void **) MUST_CHECK;
size_t cuda_memory_most(const struct cuda_memory *);  // peak number of bytes taken from the driver
void cuda_memory_give(struct cuda_memory *, void *);  // NULL is allowed
