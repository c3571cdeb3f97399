// SPDX-License-Identifier: Apache-2.0
// Times an engine on this GPU, on memory of its own: two warm-up runs, then the median of seven. This happens while graphs are
// planned, before any capture or training.
#include "runtime/cuda/dnn/dnn_inside.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/sort.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/cuda_hold.h"

struct dnn_scratch {
    struct dnn *dnn;
    void *x, *w, *y, *work;
    cudaEvent_t before, after;
};

// The bytes 0x3c: 1.06 as f16 (0x3c3c), 0.0115 as bf16 and as f32. Zeros would save power and so flatter the time.
static int alloc_filled(struct dnn_scratch *s, void **into, int64_t count, enum dtype type)
{
    size_t bytes = (size_t)count * dtype_size(type);
    TRY(cuda_check(cudaMalloc(into, bytes), "allocating memory to time convolutions"));
    return cuda_check(cudaMemsetAsync(*into, 0x3c, bytes, s->dnn->stream), "filling memory to time convolutions");
}

static int fill_tensors(struct dnn_scratch *s, const struct dnn_problem *p)
{
    TRY(alloc_filled(s, &s->x, p->n * p->h * p->w * p->c, p->type));
    TRY(alloc_filled(s, &s->w, p->k * p->r * p->s * p->c, p->type));
    TRY(alloc_filled(s, &s->y, p->n * p->p * p->q * p->k, p->type));
    TRY(cuda_check(cudaMalloc(&s->work, s->dnn->settings.workspace), "allocating scratch to time convolutions"));
    TRY(cuda_check(cudaEventCreate(&s->before), "creating an event"));
    return cuda_check(cudaEventCreate(&s->after), "creating an event");
}

int dnn_scratch_new(struct dnn *dnn, const struct dnn_problem *p, struct dnn_scratch **into)
{
    struct dnn_scratch *s = zalloc(sizeof *s);
    s->dnn = dnn;
    int rc = fill_tensors(s, p);
    if (rc == 0) *into = s;
    else dnn_scratch_free(s);
    return rc;
}

void dnn_scratch_free(struct dnn_scratch *s)
{
    if (!s) return;
    void *block[] = {s->x, s->w, s->y, s->work};
    for (int i = 0; i < 4; i++)
        if (block[i]) (void)cudaFree(block[i]);
    if (s->before) (void)cudaEventDestroy(s->before);
    if (s->after) (void)cudaEventDestroy(s->after);
    free(s);
}

static int time_once(struct dnn_scratch *s, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack, float *ms)
{
    cudaStream_t stream = s->dnn->stream;
    TRY(cuda_hold(stream, CUDA_HOLD_CALL_NS));
    TRY(cuda_check(cudaEventRecord(s->before, stream), "timing a convolution"));
    TRY(dnn_execute(s->dnn, plan, pack));
    TRY(cuda_check(cudaEventRecord(s->after, stream), "timing a convolution"));
    TRY(cuda_check(cudaEventSynchronize(s->after), "timing a convolution"));
    return cuda_check(cudaEventElapsedTime(ms, s->before, s->after), "timing a convolution");
}

int dnn_time(struct dnn_scratch *s, const struct dnn_engine *e, int64_t *ns)
{
    enum { WARM = 2, RUNS = 7 };
    float ms[WARM + RUNS];
    struct dnn_bag bag = {.f = &s->dnn->f};
    cudnnBackendDescriptor_t pack;
    int rc = dnn_pack(&bag, s->x, s->w, s->y, s->work, &pack);
    for (int i = 0; i < WARM + RUNS && rc == 0; i++) rc = time_once(s, e->plan, pack, &ms[i]);
    dnn_bag_empty(&bag);
    TRY(rc);
    qsort(ms + WARM, RUNS, sizeof *ms, sort_f32);
    *ns = (int64_t)((double)ms[WARM + RUNS / 2] * 1e6);
    if (*ns < 1) *ns = 1;  // 0 means "not timed"
    return 0;
}
