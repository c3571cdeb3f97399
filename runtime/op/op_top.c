// SPDX-License-Identifier: Apache-2.0
// The largest elements along dimensions: top-k, arg max, maximum.
#include "runtime/op/op.h"

int op_top_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    int64_t k = n->attr.top.k;
    NEED(dtype_is_float(x->dtype) && x->shape.rank >= 1, g, "top requires float x[..,N]");
    NEED(k >= 1 && k <= TOP_MOST && k <= shape_last(&x->shape) && shape_last(&x->shape) <= INT32_MAX, g,
         "top %lld of %lld: it takes 1 to %d of at most 2^31", (long long)k, (long long)shape_last(&x->shape), TOP_MOST);
    NEED(!n->attr.top.flat || shape_count(&x->shape) <= INT32_MAX, g, "top counts rows of at most 2^31 elements");
    struct shape y = x->shape;
    y.dim[y.rank - 1] = k;
    op_out(g, n, 0, y, x->dtype);
    op_out(g, n, 1, y, I32);
    return 0;
}

int op_top_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = {.top = {.k = n->attr.top.k, .n = shape_last(&g->value[n->in[0]].shape),
                            .flat = n->attr.top.flat}};
    dx[0] = graph_node(g, OP_TOP_GRAD, (int[]){n->out[1], dy[0]}, 2, &a, NULL);
    return g->error;
}

int op_top_grad_infer(struct graph *g, struct node *n)
{
    const struct value *at = op_in(g, n, 0), *dy = op_in(g, n, 1);
    NEED(dy && at->dtype == I32 && shape_equal(&at->shape, &dy->shape), g, "top_grad requires indices (i32) and dy alike");
    struct shape x = dy->shape;
    x.dim[x.rank - 1] = n->attr.top.n;
    op_out(g, n, 0, x, dy->dtype);
    return 0;
}

NO_GRAD(top_grad)
FLOPS_EACH(top, 1)
FLOPS_EACH(top_grad, 0)

static int top_of(struct graph *g, int x, int64_t k, bool flat, int *index)
{
    int out[2];
    graph_node(g, OP_TOP, &x, 1, &(union attr){.top = {.k = k, .flat = flat}}, out);
    if (index) *index = out[1];
    return out[0];
}

int g_top(struct graph *g, int x, int64_t k, int *index) { return top_of(g, x, k, false, index); }
int g_top_flat(struct graph *g, int x, int64_t k, int *index) { return top_of(g, x, k, true, index); }

int g_argmax(struct graph *g, int x)
{
    int index;
    if (g_top(g, x, 1, &index) == NONE) return NONE;
    struct shape shape = g->value[index].shape;
    shape.rank--;
    return g_reshape(g, index, shape);
}

// The reduced dimensions move behind the others, if they are not the last, which costs a copy of x.
int g_reduce_max(struct graph *g, int x, unsigned axes)
{
    if (g->error || x == NONE) return NONE;
    struct shape shape = g->value[x].shape, kept = shape, flat = {.rank = 0};
    if (!axes || axes >> shape.rank) return graph_fail(g, ERR_SHAPE, "a maximum over dimensions that are not there");
    int perm[MAX_RANK], rank = 0;
    int64_t length = 1;
    for (int i = 0; i < shape.rank; i++)
        if (!(axes >> i & 1)) perm[rank] = i, flat.dim[rank++] = shape.dim[i];
    flat.dim[rank] = 1, flat.rank = rank + 1;
    bool moves = axes != (1u << shape.rank) - (1u << rank);
    for (int i = 0; i < shape.rank; i++)
        if (axes >> i & 1) perm[rank++] = i, length *= shape.dim[i], kept.dim[i] = 1;
    flat.dim[flat.rank - 1] = length;
    return g_reshape(g, g_top(g, g_reshape(g, moves ? g_transpose(g, x, perm) : x, flat), 1, NULL), kept);
}
