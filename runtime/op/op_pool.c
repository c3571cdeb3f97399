// SPDX-License-Identifier: Apache-2.0
// Pooling over rows and columns. Windows that do not fit whole into the input and its padding are dropped.
#include "runtime/op/op.h"

static int pooled(struct graph *g, struct node *n, struct shape *y)
{
    const struct value *x = op_in(g, n, 0);
    const struct pool_attr *a = &n->attr.pool;
    char s[SHAPE_TEXT];
    NEED(x->shape.rank == 4 && dtype_is_float(x->dtype), g, "pooling requires float x[N,H,W,C]");
    NEED(a->k[0] > 0 && a->k[1] > 0 && a->stride[0] > 0 && a->stride[1] > 0, g, "pooling requires a positive window and stride");
    const int64_t *d = x->shape.dim;
    NEED(a->pad[0] >= 0 && a->pad[1] >= 0 && a->pad[0] < a->k[0] && a->pad[1] < a->k[1], g,
         "padding of a pool is smaller than its window: every window holds a pixel");
    int64_t h = d[1] + 2 * a->pad[0], w = d[2] + 2 * a->pad[1];
    NEED(a->k[0] <= h && a->k[1] <= w, g, "a pooling window of %lld x %lld is larger than %s", (long long)a->k[0],
         (long long)a->k[1], shape_text(s, &x->shape));
    *y = SHAPE(d[0], (h - a->k[0]) / a->stride[0] + 1, (w - a->k[1]) / a->stride[1] + 1, d[3]);
    return 0;
}

int op_maxpool_infer(struct graph *g, struct node *n)
{
    struct shape y;
    TRY(pooled(g, n, &y));
    NEED(n->attr.pool.k[0] * n->attr.pool.k[1] <= 256, g, "a max pooling window holds at most 256 positions");
    op_out(g, n, 0, y, op_in(g, n, 0)->dtype);
    op_out(g, n, 1, y, U8);
    return 0;
}

int op_avgpool_infer(struct graph *g, struct node *n)
{
    struct shape y;
    TRY(pooled(g, n, &y));
    op_out(g, n, 0, y, op_in(g, n, 0)->dtype);
    return 0;
}

static struct shape unpooled(const struct value *dy, const struct pool_attr *a)
{
    return SHAPE(dy->shape.dim[0], a->x_h, a->x_w, dy->shape.dim[3]);
}

int op_maxpool_grad_infer(struct graph *g, struct node *n)
{
    struct value *at = op_in(g, n, 0), *dy = op_in(g, n, 1);
    NEED(dy && at->dtype == U8 && shape_equal(&at->shape, &dy->shape), g, "maxpool_grad requires at (u8) and dy alike");
    op_out(g, n, 0, unpooled(dy, &n->attr.pool), dy->dtype);
    return 0;
}

int op_avgpool_grad_infer(struct graph *g, struct node *n)
{
    struct value *dy = op_in(g, n, 0);
    op_out(g, n, 0, unpooled(dy, &n->attr.pool), dy->dtype);
    return 0;
}

static union attr with_input_size(const struct graph *g, const struct node *n)
{
    union attr a = n->attr;
    a.pool.x_h = g->value[n->in[0]].shape.dim[1];
    a.pool.x_w = g->value[n->in[0]].shape.dim[2];
    return a;
}

int op_maxpool_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = with_input_size(g, n);
    dx[0] = graph_node(g, OP_MAXPOOL_GRAD, (int[]){n->out[1], dy[0]}, 2, &a, NULL);
    return g->error;
}

int op_avgpool_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = with_input_size(g, n);
    dx[0] = graph_node(g, OP_AVGPOOL_GRAD, (int[]){dy[0]}, 1, &a, NULL);
    return g->error;
}

int op_avgpool_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    dx[0] = g_avgpool_full(g, dy[0], &n->attr.pool);
    return g->error;
}

NO_GRAD(maxpool_grad)
FLOPS_EACH(maxpool, 1)
FLOPS_EACH(avgpool, 1)
FLOPS_EACH(maxpool_grad, 1)
FLOPS_EACH(avgpool_grad, 1)

static int pool_window(struct graph *g, enum op op, int x, struct pool_attr a)
{
    return graph_node(g, op, &x, 1, &(union attr){.pool = a}, NULL);
}

int g_maxpool(struct graph *g, int x, int k, int stride)
{
    return g_maxpool_pad(g, x, k, stride, 0);
}

int g_maxpool_pad(struct graph *g, int x, int k, int stride, int pad)
{
    return pool_window(g, OP_MAXPOOL, x, (struct pool_attr){.k = {k, k}, .stride = {stride, stride}, .pad = {pad, pad}});
}

int g_avgpool(struct graph *g, int x, int k, int stride)
{
    return pool_window(g, OP_AVGPOOL, x, (struct pool_attr){.k = {k, k}, .stride = {stride, stride}});
}

int g_avgpool_full(struct graph *g, int x, const struct pool_attr *a)
{
    return pool_window(g, OP_AVGPOOL, x, *a);
}

static int global(struct graph *g, enum op op, int x)
{
    if (g->error || x == NONE) return NONE;
    const int64_t *d = g->value[x].shape.dim;
    return pool_window(g, op, x, (struct pool_attr){.k = {d[1], d[2]}, .stride = {d[1], d[2]}});
}

int g_maxpool_global(struct graph *g, int x)
{
    return global(g, OP_MAXPOOL, x);
}

int g_avgpool_global(struct graph *g, int x)
{
    return global(g, OP_AVGPOOL, x);
}
