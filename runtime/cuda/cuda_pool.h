// SPDX-License-Identifier: Apache-2.0
// Memory of the card. A session has hundreds of small slots, and the driver's smallest piece is large, so small requests
// are carved from chunks; large ones are the driver's own. Waste: the rests of chunks, at most some MiB a device.
#ifndef DAWN_CUDA_POOL_H
#define DAWN_CUDA_POOL_H

#include "runtime/cuda/cuda.h"

enum {
    CUDA_POOL_ALIGN = 256,
    CUDA_POOL_CHUNK = 2 << 20,   // what the driver hands out in one piece
    CUDA_POOL_SMALL = 256 << 10  // at most so many bytes are carved
};

struct cuda_pool *cuda_pool_new(void);
void cuda_pool_free(struct cuda_pool *);  // gives everything back, also what nobody gave back
int cuda_pool_take(struct cuda_pool *, size_t bytes, void **) MUST_CHECK;
size_t cuda_pool_most(const struct cuda_pool *);  // bytes taken from the driver at once, at the most
void cuda_pool_give(struct cuda_pool *, void *);  // NULL: nothing

#endif
