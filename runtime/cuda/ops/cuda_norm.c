// SPDX-License-Identifier: Apache-2.0
// Batch norm in its six forms: arguments of k_norm.cu and k_norm_grad.cu. Scratch is a few arrays of channels and the partial
// sums of every block. Planning and preparing split rows into blocks by the same function.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_norm.h"

static struct k_norm_walk walk_of(const struct value *x, int64_t rows)
{
    return k_norm_walk_of(rows, shape_last(&x->shape), 16 / (int)dtype_size(x->dtype));
}

static int64_t pooled_rows(const struct value *x)
{
    const int64_t *d = x->shape.dim;
    return d[0] * (d[1] / 2) * (d[2] / 2);
}

static struct k_norm_pool pool_of(int64_t h, int64_t w)
{
    return (struct k_norm_pool){true, h, w, k_divide_by(h / 2), k_divide_by(w / 2)};
}

static struct k_norm_frames frames_of(const struct value *x, const int32_t *length)
{
    const int64_t *d = x->shape.dim;
    if (!length) return (struct k_norm_frames){0};
    return (struct k_norm_frames){length, (uint32_t)d[0], (uint32_t)d[1], (uint32_t)(shape_rows(&x->shape) / (d[0] * d[1]))};
}

struct scratch {
    float *array[K_NORM_ARRAYS], *partial;
};

static struct scratch scratch_of(const struct cuda_step *s, const struct k_norm_walk *w)
{
    struct scratch o;
    float *at = s->work;
    for (int i = 0; i < K_NORM_ARRAYS; i++, at += k_norm_array(w)) o.array[i] = at;
    o.partial = at;
    return o;
}

// Kernels index rows with 32 bits.
static int check_rows(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct shape *x = &node_in(g, n, 0)->shape;
    if (shape_rows(x) <= INT32_MAX && shape_last(x) <= INT32_MAX) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: %s does not support more than 2^31 pixels or channels", op_table[n->op].name);
}

// ---- forward

static size_t norm_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, 0);
    struct k_norm_walk w = walk_of(x, n->op == OP_POOL_NORM ? pooled_rows(x) : shape_rows(&x->shape));
    return k_norm_scratch(&w);
}

// `run` is the output index of the running mean. Pooled values without a reader are stored in y's buffer.
static int norm_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct norm_attr *a = &s->node->attr.norm;
    bool pool = s->node->op == OP_POOL_NORM;
    struct k_norm_walk walk = walk_of(x, pool ? pooled_rows(x) : shape_rows(&x->shape));
    struct scratch work = scratch_of(s, &walk);
    int run = pool ? 5 : 3;
    CUDA_LAUNCH(s, k_norm, .x = s->in[0], .shortcut = s->in[5], .y = s->out[0],
                .pooled = pool && s->out[3] ? s->out[3] : s->out[0], .at = pool ? s->out[4] : NULL,
                .old_mean = s->in[1], .old_var = s->in[2], .scale = s->in[3], .bias = s->in[4], .run_mean = s->out[run],
                .run_var = s->out[run + 1], .mean = s->out[1] ? s->out[1] : work.array[0],
                .rstd = s->out[2] ? s->out[2] : work.array[1], .shift = work.array[2],
                .partial = work.partial, .type = x->dtype, .act = a->act, .eps = a->eps, .momentum = a->momentum,
                .walk = walk, .frames = frames_of(x, pool ? NULL : s->in[6]),
                .pool = pool ? pool_of(x->shape.dim[1], x->shape.dim[2]) : (struct k_norm_pool){0});
    return 0;
}

static int norm_infer_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_norm_apply, .x = s->in[0], .y = s->out[0], .mean = s->in[1], .var = s->in[2], .scale = s->in[3],
                .bias = s->in[4], .type = x->dtype, .act = s->node->attr.norm.act, .eps = s->node->attr.norm.eps,
                .walk = walk_of(x, shape_rows(&x->shape)), .frames = frames_of(x, s->in[5]));
    return 0;
}

static int norm_fold_prepare(struct cuda_step *s)
{
    const struct value *w = cuda_in(s, 0);
    int64_t filters = w->shape.dim[0];
    CUDA_LAUNCH(s, k_norm_fold, .w = s->in[0], .mean = s->in[1], .var = s->in[2], .scale = s->in[3], .bias = s->in[4],
                .before = s->in[5], .to = s->out[0], .to_bias = s->out[1], .filters = filters,
                .each = cuda_count(w) / filters, .eps = s->node->attr.norm.eps);
    return 0;
}

// ---- backward; after a pool, x and dy are the pooled ones

static size_t norm_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, 1);
    struct k_norm_walk w = walk_of(x, shape_rows(&x->shape));
    return k_norm_scratch(&w);
}

static int norm_grad_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 1);
    const struct norm_attr *a = &s->node->attr.norm;
    bool pool = s->node->op == OP_POOL_NORM_GRAD;
    struct k_norm_walk walk = walk_of(x, shape_rows(&x->shape));
    struct scratch work = scratch_of(s, &walk);
    CUDA_LAUNCH(s, k_norm_grad, .dy = s->in[0], .x = s->in[1], .at = pool ? s->in[6] : NULL, .dx = s->out[0],
                .y = pool ? NULL : s->in[6], .dz = pool ? NULL : s->out[3] ? s->out[3] : s->out[0],
                .mean = s->in[2], .rstd = s->in[3], .scale = s->in[4], .bias = s->in[5], .dscale = s->out[1],
                .dbias = s->out[2], .a = work.array[0], .p = work.array[1], .q = work.array[2], .partial = work.partial,
                .type = x->dtype, .act = a->act, .walk = walk, .frames = frames_of(x, pool ? NULL : s->in[7]),
                .pool = pool ? pool_of(a->x_h, a->x_w) : (struct k_norm_pool){0});
    return 0;
}

const struct cuda_op cuda_norm = {.prepare = norm_prepare, .workspace = norm_workspace, .supports = check_rows};
const struct cuda_op cuda_pool_norm = {.prepare = norm_prepare, .workspace = norm_workspace, .supports = check_rows};
const struct cuda_op cuda_norm_grad = {
    .prepare = norm_grad_prepare, .workspace = norm_grad_workspace, .supports = check_rows};
const struct cuda_op cuda_pool_norm_grad = {
    .prepare = norm_grad_prepare, .workspace = norm_grad_workspace, .supports = check_rows};
const struct cuda_op cuda_norm_infer = {.prepare = norm_infer_prepare, .supports = check_rows};
const struct cuda_op cuda_norm_fold = {.prepare = norm_fold_prepare};
