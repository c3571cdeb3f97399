// SPDX-License-Identifier: Apache-2.0
// The parts of optimisers (optim.c combines them). All f32, none with a gradient.
#include "runtime/op/op.h"

static int f32_alike(struct graph *g, struct node *n, int count)
{
    NEED(op_in(g, n, 0)->dtype == F32, g, "%s works on f32", op_table[n->op].name);
    for (int i = 1; i < count; i++)
        if (n->in[i] != NONE) TRY(op_same(g, n, 0, i));
    return 0;
}

static int gives(struct graph *g, struct node *n, int outputs)
{
    for (int i = 0; i < outputs; i++) op_out(g, n, i, op_in(g, n, 0)->shape, F32);
    return 0;
}

int op_momentum_infer(struct graph *g, struct node *n)
{
    TRY(f32_alike(g, n, 3));
    if (n->in[3] != NONE) TRY(op_scalar(g, n, 3, F32));
    return gives(g, n, 2);
}

int op_adam_infer(struct graph *g, struct node *n)
{
    TRY(f32_alike(g, n, 3));
    if (n->in[3] != NONE) TRY(op_scalar(g, n, 3, I32));
    if (n->in[4] != NONE) TRY(op_scalar(g, n, 4, F32));
    return gives(g, n, 3);
}

int op_squares_infer(struct graph *g, struct node *n)
{
    TRY(f32_alike(g, n, 1));
    if (n->in[1] != NONE) TRY(op_scalar(g, n, 1, F32));
    op_out(g, n, 0, SHAPE(1), F32);
    return 0;
}

int op_clip_factor_infer(struct graph *g, struct node *n)
{
    TRY(op_scalar(g, n, 0, F32));
    NEED(n->attr.optim.target > 0, g, "clip_factor requires a positive norm");
    op_out(g, n, 0, SHAPE(1), F32);
    return 0;
}

int op_trust_infer(struct graph *g, struct node *n)
{
    for (int i = 0; i < 3; i++) TRY(op_scalar(g, n, i, F32));
    op_out(g, n, 0, SHAPE(1), F32);
    return 0;
}

int op_loss_scale_infer(struct graph *g, struct node *n)
{
    const struct loss_scale_attr *a = &n->attr.loss_scale;
    TRY(op_scalar(g, n, 0, F32));
    TRY(op_scalar(g, n, 1, F32));
    const struct value *counts = op_in(g, n, 2);
    NEED(counts && counts->dtype == I32 && shape_count(&counts->shape) == 2, g, "loss_scale requires two counts");
    NEED(a->target >= 0 && a->least > 0 && a->most >= a->least && a->every > 0, g, "loss_scale requires bounds above 0");
    for (int i = 0; i < 4; i++) op_out(g, n, i, i == 3 ? SHAPE(2) : SHAPE(1), i == 3 ? I32 : F32);
    return 0;
}

int op_unit_norm_infer(struct graph *g, struct node *n)
{
    TRY(f32_alike(g, n, 1));
    if (n->in[1] != NONE) TRY(op_scalar(g, n, 1, F32));
    return gives(g, n, 1);
}

int op_descend_infer(struct graph *g, struct node *n)
{
    TRY(f32_alike(g, n, 2));
    TRY(op_scalar(g, n, 2, F32));
    return gives(g, n, 1);
}

int op_lerp_infer(struct graph *g, struct node *n)
{
    return op_descend_infer(g, n);
}

int op_assign_infer(struct graph *g, struct node *n)
{
    struct value *to = op_in(g, n, 0), *from = op_in(g, n, 1);
    NEED(from && shape_count(&to->shape) == shape_count(&from->shape), g, "assign requires as many elements as there are");
    op_out(g, n, 0, to->shape, to->dtype);
    return 0;
}

// Outputs follow the inputs that are given.
int op_all_reduce_infer(struct graph *g, struct node *n)
{
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++) {
        const struct value *x = op_in(g, n, i);
        if (x) NEED(x->dtype == F32, g, "all_reduce adds f32");
        if (x) op_out(g, n, i, x->shape, F32);
        else op_drop(n, i);
    }
    return 0;
}

double op_all_reduce_flops(const struct graph *g, const struct node *n)
{
    double elements = 0;
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++)
        if (n->in[i] != NONE) elements += (double)shape_count(&g->value[n->in[i]].shape);
    return elements;
}

NO_GRAD(momentum)
NO_GRAD(adam)
NO_GRAD(squares)
NO_GRAD(clip_factor)
NO_GRAD(loss_scale)
NO_GRAD(unit_norm)
NO_GRAD(descend)
NO_GRAD(trust)
NO_GRAD(lerp)
NO_GRAD(assign)
NO_GRAD(all_reduce)
FLOPS_EACH(momentum, 4)
FLOPS_EACH(adam, 12)
FLOPS_EACH(squares, 2)
FLOPS_EACH(clip_factor, 3)
FLOPS_EACH(loss_scale, 5)
FLOPS_EACH(unit_norm, 3)
FLOPS_EACH(descend, 4)
FLOPS_EACH(trust, 3)
FLOPS_EACH(lerp, 3)
FLOPS_EACH(assign, 0)
