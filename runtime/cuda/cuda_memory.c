// SPDX-License-Identifier: Apache-2.0
// A list of the driver's allocations, each with its carved bytes and the number of blocks in use. A session takes all its
// memory and gives all of it back, so a chunk is carved from start to end and returned when its last block is given back. Cost:
// a walk over the list per call, a few hundred entries at most.
#include "runtime/cuda/cuda_memory.h"

#include <stdio.h>
#include <stdlib.h>

struct piece {
    char *base;
    size_t bytes, carved;  // carved == bytes: a large block
    int in_use;
};

struct cuda_memory {
    struct piece *piece;
    int count, capacity;
    bool carves;
    size_t taken, most;
};

struct cuda_memory *cuda_memory_new(bool carves)
{
    struct cuda_memory *p = zalloc(sizeof *p);
    p->carves = carves;
    return p;
}

void cuda_memory_free(struct cuda_memory *p)
{
    if (!p) return;
    for (int i = 0; i < p->count; i++) (void)cudaFree(p->piece[i].base);
    free(p->piece);
    free(p);
}

size_t cuda_memory_most(const struct cuda_memory *p)
{
    return p->most;
}

static int add_piece(struct cuda_memory *p, size_t bytes, size_t asked)
{
    void *base = NULL;
    cudaError_t error = cudaMalloc(&base, bytes);
    if (error != cudaSuccess) {
        char what[64];
        snprintf(what, sizeof what, "allocating %zu bytes of GPU memory", asked);
        return cuda_check(error, what);
    }
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 32;
        p->piece = grow(p->piece, (size_t)p->capacity * sizeof *p->piece);
    }
    p->taken += bytes;
    if (p->most < p->taken) p->most = p->taken;
    p->piece[p->count] = (struct piece){.base = base, .bytes = bytes};
    return p->count++;
}

int cuda_memory_take(struct cuda_memory *p, size_t bytes, void **into)
{
    size_t capacity = arena_round_up(bytes, CUDA_MEMORY_ALIGN);
    if (capacity < bytes) return fail(ERR_MEMORY, "%zu bytes exceed the address space", bytes);
    if (capacity == 0) capacity = CUDA_MEMORY_ALIGN;
    if (!p->carves && bytes > 0) capacity = bytes;  // exact size, so that a checker sees an access just past the end
    bool small = p->carves && capacity <= CUDA_MEMORY_SMALL;
    int at = 0;
    while (at < p->count && (!small || p->piece[at].bytes - p->piece[at].carved < capacity)) at++;
    if (at == p->count) {
        at = add_piece(p, small ? CUDA_MEMORY_CHUNK : capacity, bytes);
        if (at < 0) return at;
    }
    *into = p->piece[at].base + p->piece[at].carved;
    p->piece[at].carved += capacity;
    p->piece[at].in_use++;
    return 0;
}

void cuda_memory_give(struct cuda_memory *p, void *block)
{
    if (!block) return;
    for (int i = 0; i < p->count; i++) {
        struct piece *piece = &p->piece[i];
        if ((char *)block < piece->base || (char *)block >= piece->base + piece->carved) continue;
        if (--piece->in_use > 0) return;
        (void)cudaFree(piece->base);
        p->taken -= piece->bytes;
        p->piece[i] = p->piece[--p->count];
        return;
    }
    BUG("cuda_memory_give: the block was never taken");
}
