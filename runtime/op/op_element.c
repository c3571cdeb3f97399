// SPDX-License-Identifier: Apache-2.0
// Element by element: activations, sums, products, casts, dropout.
#include "runtime/op/op.h"

static int as_input(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    NEED(dtype_is_float(x->dtype), g, "%s wants floats", op_table[n->op].name);
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

int op_act_infer(struct graph *g, struct node *n)
{
    TRY(op_channel(g, n, 1, shape_last(&op_in(g, n, 0)->shape)));
    return as_input(g, n);
}

int op_act_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    op_out(g, n, 1, SHAPE(shape_last(&op_in(g, n, 0)->shape)), F32);
    if (n->in[2] == NONE) op_drop(n, 1);
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

// b may lack leading dimensions of a.
static int check_spread(struct graph *g, struct node *n)
{
    const struct value *a = op_in(g, n, 0), *b = op_in(g, n, 1);
    if (!b || b->shape.rank >= a->shape.rank) TRY(op_same(g, n, 0, 1));
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    bool fits = a->dtype == b->dtype;
    for (int i = 1; fits && i <= b->shape.rank; i++)
        fits = b->shape.dim[b->shape.rank - i] == a->shape.dim[a->shape.rank - i];
    NEED(fits, g, "%s of %s %s and %s %s", op_table[n->op].name, shape_text(s, &a->shape), dtype_name(a->dtype),
         shape_text(t, &b->shape), dtype_name(b->dtype));
    return as_input(g, n);
}

// The sum of d, shaped as value a, over the leading dimensions that value b lacks.
static int sum_spread(struct graph *g, int d, int a, int b)
{
    if (g->error) return NONE;
    const struct value *v = &g->value[b];
    int missing = g->value[a].shape.rank - v->shape.rank;
    if (missing == 0) return d;
    union attr to = {.move = {.shape = v->shape}}, over = {.move = {.axes = (1u << missing) - 1u, .to = v->dtype}};
    int sum = graph_node(g, OP_REDUCE, &d, 1, &over, NULL);
    return graph_node(g, OP_RESHAPE, &sum, 1, &to, NULL);
}

int op_add_infer(struct graph *g, struct node *n) { return check_spread(g, n); }

int op_add_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = dx[1] = dy[0];
    if (g->value[n->in[1]].trains) dx[1] = sum_spread(g, dy[0], n->in[0], n->in[1]);
    return g->error;
}

int op_add_act_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    return as_input(g, n);
}

int op_add_act_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    NEED(n->attr.act.act == ACT_RELU, g, "a sum with an activation other than relu fused into it is for inference");
    dx[0] = dx[1] = graph_node(g, OP_ACT_GRAD, (int[]){dy[0], n->out[0]}, 2, &n->attr, NULL);
    return g->error;
}

int op_mul_infer(struct graph *g, struct node *n) { return check_spread(g, n); }

int op_mul_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    if (g->value[n->in[0]].trains) dx[0] = g_mul(g, dy[0], n->in[1]);
    if (g->value[n->in[1]].trains) dx[1] = sum_spread(g, g_mul(g, dy[0], n->in[0]), n->in[0], n->in[1]);
    return g->error;
}

int op_scale_infer(struct graph *g, struct node *n)
{
    return as_input(g, n);
}

int op_scale_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = g_scale(g, dy[0], n->attr.scale.factor);
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
    NEED(!n->attr.dropout.shared || op_in(g, n, 0)->shape.rank >= 2, g, "a shared dropout wants x[B,..,C]");
    return as_input(g, n);
}

int op_dropout_grad(struct graph *g, const struct node *n, const int *dy, int *dx)  // the same mask
{
    dx[0] = graph_node(g, OP_DROPOUT, (int[]){dy[0], n->in[1], n->in[2]}, 3, &n->attr, NULL);
    return g->error;
}

int op_mask_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    NEED(x->shape.rank >= 2, g, "mask wants x[B,..,T]");
    NEED(n->attr.mask.axis >= 0 && n->attr.mask.axis < x->shape.rank, g, "mask over dimension %d", n->attr.mask.axis);
    NEED(op_in(g, n, 2), g, "mask wants lengths");
    for (int i = 1; i < 3; i++) TRY(op_per_sample(g, n, i, x->shape.dim[0]));
    return as_input(g, n);
}

int op_mask_grad(struct graph *g, const struct node *n, const int *dy, int *dx)  // nothing comes from outside
{
    union attr a = {.mask = {0.0f, n->attr.mask.axis}};
    dx[0] = graph_node(g, OP_MASK, (int[]){dy[0], n->in[1], n->in[2]}, 3, &a, NULL);
    return g->error;
}

NO_GRAD(act_grad)
FLOPS_EACH(act, 8)
FLOPS_EACH(act_grad, 12)
FLOPS_EACH(add, 1)
FLOPS_EACH(add_act, 2)
FLOPS_EACH(mul, 1)
FLOPS_EACH(scale, 1)
FLOPS_EACH(cast, 0)
FLOPS_EACH(dropout, 1)
FLOPS_EACH(mask, 0)

int g_act(struct graph *g, int x, enum act act)
{
    return act == ACT_NONE ? x : graph_node(g, OP_ACT, &x, 1, &(union attr){.act = {act}}, NULL);
}

int g_bias(struct graph *g, int x, int bias)
{
    return graph_node(g, OP_ACT, (int[]){x, bias}, 2, &(union attr){.act = {ACT_NONE}}, NULL);
}

int g_add(struct graph *g, int a, int b)
{
    return graph_node(g, OP_ADD, (int[]){a, b}, 2, NULL, NULL);
}

int g_mul(struct graph *g, int a, int b)
{
    return graph_node(g, OP_MUL, (int[]){a, b}, 2, NULL, NULL);
}

int g_scale(struct graph *g, int x, float factor)
{
    return graph_node(g, OP_SCALE, &x, 1, &(union attr){.scale = {factor}}, NULL);
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

int g_mask(struct graph *g, int x, int first, int lengths)
{
    return graph_node(g, OP_MASK, (int[]){x, first, lengths}, 3, &(union attr){.mask = {-65504.0f, 0}}, NULL);
}

int g_zero_past(struct graph *g, int x, int lengths)
{
    return graph_node(g, OP_MASK, (int[]){x, NONE, lengths}, 3, &(union attr){.mask = {0.0f, 1}}, NULL);
}
