// SPDX-License-Identifier: Apache-2.0
// Element by element besides formulas (op_map.c): an activation with its bias, casts, dropout, random numbers.
#include "runtime/op/op.h"

static int as_input(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    NEED(dtype_is_float(x->dtype), g, "%s requires floats", op_table[n->op].name);
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

static int check_bias(struct graph *g, struct node *n, int bias)
{
    NEED(n->in[bias] != NONE, g, "%s lacks a bias", op_table[n->op].name);
    return op_channel(g, n, bias, shape_last(&op_in(g, n, 0)->shape));
}

int op_act_infer(struct graph *g, struct node *n)
{
    TRY(check_bias(g, n, 1));
    return as_input(g, n);
}

int op_act_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    TRY(check_bias(g, n, 2));
    op_out(g, n, 1, SHAPE(shape_last(&op_in(g, n, 0)->shape)), F32);
    return as_input(g, n);
}

int op_act_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int out[2];
    graph_node(g, OP_ACT_GRAD, (int[]){dy[0], n->in[0], n->in[1]}, 3, &n->attr, out);
    dx[0] = n->attr.act.act == ACT_NONE ? dy[0] : out[0];  // a bias alone copies nothing
    dx[1] = out[1];
    return g->error;
}

int op_bias_grad(struct graph *g, int d, int bias)
{
    int out[2];
    graph_node(g, OP_ACT_GRAD, (int[]){d, d, bias}, 3, &(union attr){.act = {ACT_NONE}}, out);
    return out[1];
}

// Differentiates dx and dbias: e reaches each dx, directly and through the sum of its channel.
int op_act_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int d = n->in[0], x = n->in[1], bias = n->in[2], e = dy[0];
    const enum act act = n->attr.act.act;
    const struct value like = g->value[d];
    if (dy[1] != NONE) {
        int all = op_spread(g, g_cast(g, dy[1], like.dtype), like.shape, (1u << (like.shape.rank - 1)) - 1u);
        e = e == NONE ? all : g_add(g, e, all);
    }
    int z = g_add(g, x, g_cast(g, bias, like.dtype)), curve = op_act_curve(g, act, z, g_mul(g, e, d));
    dx[0] = act == ACT_NONE ? e : op_act_slope(g, act, z, e);
    dx[1] = curve;
    dx[2] = op_sum_spread(g, curve, bias);
    return g->error;
}

int op_cast_infer(struct graph *g, struct node *n)
{
    op_out(g, n, 0, op_in(g, n, 0)->shape, n->attr.cast.to);
    return 0;
}

int op_cast_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = g_cast(g, dy[0], g->value[n->in[0]].dtype);
    return g->error;
}

int op_dropout_infer(struct graph *g, struct node *n)
{
    TRY(op_drops(g, n, 1, n->attr.dropout.p));
    NEED(!n->attr.dropout.shared || op_in(g, n, 0)->shape.rank >= 2, g, "a shared dropout requires x[B,..,C]");
    return as_input(g, n);
}

int op_dropout_grad(struct graph *g, const struct node *n, const int *dy, int *dx)  // the same mask
{
    dx[0] = graph_node(g, OP_DROPOUT, (int[]){dy[0], n->in[1], n->in[2]}, 3, &n->attr, NULL);
    return g->error;
}

int op_random_infer(struct graph *g, struct node *n)
{
    const struct random_attr *a = &n->attr.random;
    TRY(op_drops(g, n, 0, 0));
    NEED(dtype_is_float(a->to), g, "random numbers are floats");
    op_out(g, n, 0, a->shape, a->to);
    return 0;
}

int op_mask_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    NEED(x->shape.rank >= 2, g, "mask requires x[B,..,T]");
    NEED(n->attr.mask.axis >= 0 && n->attr.mask.axis < x->shape.rank, g, "mask over dimension %d", n->attr.mask.axis);
    NEED(op_in(g, n, 2), g, "mask requires lengths");
    for (int i = 1; i < 3; i++) TRY(op_per_sample(g, n, i, x->shape.dim[0]));
    return as_input(g, n);
}

int op_mask_grad(struct graph *g, const struct node *n, const int *dy, int *dx)  // nothing comes from outside
{
    union attr a = {.mask = {0.0f, n->attr.mask.axis}};
    dx[0] = graph_node(g, OP_MASK, (int[]){dy[0], n->in[1], n->in[2]}, 3, &a, NULL);
    return g->error;
}

FLOPS_EACH(act, FLOPS_OF_ACT)
FLOPS_EACH(act_grad, 12)
FLOPS_EACH(cast, 0)
FLOPS_EACH(dropout, 1)
NO_GRAD(random)
FLOPS_EACH(random, 1)
FLOPS_EACH(mask, 0)

int g_bias(struct graph *g, int x, int bias)
{
    return graph_node(g, OP_ACT, (int[]){x, bias}, 2, &(union attr){.act = {ACT_NONE}}, NULL);
}

int g_cast(struct graph *g, int x, enum dtype to)
{
    if (g->error || x == NONE || g->value[x].dtype == to) return x;
    return graph_node(g, OP_CAST, &x, 1, &(union attr){.cast = {to}}, NULL);
}

int g_dropout(struct graph *g, int x, int key, int step, float p, int site)
{
    return graph_node(g, OP_DROPOUT, (int[]){x, key, step}, 3, &(union attr){.dropout = {.p = p, .site = site}}, NULL);
}

int g_dropout_shared(struct graph *g, int x, int key, int step, float p, int site)
{
    union attr a = {.dropout = {.p = p, .site = site, .shared = true}};
    return graph_node(g, OP_DROPOUT, (int[]){x, key, step}, 3, &a, NULL);
}

int g_random(struct graph *g, const struct random_attr *a, int key, int step)
{
    return graph_node(g, OP_RANDOM, (int[]){key, step}, 2, &(union attr){.random = *a}, NULL);
}

int g_mask(struct graph *g, int x, int first, int lengths)
{
    return graph_node(g, OP_MASK, (int[]){x, first, lengths}, 3, &(union attr){.mask = {-65504.0f, 0}}, NULL);
}

int g_mask_frames(struct graph *g, int x, int lengths)
{
    return graph_node(g, OP_MASK, (int[]){x, NONE, lengths}, 3, &(union attr){.mask = {0.0f, 1}}, NULL);
}
