// SPDX-License-Identifier: Apache-2.0
// Operators that move, pick, resize or reduce elements.
#include "runtime/op/op.h"

// ---- reshape, transpose
int op_reshape_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    NEED(shape_count(&x->shape) == shape_count(&n->attr.move.shape), g, "%s cannot be reshaped to %s",
         shape_text(s, &x->shape), shape_text(t, &n->attr.move.shape));
    op_out(g, n, 0, n->attr.move.shape, x->dtype);
    return 0;
}

int op_reshape_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = g_reshape(g, dy[0], g->value[n->in[0]].shape);
    return g->error;
}

int op_transpose_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    struct shape y = {.rank = x->shape.rank};
    unsigned seen = 0;
    for (int i = 0; i < y.rank; i++) {
        int from = n->attr.move.perm[i];
        NEED(from >= 0 && from < y.rank && !(seen >> from & 1), g, "transpose requires every dimension once");
        seen |= 1u << from;
        y.dim[i] = x->shape.dim[from];
    }
    op_out(g, n, 0, y, x->dtype);
    return 0;
}

int op_transpose_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int back[MAX_RANK] = {0};
    for (int i = 0; i < g->value[n->in[0]].shape.rank; i++) back[n->attr.move.perm[i]] = i;
    dx[0] = g_transpose(g, dy[0], back);
    return g->error;
}

// ---- concat, slice
int op_concat_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    struct shape y = x->shape;
    int axis = n->attr.move.axis;
    NEED(axis >= 0 && axis < y.rank, g, "concat along dimension %d of %d", axis, y.rank);
    for (int i = 1; i < MAX_IN && n->in[i] != NONE; i++) {
        const struct value *v = op_in(g, n, i);
        bool fits = v->shape.rank == y.rank && v->dtype == x->dtype;
        for (int j = 0; fits && j < y.rank; j++) fits = j == axis || v->shape.dim[j] == y.dim[j];
        NEED(fits, g, "concat of shapes or types that differ");
        y.dim[axis] += v->shape.dim[axis];
    }
    op_out(g, n, 0, y, x->dtype);
    return 0;
}

int op_concat_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int64_t begin = 0;
    for (int i = 0; i < MAX_IN && n->in[i] != NONE; i++) {
        int64_t end = begin + g->value[n->in[i]].shape.dim[n->attr.move.axis];
        if (g->value[n->in[i]].trains) dx[i] = g_slice(g, dy[0], n->attr.move.axis, begin, end);
        begin = end;
    }
    return g->error;
}

int op_slice_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    const struct move_attr *a = &n->attr.move;
    NEED(a->axis >= 0 && a->axis < x->shape.rank && a->begin >= 0 && a->begin < a->end &&
             a->end <= x->shape.dim[a->axis],
         g, "slice [%lld, %lld) of dimension %d leaves the tensor", (long long)a->begin, (long long)a->end, a->axis);
    struct shape y = x->shape;
    y.dim[a->axis] = a->end - a->begin;
    op_out(g, n, 0, y, x->dtype);
    return 0;
}

int op_slice_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = n->attr;
    a.move.shape = g->value[n->in[0]].shape;
    dx[0] = graph_node(g, OP_SLICE_GRAD, dy, 1, &a, NULL);
    return g->error;
}

static int to_shape(struct graph *g, struct node *n, int like)
{
    op_out(g, n, 0, n->attr.move.shape, op_in(g, n, like)->dtype);
    return 0;
}

int op_slice_grad_infer(struct graph *g, struct node *n)
{
    return to_shape(g, n, 0);
}

int op_slice_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = g_slice(g, dy[0], n->attr.move.axis, n->attr.move.begin, n->attr.move.end);
    return g->error;
}

// ---- resize
int op_resize_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    const struct shape *y = &n->attr.move.shape;
    NEED(x->shape.rank == 4 && dtype_is_float(x->dtype) && y->rank == 4 && y->dim[1] > 0 && y->dim[2] > 0 &&
             y->dim[0] == x->shape.dim[0] && y->dim[3] == x->shape.dim[3],
         g, "resize requires float x[N,H,W,C] and a positive size");
    return to_shape(g, n, 0);
}

