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

// A clipped gradient is scaled in pieces that stay in the first cache: no other pass over memory.
enum { CLIP_PIECE = 1024 };
static const float *clip_gradient(const struct cpu_step *s, const float *factor, int64_t at, int64_t count, float *buffer)
{
    const float *g = f32_in(s, 0, at);
    if (!factor) return g;
    s->cpu->loops->scale(F32, g, *factor, buffer, count);
    return buffer;
}

static int64_t clip_piece(const float *factor, int64_t at, int64_t end)  // elements that one call of a loop does
{
    return factor && end - at > CLIP_PIECE ? CLIP_PIECE : end - at;
}

// A clip below 0 skips the step: u is 0 and the states, which lie where the results go, stay.
static bool skips_step(const struct cpu_step *s, int clip)
{
    return s->in[clip] && *(const float *)s->in[clip] < 0;
}

static void zero_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    memset(f32_out(context, 0, begin), 0, (size_t)(end - begin) * sizeof(float));
}

static int skip_step(struct cpu_step *s, int states)
{
    int64_t n = cpu_count(cpu_in(s, 0));
    for (int i = 1; i <= states; i++)
        if (s->out[i]) cpu_convert(s->cpu->loops, F32, s->in[i], F32, s->out[i], n);
    if (s->out[0]) threads_for(n, OPTIM_GRAIN, zero_piece, s);
    return 0;
}

static void momentum_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct optim_attr *a = &s->node->attr.optim;
    const float *factor = s->in[3];
    float buffer[CLIP_PIECE];
    for (int64_t at = begin, count; at < end; at += count) {
        count = clip_piece(factor, at, end);
        s->cpu->loops->momentum(clip_gradient(s, factor, at, count, buffer), f32_in(s, 1, at), f32_in(s, 2, at), a->mu, a->decay,
                                a->nesterov, count, f32_out(s, 0, at), f32_out(s, 1, at));
    }
}

static int momentum_run(struct cpu_step *s)
{
    if (skips_step(s, 3)) return skip_step(s, 1);
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
    const float *factor = s->in[4];
    float buffer[CLIP_PIECE];
    for (int64_t at = begin, count; at < end; at += count) {
        count = clip_piece(factor, at, end);
        s->cpu->loops->adam(clip_gradient(s, factor, at, count, buffer), f32_in(s, 1, at), f32_in(s, 2, at), &o->rates, count,
                            f32_out(s, 0, at), f32_out(s, 1, at), f32_out(s, 2, at));
    }
}

static int adam_run(struct cpu_step *s)
{
    const struct optim_attr *a = &s->node->attr.optim;
    const int32_t *step = s->in[3];
    double t = step ? (double)*step + 1 : INFINITY;  // without a count nothing is corrected
    if (skips_step(s, 4)) return skip_step(s, 2);
    struct adam o = {
        s, {a->beta1, a->beta2, a->eps, (float)(1 / (1 - pow(a->beta1, t))), (float)(1 / (1 - pow(a->beta2, t))),
            a->infinity, a->root_eps}};
    threads_for(cpu_count(cpu_in(s, 0)), OPTIM_GRAIN, adam_piece, &o);
    return 0;
}

// ---- squares: one sum per block, so that the split over threads changes no byte
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

static int64_t square_blocks(int64_t n)
{
    return (n + SQUARES - 1) / SQUARES;
}

static size_t squares_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    return (size_t)square_blocks(shape_count(&g->value[n->in[0]].shape)) * sizeof(double);
}

static double sum_squares(struct cpu_step *s)
{
    int64_t blocks = square_blocks(cpu_count(cpu_in(s, 0)));
    const double *sum = s->work;
    double total = 0;
    threads_for(blocks, 1, squares_piece, s);
    for (int64_t i = 0; i < blocks; i++) total += sum[i];
    return total;
}

static int squares_run(struct cpu_step *s)
{
    if (s->out[0]) *(float *)s->out[0] = (float)(sum_squares(s) + (s->in[1] ? *(const float *)s->in[1] : 0.0));
    return 0;
}

