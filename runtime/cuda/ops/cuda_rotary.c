// SPDX-License-Identifier: Apache-2.0
// Rotary positions on the GPU: arguments of k_rotary.cu. No scratch.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_rotary.h"

static int rotary_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct rotary_attr *a = &s->node->attr.rotary;
    const int64_t *d = x->shape.dim;
    struct k_rotary k = {.x = s->in[0], .at = s->in[1], .y = s->out[0], .tokens = d[0] * d[1], .t = d[1], .heads = (int)d[2],
                         .half = (int)d[3] / 2, .each = s->in[1] && cuda_count(cuda_in(s, 1)) > 1,
                         .sign = a->inverse ? -1.0f : 1.0f, .type = x->dtype};
    rotary_turns(a, d[3], k.turn);
    s->launch = k_rotary, s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

const struct cuda_op cuda_rotary = {.prepare = rotary_prepare};