int op_resize_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = n->attr;
    a.move.shape = g->value[n->in[0]].shape;
    dx[0] = graph_node(g, OP_RESIZE_GRAD, dy, 1, &a, NULL);
    return g->error;
}

int op_resize_grad_infer(struct graph *g, struct node *n)
{
    return to_shape(g, n, 0);
}

int op_resize_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    const int64_t *to = g->value[n->in[0]].shape.dim;
    dx[0] = g_resize(g, dy[0], to[1], to[2]);
    return g->error;
}

// ---- gather
int op_gather_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0), *index = op_in(g, n, 1);
    NEED(index && index->dtype == I32 && x->shape.rank >= 1, g, "gather requires an i32 index");
    struct shape y = index->shape;
    NEED(y.rank + x->shape.rank - 1 <= MAX_RANK, g, "gather makes more than %d dimensions", MAX_RANK);
    for (int i = 1; i < x->shape.rank; i++) y.dim[y.rank++] = x->shape.dim[i];
    op_out(g, n, 0, y, x->dtype);
    return 0;
}

int op_gather_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = {.move = {.shape = g->value[n->in[0]].shape}};
    dx[0] = graph_node(g, OP_GATHER_GRAD, (int[]){n->in[1], dy[0]}, 2, &a, NULL);
    return g->error;
}

int op_gather_grad_infer(struct graph *g, struct node *n)
{
    return to_shape(g, n, 1);
}

int op_gather_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[1] = g_gather(g, dy[0], n->in[0]);
    return g->error;
}

// ---- append: an update of the cache
int op_append_infer(struct graph *g, struct node *n)
{
    struct value *cache = op_in(g, n, 0), *x = op_in(g, n, 1), *at = op_in(g, n, 2);
    bool fits = x && x->dtype == cache->dtype && x->shape.rank == cache->shape.rank && x->shape.rank >= 2;
    for (int i = 0; fits && i < x->shape.rank; i++) fits = i == 1 || x->shape.dim[i] == cache->shape.dim[i];
    NEED(fits, g, "append requires cache[B,T,..] and x[B,N,..] of one type");
    int64_t positions = at ? shape_count(&at->shape) : 0;
    NEED(at && at->dtype == I32 && (positions == 1 || positions == x->shape.dim[0]), g,
         "append requires one i32, or one per sample");
    op_out(g, n, 0, cache->shape, cache->dtype);
    return 0;
}

// ---- reorder: an update of x
int op_reorder_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    int64_t rows = x->shape.rank ? x->shape.dim[0] : 0;
    int group = n->attr.reorder.group;
    NEED(group >= 1 && group <= REORDER_MOST && rows % group == 0, g, "reorder in groups of %d of %lld rows: it takes 1 to %d",
         group, (long long)rows, REORDER_MOST);
    NEED(n->in[1] != NONE, g, "reorder requires the row that each row becomes");
    TRY(op_per_sample(g, n, 1, rows));
    if (n->in[2] != NONE) TRY(op_scalar(g, n, 2, I32));
    NEED(n->in[2] == NONE || x->shape.rank > 1, g, "reorder up to a position requires x[N,T,..]");
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

// ---- reduce, broadcast: each is the other's gradient
int op_reduce_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0);
    NEED(dtype_is_float(x->dtype) && dtype_is_float(n->attr.move.to), g, "reduce requires floats");
    NEED(n->attr.move.axes && n->attr.move.axes >> x->shape.rank == 0, g, "reduce over dimensions that are not there");
    struct shape y = x->shape;
    for (int i = 0; i < y.rank; i++)
        if (n->attr.move.axes >> i & 1) y.dim[i] = 1;
    op_out(g, n, 0, y, n->attr.move.to);
    return 0;
}