static int clip_factor_run(struct cpu_step *s)
{
    float norm = sqrtf(*(const float *)s->in[0]), target = s->node->attr.optim.target;
    if (s->out[0]) *(float *)s->out[0] = norm <= target ? 1.0f : target / norm;
    return 0;
}

static int trust_run(struct cpu_step *s)
{
    float p = sqrtf(*(const float *)s->in[0]), u = sqrtf(*(const float *)s->in[1]), rate = *(const float *)s->in[2];
    if (s->out[0]) *(float *)s->out[0] = p > 0 && u > 0 ? rate * (p / u) : rate;
    return 0;
}

static int loss_scale_run(struct cpu_step *s)
{
    const struct loss_scale_attr *a = &s->node->attr.loss_scale;
    float squares = *(const float *)s->in[0], scale = *(const float *)s->in[1], norm = sqrtf(squares);
    int32_t good = *(const int32_t *)s->in[2], skipped = ((const int32_t *)s->in[2])[1];
    bool skips = !isfinite(squares) && scale > a->least, grows = !skips && good + 1 >= a->every;
    bool clips = a->target > 0 && !(norm <= a->target * scale);
    if (s->out[0]) *(float *)s->out[0] = skips ? -1.0f : clips ? a->target / norm : 1.0f / scale;
    if (s->out[1]) *(float *)s->out[1] = skips ? 0.0f : 1.0f;
    if (s->out[2]) *(float *)s->out[2] = skips ? fmaxf(scale / 2, a->least) : grows ? fminf(scale * 2, a->most) : scale;
    if (!s->out[3]) return 0;
    ((int32_t *)s->out[3])[0] = skips || grows ? 0 : good + 1;
    ((int32_t *)s->out[3])[1] = skipped + skips;
    return 0;
}

// ---- x * target / (|x| + eps)
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

static int unit_norm_run(struct cpu_step *s)
{
    int64_t n = cpu_count(cpu_in(s, 0));
    const struct optim_attr *a = &s->node->attr.optim;
    double wanted = a->target * (s->in[1] ? *(const float *)s->in[1] : 1.0);
    struct scaling o = {s, (float)(wanted / (sqrt(sum_squares(s)) + a->eps))};
    if (s->out[0]) threads_for(n, OPTIM_GRAIN, scaling_piece, &o);
    return 0;
}

static void descend_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct optim_attr *a = &s->node->attr.optim;
    float rate = *(const float *)s->in[2] * a->factor;
    float *p = f32_out(s, 0, begin);
    s->cpu->loops->descend(f32_in(s, 0, begin), f32_in(s, 1, begin), rate, a->decay, end - begin, p);
    for (int64_t i = 0; a->limit > 0 && i < end - begin; i++)  // NaN stays
        p[i] = p[i] > a->limit ? a->limit : p[i] < -a->limit ? -a->limit : p[i];
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
CPU_PREPARE(squares)
CPU_PREPARE(clip_factor)
CPU_PREPARE(loss_scale)
CPU_PREPARE(unit_norm)
CPU_PREPARE(descend)
CPU_PREPARE(trust)
CPU_PREPARE(lerp)
CPU_PREPARE(assign)
const struct cpu_op cpu_momentum = {.prepare = momentum_prepare};
const struct cpu_op cpu_adam = {.prepare = adam_prepare};
const struct cpu_op cpu_squares = {.workspace = squares_workspace, .prepare = squares_prepare};
const struct cpu_op cpu_clip_factor = {.prepare = clip_factor_prepare};
const struct cpu_op cpu_loss_scale = {.prepare = loss_scale_prepare};
const struct cpu_op cpu_unit_norm = {.workspace = squares_workspace, .prepare = unit_norm_prepare};
const struct cpu_op cpu_descend = {.prepare = descend_prepare};
const struct cpu_op cpu_trust = {.prepare = trust_prepare};
const struct cpu_op cpu_lerp = {.prepare = lerp_prepare};
const struct cpu_op cpu_assign = {.prepare = assign_prepare};
