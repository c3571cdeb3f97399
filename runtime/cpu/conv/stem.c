// SPDX-License-Identifier: Apache-2.0
// The first layer: transposes the filters for the vector loops (a few kB per run), then splits rows of outputs over threads.
// Filters are rounded to the precision of x, as everywhere; sums are f32.
#include "runtime/cpu/conv/stem.h"

#include "runtime/common/base/threads.h"
#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/loops/loops_stem.h"

extern const struct stem_loops stem_loops_base;
#ifndef ISA_ONLY_BASE
extern const struct stem_loops stem_loops_avx2, stem_loops_avx512;
#endif

const struct stem_loops *stem_loops(void)
{
#ifndef ISA_ONLY_BASE
    const char *isa = loops_choose()->isa;
    if (strcmp(isa, "avx512") == 0) return &stem_loops_avx512;
    if (strcmp(isa, "avx2") == 0) return &stem_loops_avx2;
#endif
    return &stem_loops_base;
}

static int64_t rounded_filters(const struct dnnl_conv *c) { return (c->k + STEM_LANES - 1) / STEM_LANES * STEM_LANES; }

bool stem_fits(const struct dnnl_conv *c)
{
    bool small = c->c <= STEM_CHANNELS && c->r <= STEM_SIDE && c->s <= STEM_SIDE && c->stride[0] <= 2 &&
                 c->stride[1] <= 2;
    bool whole = c->k <= STEM_LANES || (c->k <= 128 && c->k % STEM_LANES == 0);
    return c->pass == DNNL_FORWARD && c->groups == 1 && small && whole && (c->dtype == F32 || c->dtype == BF16);
}

size_t stem_bytes(const struct dnnl_conv *c) { return (size_t)(rounded_filters(c) * (c->r * c->s * c->c + 1)) * sizeof(float); }

struct stem_job {
    struct stem stem;
    const struct stem_loops *loops;
};

static void run_rows(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct stem_job *job = context;
    job->loops->run(&job->stem, begin, end);
}

void stem_run(const struct dnnl_conv *c, const void *x, const float *w, const float *bias, void *y, void *work)
{
    int64_t lanes = rounded_filters(c), taps = c->r * c->s * c->c;
    float *filters = work, *biases = filters + taps * lanes;
    memset(work, 0, stem_bytes(c));
    for (int64_t k = 0; k < c->k; k++) {
        for (int64_t t = 0; t < taps; t++) {
            float f = w[k * taps + t];
            filters[t * lanes + k] = c->dtype == BF16 ? bf16_to_f32(f32_to_bf16(f)) : f;
        }
        biases[k] = bias ? bias[k] : 0.0f;
    }
    struct stem_job job = {.loops = stem_loops()};
    job.stem = (struct stem){
        .h = c->h, .w = c->w, .c = c->c, .k = c->k, .r = c->r, .s = c->s, .p = c->p, .q = c->q,
        .stride = {c->stride[0], c->stride[1]}, .before = {c->before[0], c->before[1]},
        .bf16 = c->dtype == BF16, .act = c->act, .x = x, .y = y, .filters = filters, .bias = biases,
    };
    threads_for(c->n * c->p, 8, run_rows, &job);
}
