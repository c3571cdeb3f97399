// SPDX-License-Identifier: Apache-2.0
// Memory of the card. A session has hundreds of small slots, and the driver's smallest piece is large, so small requests
// are carved from chunks; large ones are the driver's own. Waste: the rests of chunks, at most some MiB a device.
#ifndef DAWN_CUDA_MEMORY_H
#define DAWN_CUDA_MEMORY_H

#include "runtime/cuda/cuda.h"

enum {
    CUDA_MEMORY_ALIGN = 256,
    CUDA_MEMORY_CHUNK = 2 << 20,   // what the driver hands out in one piece
    CUDA_MEMORY_SMALL = 256 << 10  // at most so many bytes are carved
};

struct cuda_memory *cuda_memory_new(bool carves);  // false: every request is the driver's own piece, of just its bytes
void cuda_memory_free(struct cuda_memory *);  // gives everything back, also what nobody gave back
int cuda_memory_take(struct cuda_memory *, size_t bytes, void **) MUST_CHECK;
size_t cuda_memory_most(const struct cuda_memory *);  // bytes taken from the driver at once, at the most
void cuda_memory_give(struct cuda_memory *, void *);  // NULL: nothing

#endif
