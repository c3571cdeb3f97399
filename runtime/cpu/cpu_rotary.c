// SPDX-License-Identifier: Apache-2.0
// Rotary positions: one pass. The angles of a token are computed once and serve all its heads.
#include "runtime/cpu/cpu_work.h"

#include <stdlib.h>

struct rotary {
    uint64_t turn[ROTARY_MOST / 2];
};

static void rotary_piece(void *context, int64_t begin, int64_t end, int thread)  // tokens
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct rotary *o = s->own;
    const struct value *x = cpu_in(s, 0);
    const int64_t *d = x->shape.dim, half = d[3] / 2, row = d[2] * d[3];
    const int32_t *at = s->in[1];
    const bool each = at && cpu_count(cpu_in(s, 1)) > 1;
    float cosine[ROTARY_MOST / 2], sine[ROTARY_MOST / 2];
    for (int64_t i = begin; i < end; i++) {
        int64_t position = i % d[1] + (at ? at[each ? i / d[1] : 0] : 0);
        s->cpu->loops->rotary_angles(o->turn, position, half, s->node->attr.rotary.inverse, cosine, sine);
        s->cpu->loops->rotate(x->dtype, cpu_at(x->dtype, s->in[0], i * row), d[2], half, cosine, sine,
                              cpu_at(x->dtype, s->out[0], i * row));
    }
}

static int rotary_run(struct cpu_step *s)
{
    const int64_t *d = cpu_in(s, 0)->shape.dim;
    if (s->out[0]) threads_for(d[0] * d[1], cpu_grain(d[2] * d[3]), rotary_piece, s);
    return 0;
}

static void rotary_release(struct cpu_step *s)
{
    free(s->own);
    s->own = NULL;
}

static int rotary_prepare(struct cpu_step *s)
{
    struct rotary *o = s->own = zalloc(sizeof *o);
    rotary_turns(&s->node->attr.rotary, cpu_in(s, 0)->shape.dim[3], o->turn);
    s->run = rotary_run, s->release = rotary_release;
    return 0;
}

const struct cpu_op cpu_rotary = {.prepare = rotary_prepare};
