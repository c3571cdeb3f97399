// SPDX-License-Identifier: Apache-2.0
// Data on the GPU: the next window of the epoch's order, scalars from tables, counters, and gathering with augmentation.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_data.h"

static int window_prepare(struct cuda_step *s)
{
    if (s->out[0])
        CUDA_LAUNCH(s, k_window, .order = s->in[0], .cursor = s->in[1], .y = s->out[0],
                    .count = cuda_count(cuda_in(s, 0)), .batch = cuda_count(cuda_out(s, 0)));
    return 0;
}

static int pick_prepare(struct cuda_step *s)
{
    if (s->out[0])
        CUDA_LAUNCH(s, k_pick, .table = s->in[0], .step = s->in[1], .y = s->out[0], .count = cuda_count(cuda_in(s, 0)));
    return 0;
}

static int tick_prepare(struct cuda_step *s)
{
    if (s->out[0])
        CUDA_LAUNCH(s, k_tick, .counter = s->in[0], .clip = s->in[1], .y = s->out[0], .by = s->node->attr.tick.by);
    return 0;
}

static int augment_prepare(struct cuda_step *s)
{
    const struct augment_attr *a = &s->node->attr.augment;
    const struct value *x = cuda_in(s, 0), *y = cuda_out(s, 0);
    const int64_t *d = x->shape.dim;
    if (!s->out[0]) return 0;
    struct k_augment k = {.images = s->in[0], .index = s->in[1], .key = s->in[2], .y = s->out[0], .type = y->dtype,
                          .count = d[0], .batch = y->shape.dim[0], .h = (int)d[1], .w = (int)d[2], .c = (int)d[3],
                          .blocks = (int)k_divide_up(d[1] * d[2] * d[3], K_AUGMENT_EACH), .flip = (int)a->flip,
                          .pad = a->pad, .view_flip = a->view_flip, .view_dy = a->view_dy, .view_dx = a->view_dx,
                          .brightness = a->brightness, .contrast = a->contrast,
                          .by_line = k_divide_any_by(d[2] * d[3]), .by_c = k_divide_by(d[3])};
    for (int c = 0; c < k.c; c++) {
        k.scale[c] = (float)(1.0 / (255.0 * (double)a->std[c]));
        k.offset[c] = (float)(-(double)a->mean[c] / (double)a->std[c]);
    }
    CUDA_LAUNCH(s, k_augment, .y = NULL);
    memcpy(s->args, &k, sizeof k);
    return 0;
}

const struct cuda_op cuda_window = {.prepare = window_prepare};
const struct cuda_op cuda_pick = {.prepare = pick_prepare};
const struct cuda_op cuda_tick = {.prepare = tick_prepare};
const struct cuda_op cuda_augment = {.prepare = augment_prepare};