int op_reduce_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    const struct value *x = &g->value[n->in[0]], *y = &g->value[n->out[0]];
    union attr a = n->attr;
    a.move.shape = x->shape;
    a.move.factor = n->attr.move.mean ? (float)((double)shape_count(&y->shape) / (double)shape_count(&x->shape)) : 1.0f;
    enum dtype to = x->dtype;
    dx[0] = g_cast(g, graph_node(g, OP_BROADCAST, dy, 1, &a, NULL), to);
    return g->error;
}

int op_broadcast_infer(struct graph *g, struct node *n)
{
    NEED(dtype_is_float(op_in(g, n, 0)->dtype), g, "broadcast requires floats");
    return to_shape(g, n, 0);
}

int op_broadcast_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    enum dtype to = g->value[n->in[0]].dtype;
    dx[0] = g_scale(g, g_reduce(g, dy[0], n->attr.move.axes, false, to), n->attr.move.factor);
    return g->error;
}

NO_GRAD(append)
NO_GRAD(reorder)
FLOPS_EACH(reshape, 0)
FLOPS_EACH(transpose, 0)
FLOPS_EACH(concat, 0)
FLOPS_EACH(slice, 0)
FLOPS_EACH(slice_grad, 0)
FLOPS_EACH(resize, 7)
FLOPS_EACH(resize_grad, 7)
FLOPS_EACH(gather, 0)
FLOPS_EACH(gather_grad, 1)
FLOPS_EACH(append, 0)
FLOPS_EACH(reorder, 0)
FLOPS_EACH(reduce, 1)
FLOPS_EACH(broadcast, 1)

int g_reshape(struct graph *g, int x, struct shape shape)
{
    return graph_node(g, OP_RESHAPE, &x, 1, &(union attr){.move = {.shape = shape}}, NULL);
}

int g_transpose(struct graph *g, int x, const int perm[])
{
    if (g->error || x == NONE) return NONE;
    union attr a = {.move = {.axis = 0}};
    for (int i = 0; i < g->value[x].shape.rank; i++) a.move.perm[i] = perm[i];
    return graph_node(g, OP_TRANSPOSE, &x, 1, &a, NULL);
}

int g_concat(struct graph *g, const int x[], int count, int axis)
{
    int most = op_table[OP_CONCAT].inputs;
    if (count > most) return graph_fail(g, ERR_SHAPE, "concat joins at most %d tensors, not %d", most, count);
    return graph_node(g, OP_CONCAT, x, count, &(union attr){.move = {.axis = axis}}, NULL);
}

int g_slice(struct graph *g, int x, int axis, int64_t begin, int64_t end)
{
    return graph_node(g, OP_SLICE, &x, 1, &(union attr){.move = {.axis = axis, .begin = begin, .end = end}}, NULL);
}

int g_resize(struct graph *g, int x, int64_t h, int64_t w)
{
    if (g->error || x == NONE) return NONE;
    const struct shape *s = &g->value[x].shape;
    if (s->rank == 4 && s->dim[1] == h && s->dim[2] == w) return x;
    union attr a = {.move = {.shape = SHAPE(s->dim[0], h, w, s->dim[3])}};
    return graph_node(g, OP_RESIZE, &x, 1, &a, NULL);
}

int g_reduce(struct graph *g, int x, unsigned axes, bool mean, enum dtype to)
{
    return graph_node(g, OP_REDUCE, &x, 1, &(union attr){.move = {.axes = axes, .mean = mean, .to = to}}, NULL);
}

int g_gather(struct graph *g, int x, int index)
{
    return graph_node(g, OP_GATHER, (int[]){x, index}, 2, NULL, NULL);
}

int g_append(struct graph *g, int cache, int x, int at)
{
    return graph_node_over(g, OP_APPEND, (int[]){cache, x, at}, 3, NULL, &cache, NULL);
}

int g_reorder(struct graph *g, int x, int from, int at, int group)
{
    return graph_node_over(g, OP_REORDER, (int[]){x, from, at}, 3, &(union attr){.reorder = {group}}, &x, NULL);
}
