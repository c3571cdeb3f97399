// SPDX-License-Identifier: Apache-2.0
// Element-wise operators besides formulas: activations with a bias, casts, dropout, random numbers, masks.
#include "runtime/cuda/kernels/k_element.h"
#include "runtime/cuda/ops/cuda_move.h"
#include "runtime/element.h"

static int act_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (s->out[0])
        CUDA_LAUNCH(s, k_act, .x = s->in[0], .bias = s->in[1], .y = s->out[0], .count = cuda_count(x),
                    .channels = shape_last(&x->shape), .type = x->dtype, .act = s->node->attr.act.act);
    return 0;
}

// The gradient of the bias is computed only if it has a reader.
static int act_grad_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 1);
    if (s->out[0] || s->out[1])
        CUDA_LAUNCH(s, k_act_grad, .dy = s->in[0], .x = s->in[1], .bias = s->in[2], .dx = s->out[0], .dbias = s->out[1],
                    .partial = s->work, .rows = shape_rows(&x->shape), .channels = shape_last(&x->shape),
                    .type = x->dtype, .act = s->node->attr.act.act);
    return 0;
}

static size_t act_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, 1);
    if (n->out[1] == NONE) return 0;
    return k_columns_bytes(k_columns_of(x->dtype, 1, shape_rows(&x->shape), shape_last(&x->shape)));
}

static int cast_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0), *y = cuda_out(s, 0);
    if (!s->out[0]) return 0;
    if (x->dtype == y->dtype)
        cuda_copy(s, s->out[0], s->in[0], value_bytes(x));
    else
        CUDA_LAUNCH(s, k_cast, .x = s->in[0], .y = s->out[0], .count = cuda_count(x), .from = x->dtype, .to = y->dtype);
    return 0;
}

static int dropout_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct dropout_attr *a = &s->node->attr.dropout;
    if (s->out[0])
        CUDA_LAUNCH(s, k_dropout, .x = s->in[0], .key = s->in[1], .step = s->in[2], .y = s->out[0],
                    .count = cuda_count(x), .last = shape_last(&x->shape),
                    .each = a->shared ? cuda_count(x) / x->shape.dim[0] : 0, .p = a->p,
                    .factor = element_factor(a->p),
                    .site = (uint32_t)a->site, .type = x->dtype);
    return 0;
}

static int random_prepare(struct cuda_step *s)
{
    const struct random_attr *a = &s->node->attr.random;
    if (s->out[0])
        CUDA_LAUNCH(s, k_random, .key = s->in[0], .step = s->in[1], .y = s->out[0], .count = cuda_count(cuda_out(s, 0)),
                    .a = a->a, .b = a->normal ? a->b : a->b - a->a, .site = (uint32_t)a->site, .normal = a->normal,
                    .type = a->to);
    return 0;
}

static int mask_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    int axis = s->node->attr.mask.axis ? s->node->attr.mask.axis : x->shape.rank - 1;
    int64_t row = 1, below;
    for (int i = axis; i < x->shape.rank; i++) row *= x->shape.dim[i];
    below = row / x->shape.dim[axis];
    if (s->out[0])
        CUDA_LAUNCH(s, k_mask, .x = s->in[0], .first = s->in[1], .length = s->in[2], .y = s->out[0], .count = cuda_count(x),
                    .row = row, .below = below, .each = cuda_count(x) / row / x->shape.dim[0],
                    .fill = s->node->attr.mask.fill, .type = x->dtype);
    return 0;
}

const struct cuda_op cuda_act = {.prepare = act_prepare};
const struct cuda_op cuda_act_grad = {.prepare = act_grad_prepare, .workspace = act_grad_workspace};
const struct cuda_op cuda_cast = {.prepare = cast_prepare};
const struct cuda_op cuda_dropout = {.prepare = dropout_prepare};
const struct cuda_op cuda_random = {.prepare = random_prepare};
const struct cuda_op cuda_mask = {.prepare = mask_prepare};
