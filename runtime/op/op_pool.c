// SPDX-License-Identifier: Apache-2.0
// Pooling over rows and columns. Windows that do not fit whole are dropped.
#include "runtime/op/op.h"

static int pooled(struct graph *g, struct node *n, struct shape *y)
{
    const struct value *x = op_in(g, n, 0);
    const struct pool_attr *a = &n->attr.pool;
    char s[SHAPE_TEXT];
    NEED(x->shape.rank == 4 && dtype_is_float(x->dtype), g, "pooling wants float x[N,H,W,C]");
    NEED(a->k[0] > 0 && a->k[1] > 0 && a->stride[0] > 0 && a->stride[1] > 0, g, "pooling wants a positive window and stride");
    const int64_t *d = x->shape.dim;
    NEED(a->k[0] <= d[1] && a->k[1] <= d[2], g, "a pooling window of %lld x %lld is larger than %s", (long long)a->k[0],
         (long long)a->k[1], shape_text(s, &x->shape));
    *y = SHAPE(d[0], (d[1] - a->k[0]) / a->stride[0] + 1, (d[2] - a->k[1]) / a->stride[1] + 1, d[3]);
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
    NEED(dy && at->dtype == U8 && shape_equal(&at->shape, &dy->shape), g, "maxpool_grad wants at (u8) and dy alike");
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

NO_GRAD(maxpool_grad)
NO_GRAD(avgpool_grad)
FLOPS_EACH(maxpool, 1)
FLOPS_EACH(avgpool, 1)
FLOPS_EACH(maxpool_grad, 1)
FLOPS_EACH(avgpool_grad, 1)

static int pool(struct graph *g, enum op op, int x, int64_t kh, int64_t kw, int64_t sh, int64_t sw)
{
    return graph_node(g, op, &x, 1, &(union attr){.pool = {.k = {kh, kw}, .stride = {sh, sw}}}, NULL);
}

int g_maxpool(struct graph *g, int x, int k, int stride)
{
    return pool(g, OP_MAXPOOL, x, k, k, stride, stride);
}

static int global(struct graph *g, enum op op, int x)
{
    if (g->error || x == NONE) return NONE;
    const int64_t *d = g->value[x].shape.dim;
    return pool(g, op, x, d[1], d[2], d[1], d[2]);
}

int g_maxpool_global(struct graph *g, int x)
{
    return global(g, OP_MAXPOOL, x);
}

int g_avgpool_global(struct graph *g, int x)
{
    return global(g, OP_AVGPOOL, x);
}
