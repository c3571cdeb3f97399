// SPDX-License-Identifier: Apache-2.0
// Formulas: arguments of k_map.cu. No scratch.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_map.h"

static int64_t elements_of(const struct value *v) { return v ? cuda_count(v) : 0; }

static int map_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct map_attr *m = &s->node->attr.map;
    if (s->out[0])
        CUDA_LAUNCH(s, k_map, .in = {s->in[0], s->in[1], s->in[2]}, .out = {s->out[0]}, .count = cuda_count(x),
                    .period = {elements_of(cuda_in(s, 1)), elements_of(cuda_in(s, 2))}, .p = m->p, .q = m->q,
                    .formula = m->formula, .type = x->dtype);
    return 0;
}

static int map_grad_prepare(struct cuda_step *s)
{
    const struct value *dy = cuda_in(s, 0);
    const struct map_attr *m = &s->node->attr.map;
    if (s->out[0] || s->out[1] || s->out[2])
        CUDA_LAUNCH(s, k_map, .in = {s->in[1], s->in[2], s->in[3], s->in[4], s->in[0]},
                    .out = {NULL, s->out[0], s->out[1], s->out[2]}, .count = cuda_count(dy),
                    .period = {elements_of(cuda_in(s, 2)), elements_of(cuda_in(s, 3))}, .p = m->p, .q = m->q,
                    .formula = m->formula, .type = dy->dtype);
    return 0;
}

const struct cuda_op cuda_map = {.prepare = map_prepare};
const struct cuda_op cuda_map_grad = {.prepare = map_grad_prepare};
