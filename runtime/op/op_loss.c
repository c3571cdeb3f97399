// SPDX-License-Identifier: Apache-2.0
// Losses and metrics. Both accumulate on the device: no host read inside a step.
#include "runtime/op/op.h"

int op_softmax_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    NEED(dtype_is_float(x->dtype) && x->shape.rank >= 1, g, "softmax wants floats");
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

int op_softmax_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = graph_node(g, OP_SOFTMAX_GRAD, (int[]){n->out[0], dy[0]}, 2, NULL, NULL);
    return g->error;
}

int op_softmax_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    return op_softmax_infer(g, n);
}

static int labelled(struct graph *g, const struct node *n, int labels)
{
    const struct value *x = op_in(g, n, 0), *l = op_in(g, n, labels);
    NEED(x->shape.rank == 2 && dtype_is_float(x->dtype), g, "%s wants logits[B,K]", op_table[n->op].name);
    NEED(l && (l->dtype == U8 || l->dtype == I32) && shape_count(&l->shape) == x->shape.dim[0], g,
         "%s wants one label (u8 or i32) a row", op_table[n->op].name);
    return 0;
}

int op_xent_infer(struct graph *g, struct node *n)
{
    TRY(labelled(g, n, 1));
    NEED(n->attr.loss.smoothing >= 0 && n->attr.loss.smoothing < 1, g, "label smoothing lies in [0, 1)");
    op_out(g, n, 0, SHAPE(1), F32);
    op_out(g, n, 1, op_in(g, n, 0)->shape, F32);
    return 0;
}

int op_xent_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = n->attr;
    a.loss.to = g->value[n->in[0]].dtype;
    if (dy[0] != NONE) dx[0] = graph_node(g, OP_XENT_GRAD, (int[]){n->out[1], n->in[1], dy[0]}, 3, &a, NULL);
    if (dy[1] == NONE) return g->error;
    int of_softmax = g_cast(g, graph_node(g, OP_SOFTMAX_GRAD, (int[]){n->out[1], dy[1]}, 2, NULL, NULL), a.loss.to);
    dx[0] = dx[0] == NONE ? of_softmax : g_add(g, dx[0], of_softmax);
    return g->error;
}

int op_xent_grad_infer(struct graph *g, struct node *n)
{
    TRY(labelled(g, n, 1));
    TRY(op_scalar(g, n, 2, F32));
    op_out(g, n, 0, op_in(g, n, 0)->shape, n->attr.loss.to);
    return 0;
}

int op_correct_infer(struct graph *g, struct node *n)
{
    TRY(labelled(g, n, 1));
    TRY(op_scalar(g, n, 2, I32));
    NEED(n->attr.loss.k >= 1, g, "top-k wants a positive k");
    op_out(g, n, 0, SHAPE(1), I32);
    return 0;
}

int op_accumulate_infer(struct graph *g, struct node *n)
{
    struct value *total = op_in(g, n, 0), *x = op_in(g, n, 1);
    NEED(x && shape_count(&x->shape) == 1 && shape_count(&total->shape) == 1, g, "accumulate wants single numbers");
    op_out(g, n, 0, total->shape, total->dtype);
    return 0;
}

NO_GRAD(softmax_grad)
NO_GRAD(xent_grad)
NO_GRAD(correct)
NO_GRAD(accumulate)
FLOPS_EACH(softmax, 12)
FLOPS_EACH(softmax_grad, 4)
FLOPS_EACH(xent, 12)
FLOPS_EACH(xent_grad, 3)
FLOPS_EACH(correct, 1)
FLOPS_EACH(accumulate, 1)

int g_softmax(struct graph *g, int x)
{
    return graph_node(g, OP_SOFTMAX, &x, 1, NULL, NULL);
}

int g_xent(struct graph *g, int logits, int labels, float smoothing, bool mean)
{
    union attr a = {.loss = {.smoothing = smoothing, .mean = mean}};
    return graph_node(g, OP_XENT, (int[]){logits, labels}, 2, &a, NULL);
}

int g_correct(struct graph *g, int logits, int labels, int counter, int k)
{
    union attr a = {.loss = {.k = k}};
    return graph_node_over(g, OP_CORRECT, (int[]){logits, labels, counter}, 3, &a, &counter, NULL);
}

int g_accumulate(struct graph *g, int total, int x)
{
    return graph_node_over(g, OP_ACCUMULATE, (int[]){total, x}, 2, NULL, &total, NULL);
}
