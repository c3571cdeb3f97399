// SPDX-License-Identifier: Apache-2.0
// Losses and metrics. Both accumulate on the device: no host read inside a step.
#include "runtime/op/op.h"

int op_softmax_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    NEED(dtype_is_float(x->dtype) && x->shape.rank >= 1, g, "softmax requires floats");
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

// a b summed over the last dimension, for each element of it.
static int row_sum(struct graph *g, int a, int b)
{
    if (g->error) return NONE;
    const struct value like = g->value[a];
    unsigned last = 1u << (like.shape.rank - 1);
    return op_spread(g, g_reduce(g, g_mul(g, a, b), last, false, like.dtype), like.shape, last);
}

// dx = y (dy - s) with s the sum of y dy; e: of dx.
int op_softmax_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int y = n->in[0], d = n->in[1], e = dy[0];
    int direct = g_mul(g, e, g_map_of(g, MAP_SUB, (int[]){d, row_sum(g, y, d), NONE}));
    dx[0] = g_map_of(g, MAP_SUB, (int[]){direct, g_mul(g, d, row_sum(g, y, e)), NONE});
    dx[1] = graph_node(g, OP_SOFTMAX_GRAD, (int[]){y, e}, 2, NULL, NULL);
    return g->error;
}

// Input 0 is logits[..,K], input `labels` one class per row.
static int check_labels(struct graph *g, const struct node *n, int labels)
{
    const struct value *x = op_in(g, n, 0), *l = op_in(g, n, labels);
    NEED(x->shape.rank >= 2 && dtype_is_float(x->dtype), g, "%s requires logits[..,K]", op_table[n->op].name);
    NEED(l && (l->dtype == U8 || l->dtype == I32) && shape_count(&l->shape) == shape_rows(&x->shape), g,
         "%s requires one label (u8 or i32) per row", op_table[n->op].name);
    return 0;
}

// Input 1 is labels, or a probability of each class in f32; input 2 weights, or nothing.
static int check_targets(struct graph *g, const struct node *n)
{
    const struct value *x = op_in(g, n, 0), *t = op_in(g, n, 1);
    if (!t || t->dtype != F32) TRY(check_labels(g, n, 1));
    else
        NEED(x->shape.rank >= 2 && dtype_is_float(x->dtype) && shape_equal(&x->shape, &t->shape), g,
             "%s requires one label (u8 or i32) per row, or as many probabilities as logits[..,K]", op_table[n->op].name);
    return op_channel(g, n, 2, shape_rows(&x->shape));
}

enum { XENT_KEPT = 3 };  // of a row: its largest logit, 1 / (sum of exponentials), sum of its targets

int op_xent_infer(struct graph *g, struct node *n)
{
    TRY(check_targets(g, n));
    NEED(n->attr.loss.smoothing >= 0 && n->attr.loss.smoothing < 1, g, "label smoothing must be in [0, 1)");
    int64_t rows = shape_rows(&op_in(g, n, 0)->shape);
    op_out(g, n, 0, SHAPE(1), F32);
    op_out(g, n, 1, SHAPE(rows), F32);
    op_out(g, n, 2, SHAPE(1), F32);
    op_out(g, n, 3, SHAPE(rows, XENT_KEPT), F32);
    for (int i = 2; i < 4; i++) g->value[n->out[i]].trains = false;  // constants to a gradient
    return 0;
}

int op_xent_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {n->in[0], n->in[1], n->in[2], n->attr.loss.mean ? n->out[2] : NONE, n->out[3], dy[0], dy[1]};
    dx[0] = graph_node(g, OP_XENT_GRAD, in, 7, &n->attr, NULL);
    return g->error;
}

int op_xent_grad_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    TRY(check_targets(g, n));
    if (n->attr.loss.mean) TRY(op_scalar(g, n, 3, F32));
    TRY(op_channel(g, n, 4, shape_rows(&x->shape) * XENT_KEPT));
    if (n->in[5] != NONE) TRY(op_scalar(g, n, 5, F32));
    TRY(op_channel(g, n, 6, shape_rows(&x->shape)));
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

int op_correct_infer(struct graph *g, struct node *n)
{
    TRY(check_labels(g, n, 1));
    TRY(op_scalar(g, n, 2, I32));
    NEED(n->attr.loss.k >= 1, g, "top-k requires a positive k");
    op_out(g, n, 0, SHAPE(1), I32);
    return 0;
}

int op_accumulate_infer(struct graph *g, struct node *n)
{
    struct value *total = op_in(g, n, 0), *x = op_in(g, n, 1);
    NEED(x && shape_count(&x->shape) == 1 && shape_count(&total->shape) == 1, g, "accumulate requires single numbers");
    op_out(g, n, 0, total->shape, total->dtype);
    return 0;
}

NO_GRAD(xent_grad)
NO_GRAD(correct)
NO_GRAD(accumulate)
FLOPS_EACH(softmax, 12)
FLOPS_EACH(softmax_grad, 4)
FLOPS_EACH(xent, 12)
FLOPS_EACH(xent_grad, 12)  // the exponential once more
FLOPS_EACH(correct, 1)
FLOPS_EACH(accumulate, 1)

int g_softmax(struct graph *g, int x)
{
    return graph_node(g, OP_SOFTMAX, &x, 1, NULL, NULL);
}

int g_xent(struct graph *g, int logits, int labels, float smoothing, bool mean)
{
    int out[3];
    return g_xent_full(g, (int[]){logits, labels, NONE}, smoothing, mean, out);
}

int g_xent_full(struct graph *g, const int in[3], float smoothing, bool mean, int out[3])
{
    int all[MAX_OUT];
    graph_node(g, OP_XENT, in, 3, &(union attr){.loss = {.smoothing = smoothing, .mean = mean}}, all);
    for (int i = 0; i < 3; i++) out[i] = g->error ? NONE : all[i];
    return out[0];
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
