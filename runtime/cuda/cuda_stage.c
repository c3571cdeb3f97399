// SPDX-License-Identifier: Apache-2.0
// Two events order the two streams. `copied`: the shadows are full; the device's stream waits for it before it moves them.
// `applied`: the shadows were moved; the copying stream waits for it before it writes into them again.
#include "runtime/cuda/cuda_stage.h"

#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/cuda_program.h"

#include <stdlib.h>

struct shadow {
    void *to, *at;
    size_t capacity, staged;  // staged: bytes that wait to be moved; 0: none
};

struct cuda_stage {
    cudaStream_t stream;
    cudaEvent_t copied, applied;
    struct shadow *shadow;
    int count, capacity;
    bool waiting;  // something is staged and not applied
};

static int stage_open(struct cuda_device *cuda)
{
    if (cuda->stage) return 0;
    struct cuda_stage *s = zalloc(sizeof *s);
    cudaError_t error = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&s->copied, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&s->applied, cudaEventDisableTiming);
    cuda->stage = s;
    if (error == cudaSuccess) return 0;
    cuda_stage_close(cuda);
    return cuda_check(error, "opening a stream for staged copies");
}

void cuda_stage_close(struct cuda_device *cuda)
{
    struct cuda_stage *s = cuda->stage;
    if (!s) return;
    if (s->stream) (void)cudaStreamSynchronize(s->stream);
    for (int i = 0; i < s->count; i++) cuda_memory_give(cuda->pool, s->shadow[i].at);
    if (s->applied) (void)cudaEventDestroy(s->applied);
    if (s->copied) (void)cudaEventDestroy(s->copied);
    if (s->stream) (void)cudaStreamDestroy(s->stream);
    free(s->shadow);
    free(s);
    cuda->stage = NULL;
}

void cuda_stage_forget(struct cuda_device *cuda)
{
    struct cuda_stage *s = cuda->stage;
    if (!s || !s->count) return;
    (void)cudaSetDevice(cuda->index);
    if (cuda_stage_apply(cuda) < 0) s->waiting = false;
    (void)cudaStreamSynchronize(s->stream);
    (void)cudaStreamSynchronize(cuda->stream);
    for (int i = 0; i < s->count; i++) cuda_memory_give(cuda->pool, s->shadow[i].at);
    s->count = 0;
}

// The shadow of a range that begins at `to`, large enough for it.
static int stage_shadow(struct cuda_device *cuda, void *to, size_t bytes, struct shadow **into)
{
    struct cuda_stage *s = cuda->stage;
    int i = 0;
    while (i < s->count && s->shadow[i].to != to) i++;
    if (i == s->count) {
        if (s->count == s->capacity) {
            s->capacity = s->capacity ? 2 * s->capacity : 8;
            s->shadow = grow(s->shadow, (size_t)s->capacity * sizeof *s->shadow);
        }
        s->shadow[s->count++] = (struct shadow){.to = to};
    }
    struct shadow *shadow = *into = &s->shadow[i];
    if (shadow->capacity >= bytes) return 0;
    TRY(cuda_stage_apply(cuda));
    TRY(cuda_wait(cuda));
    cuda_memory_give(cuda->pool, shadow->at);
    shadow->at = NULL, shadow->capacity = 0;
    TRY(cuda_memory_take(cuda->pool, bytes, &shadow->at));
    shadow->capacity = bytes;
    return 0;
}

int cuda_stage(struct device *device, void *to, const void *from, size_t bytes)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    struct shadow *shadow;
    if (bytes == 0) return 0;
    TRY(cuda_choose(cuda));
    TRY(stage_open(cuda));
    TRY(stage_shadow(cuda, to, bytes, &shadow));
    struct cuda_stage *s = cuda->stage;
    if (!s->waiting) TRY(cuda_check(cudaStreamWaitEvent(s->stream, s->applied, 0), "ordering a staged copy after the last one"));
    cudaError_t error = cudaMemcpyAsync(shadow->at, from, bytes, cudaMemcpyHostToDevice, s->stream);
    TRY(cuda_check(error, "staging a copy to the GPU"));
    TRY(cuda_check(cudaEventRecord(s->copied, s->stream), "recording a staged copy"));
    s->waiting = true;
    if (shadow->staged < bytes) shadow->staged = bytes;
    return 0;
}

int cuda_stage_apply(struct cuda_device *cuda)
{
    struct cuda_stage *s = cuda->stage;
    if (!s || !s->waiting) return 0;
    TRY(cuda_check(cudaStreamWaitEvent(cuda->stream, s->copied, 0), "ordering a program after a staged copy"));
    for (int i = 0; i < s->count; i++) {
        struct shadow *shadow = &s->shadow[i];
        if (!shadow->staged) continue;
        cudaError_t error = cudaMemcpyAsync(shadow->to, shadow->at, shadow->staged, cudaMemcpyDeviceToDevice, cuda->stream);
        TRY(cuda_check(error, "moving staged bytes into place"));
        shadow->staged = 0;
    }
    s->waiting = false;
    return cuda_check(cudaEventRecord(s->applied, cuda->stream), "recording that staged bytes are in place");
}

int cuda_stage_done(struct device *device)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    if (!cuda->stage) return 0;
    TRY(cuda_choose(cuda));
    return cuda_check(cudaEventSynchronize(cuda->stage->copied), "waiting for a staged copy");
}

int cuda_stage_host_alloc(struct device *device, size_t bytes, void **into)
{
    TRY(cuda_choose((struct cuda_device *)device));
    return cuda_check(cudaHostAlloc(into, bytes ? bytes : 1, cudaHostAllocDefault), "taking pinned memory of the host");
}

void cuda_stage_host_free(struct device *device, void *at)
{
    (void)cudaSetDevice(((struct cuda_device *)device)->index);
    if (at) (void)cudaFreeHost(at);
}
