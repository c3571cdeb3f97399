// SPDX-License-Identifier: Apache-2.0
// An output layer and its cross-entropy. The forward node makes the gradients of the sum of the losses, too, because its logits
// are gone afterwards; backward multiplies them (docs/decisions/linear-xent.md).
#include "runtime/op/op.h"

enum { X, W, LABELS, BIAS, WEIGHTS };
enum { LOSS, ROWS, COUNT, HIT, DX, DW, DBIAS };
static const int trained[3] = {X, W, BIAS}, gradient[3] = {DX, DW, DBIAS};

int op_linear_xent_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, X), *w = op_in(g, n, W), *l = op_in(g, n, LABELS);
    const struct linear_xent_attr *a = &n->attr.linear_xent;
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    NEED(x->shape.rank >= 2 && dtype_is_float(x->dtype), g, "linear_xent requires x[..,C]");
    NEED(w && w->dtype == F32 && w->shape.rank == 2 && w->shape.dim[1] == shape_last(&x->shape), g,
         "linear_xent of x %s requires w[V,C] in f32, not %s", shape_text(s, &x->shape), w ? shape_text(t, &w->shape) : "none");
    const int64_t rows = shape_rows(&x->shape), classes = w->shape.dim[0];
    NEED(l && (l->dtype == U8 || l->dtype == I32) && shape_count(&l->shape) == rows, g,
         "linear_xent requires one label (u8 or i32) per row");
    TRY(op_channel(g, n, BIAS, classes));
    TRY(op_channel(g, n, WEIGHTS, rows));
    NEED(a->smoothing >= 0 && a->smoothing < 1, g, "label smoothing must be in [0, 1)");
    NEED(a->cap >= 0, g, "a cap of logits is at least 0");
    const struct shape of_x = x->shape, of_w = w->shape;
    const enum dtype type = x->dtype;
    op_out(g, n, LOSS, SHAPE(1), F32);
    op_out(g, n, ROWS, SHAPE(rows), F32);
    op_out(g, n, COUNT, SHAPE(1), F32);
    op_out(g, n, HIT, SHAPE(rows), F32);
    op_out(g, n, DX, of_x, type);
    op_out(g, n, DW, of_w, F32);
    op_out(g, n, DBIAS, SHAPE(classes), F32);
    for (int i = COUNT; i <= DBIAS; i++) g->value[n->out[i]].trains = false;  // constants to a gradient
    for (int i = 0; i < 3; i++)
        if (n->in[trained[i]] == NONE || !op_in(g, n, trained[i])->trains) op_drop(n, gradient[i]);
    return 0;
}

static int flat(struct graph *g, int v)
{
    return g->error ? NONE : g_reshape(g, v, SHAPE(shape_count(&g->value[v].shape)));
}

// The gradients of the sum of drows * rows: rows that have them as their weights.
static void grads_of_rows(struct graph *g, const struct node *n, int drows, int *d)
{
    int in[5], out[MAX_OUT];
    memcpy(in, n->in, sizeof in);
    in[WEIGHTS] = n->in[WEIGHTS] == NONE ? drows : g_mul(g, flat(g, n->in[WEIGHTS]), drows);
    union attr a = n->attr;
    a.linear_xent.mean = false;
    graph_node(g, OP_LINEAR_XENT, in, 5, &a, out);
    for (int i = 0; i < 3; i++) d[i] = g->error ? NONE : out[gradient[i]];
}

int op_linear_xent_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int of_rows[3] = {NONE, NONE, NONE}, count = n->attr.linear_xent.mean ? n->out[COUNT] : NONE;
    if (dy[ROWS] != NONE) grads_of_rows(g, n, dy[ROWS], of_rows);
    for (int i = 0; i < 3; i++) {
        int d = n->out[gradient[i]];
        if (d == NONE) continue;
        if (dy[LOSS] != NONE) d = graph_node(g, OP_LINEAR_XENT_GRAD, (int[]){d, dy[LOSS], count}, 3, NULL, NULL);
        dx[trained[i]] = dy[LOSS] == NONE ? of_rows[i] : dy[ROWS] == NONE ? d : g_add(g, d, of_rows[i]);
    }
    return g->error;
}

int op_linear_xent_grad_infer(struct graph *g, struct node *n)
{
    const struct value *d = op_in(g, n, 0);
    NEED(dtype_is_float(d->dtype), g, "linear_xent_grad requires floats");
    TRY(op_scalar(g, n, 1, F32));
    if (n->in[2] != NONE) TRY(op_scalar(g, n, 2, F32));
    op_out(g, n, 0, d->shape, d->dtype);
    return 0;
}

// One product for the logits, one more for each of dx and dw; for these a GPU computes the exponential once more.
double op_linear_xent_flops(const struct graph *g, const struct node *n)
{
    const struct value *x = node_in(g, n, X), *w = node_in(g, n, W);
    const double rows = (double)shape_rows(&x->shape), classes = (double)w->shape.dim[0], channels = (double)w->shape.dim[1];
    const int products = 1 + (n->out[DX] != NONE) + (n->out[DW] != NONE);
    const bool back = products > 1 || n->out[DBIAS] != NONE;
    return rows * classes * (2.0 * products * channels + (back ? 24.0 : 12.0));
}
FLOPS_EACH(linear_xent_grad, 1)
NO_GRAD(linear_xent_grad)

int g_linear_xent(struct graph *g, const struct linear_xent *l, int out[3])
{
    int all[MAX_OUT], in[] = {l->x, l->w, l->labels, l->bias, l->weights};
    union attr a = {.linear_xent = {.smoothing = l->smoothing, .cap = l->cap, .mean = l->mean, .bytes = LINEAR_XENT_BYTES}};
    graph_node(g, OP_LINEAR_XENT, in, 5, &a, all);
    for (int i = 0; i < 3; i++) out[i] = g->error ? NONE : all[i];
    if (l->hit) *l->hit = g->error ? NONE : all[HIT];
    return out[0];
}
