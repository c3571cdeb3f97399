// SPDX-License-Identifier: Apache-2.0
// Optimiser operators: one pass over each tensor, on several threads from 64 k elements.
#include "runtime/cpu/cpu_work.h"

#include <math.h>

enum { OPTIM_GRAIN = 32768, SQUARES = 65536 };

static const float *f32_in(const struct cpu_step *s, int i, int64_t at)
{
    return s->in[i] ? (const float *)s->in[i] + at : NULL;
}

static float *f32_out(const struct cpu_step *s, int i, int64_t at)
{
    return s->out[i] ? (float *)s->out[i] + at : NULL;
}

static void momentum_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct optim_attr *a = &s->node->attr.optim;
    s->cpu->loops->momentum(f32_in(s, 0, begin), f32_in(s, 1, begin), f32_in(s, 2, begin), a->mu, a->decay, a->nesterov,
                            end - begin, f32_out(s, 0, begin), f32_out(s, 1, begin));
}

static int momentum_run(struct cpu_step *s)
{
    threads_for(cpu_count(cpu_in(s, 0)), OPTIM_GRAIN, momentum_piece, s);
    return 0;
}

struct adam {
    const struct cpu_step *step;
    struct adam_rates rates;
};

static void adam_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct adam *o = context;
    const struct cpu_step *s = o->step;
    s->cpu->loops->adam(f32_in(s, 0, begin), f32_in(s, 1, begin), f32_in(s, 2, begin), &o->rates, end - begin,
                        f32_out(s, 0, begin), f32_out(s, 1, begin), f32_out(s, 2, begin));
}

static int adam_run(struct cpu_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    double t = (double)*(const int32_t *)s->in[3] + 1;
    struct adam o = {
        s, {a->beta1, a->beta2, a->eps, (float)(1 / (1 - pow(a->beta1, t))), (float)(1 / (1 - pow(a->beta2, t)))}};
    threads_for(cpu_count(cpu_in(s, 0)), OPTIM_GRAIN, adam_piece, &o);
    return 0;
}

// ---- x * target / (|x| + eps): one sum per block, so that the split over threads changes no byte
static void squares_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    int64_t n = cpu_count(cpu_in(s, 0));
    double *sum = s->work;
    for (int64_t i = begin; i < end; i++) {
        int64_t count = n - i * SQUARES < SQUARES ? n - i * SQUARES : SQUARES;
        sum[i] = 0;
        s->cpu->loops->square_sum(f32_in(s, 0, i * SQUARES), count, &sum[i]);
    }
}

struct scaling {
    const struct cpu_step *step;
    float factor;
};

static void scaling_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct scaling *o = context;
    o->step->cpu->loops->scale(F32, f32_in(o->step, 0, begin), o->factor, f32_out(o->step, 0, begin), end - begin);
}

static int64_t square_blocks(int64_t n)
{
    return (n + SQUARES - 1) / SQUARES;
}

static int unit_norm_run(struct cpu_step *s)
{
    int64_t n = cpu_count(cpu_in(s, 0));
    const double *sum = s->work;
    double total = 0;
    threads_for(square_blocks(n), 1, squares_piece, s);
    for (int64_t i = 0; i < square_blocks(n); i++) total += sum[i];
    const struct optim_attr *a = &s->node->attr.optim;
    double wanted = a->target * (s->in[1] ? *(const float *)s->in[1] : 1.0);
    struct scaling o = {s, (float)(wanted / (sqrt(total) + a->eps))};
    if (s->out[0]) threads_for(n, OPTIM_GRAIN, scaling_piece, &o);
    return 0;
}

static size_t unit_norm_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    return (size_t)square_blocks(shape_count(&g->value[n->in[0]].shape)) * sizeof(double);
}

static void descend_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct optim_attr *a = &s->node->attr.optim;
    float rate = *(const float *)s->in[2] * a->factor;
    s->cpu->loops->descend(f32_in(s, 0, begin), f32_in(s, 1, begin), rate, a->decay, end - begin, f32_out(s, 0, begin));
}

static int descend_run(struct cpu_step *s)
{
    if (s->out[0]) threads_for(cpu_count(cpu_in(s, 0)), OPTIM_GRAIN, descend_piece, s);
    return 0;
}

static void lerp_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    s->cpu->loops->lerp(f32_in(s, 0, begin), f32_in(s, 1, begin), *(const float *)s->in[2], end - begin,
                        f32_out(s, 0, begin));
}

static int lerp_run(struct cpu_step *s)
{
    if (s->out[0]) threads_for(cpu_count(cpu_in(s, 0)), OPTIM_GRAIN, lerp_piece, s);
    return 0;
}

static int assign_run(struct cpu_step *s)
{
    if (s->out[0])
        cpu_convert(s->cpu->loops, cpu_in(s, 1)->dtype, s->in[1], cpu_out(s, 0)->dtype, s->out[0],
                    cpu_count(cpu_in(s, 1)));
    return 0;
}

CPU_PREPARE(momentum)
CPU_PREPARE(adam)
CPU_PREPARE(unit_norm)
CPU_PREPARE(descend)
CPU_PREPARE(lerp)
CPU_PREPARE(assign)
const struct cpu_op cpu_momentum = {.prepare = momentum_prepare};
const struct cpu_op cpu_adam = {.prepare = adam_prepare};
const struct cpu_op cpu_unit_norm = {.workspace = unit_norm_workspace, .prepare = unit_norm_prepare};
const struct cpu_op cpu_descend = {.prepare = descend_prepare};
const struct cpu_op cpu_lerp = {.prepare = lerp_prepare};
const struct cpu_op cpu_assign = {.prepare = assign_prepare};
