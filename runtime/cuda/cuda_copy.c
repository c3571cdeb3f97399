// SPDX-License-Identifier: Apache-2.0
// Invariant: bytes of the ring are used once between two waits for the device's stream, so no copy that is queued reads bytes
// that were overwritten.
#include "runtime/cuda/cuda_copy.h"

#include "runtime/cuda/cuda_stage.h"

void cuda_copy_close(struct cuda_device *cuda)
{
    cuda_stage_host_free(&cuda->base, cuda->ring);
    cuda->ring = NULL;
}

// Takes a range of the ring, aligned to PLAN_ALIGN. If the rest of the ring is too short, cuda_wait frees the whole ring first.
static int take_range(struct cuda_device *cuda, size_t bytes, char **into)
{
    void *ring = cuda->ring;
    if (!ring) TRY(cuda_stage_host_alloc(&cuda->base, CUDA_RING, &ring));
    cuda->ring = ring;
    if (bytes > CUDA_RING - cuda->ring_used) TRY(cuda_wait(cuda));
    *into = cuda->ring + cuda->ring_used;
    cuda->ring_used += arena_round_up(bytes, PLAN_ALIGN);
    return 0;
}

static int copy_begin(struct cuda_device *cuda)
{
    TRY(cuda_choose(cuda));
    return cuda_stage_apply(cuda);
}

static int copy_queue(struct cuda_device *cuda, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, cuda->stream);
    return cuda_check(error, kind == cudaMemcpyHostToDevice ? "copying to the GPU" : "copying from the GPU");
}

// The caller may overwrite `from` after the return. For pageable memory the CUDA runtime does not guarantee that the bytes were
// read by then (a GPU that reads the host's page tables may read later), so a large upload waits for its copy.
int cuda_copy_up(struct device *device, void *to, const void *from, size_t bytes)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    char *range;
    if (bytes == 0) return 0;
    TRY(copy_begin(cuda));
    if (bytes > CUDA_RING_MOST) {
        TRY(copy_queue(cuda, to, from, bytes, cudaMemcpyHostToDevice));
        return cuda_wait(cuda);
    }
    TRY(take_range(cuda, bytes, &range));
    memcpy(range, from, bytes);
    return copy_queue(cuda, to, range, bytes, cudaMemcpyHostToDevice);
}

int cuda_copy_down(struct device *device, void *to, const void *from, size_t bytes)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    char *range = to;
    if (bytes == 0) return 0;
    TRY(copy_begin(cuda));
    if (bytes <= CUDA_RING_MOST) TRY(take_range(cuda, bytes, &range));
    TRY(copy_queue(cuda, range, from, bytes, cudaMemcpyDeviceToHost));
    TRY(cuda_wait(cuda));
    if (range != to) memcpy(to, range, bytes);
    return 0;
}
