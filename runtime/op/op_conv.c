// SPDX-License-Identifier: Apache-2.0
// Convolution: x[N,H,W,C] * w[K,R,S,C/groups] -> y[N,P,Q,K], and its gradients.
#include "runtime/op/op.h"

static int64_t window_count(int64_t size, int64_t before, int64_t after, int64_t k, int64_t stride)
{
    int64_t span = size + before + after - k;
    return span < 0 ? 0 : span / stride + 1;
}

int op_conv_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0), *w = op_in(g, n, 1);
    const struct conv_attr *a = &n->attr.conv;
    NEED(w && x->shape.rank == 4 && w->shape.rank == 4, g, "conv requires x[N,H,W,C] and w[K,R,S,C]");
    NEED(dtype_is_float(x->dtype) && w->dtype == F32, g, "conv requires float x and f32 filters");
    NEED(a->stride[0] > 0 && a->stride[1] > 0 && a->groups > 0, g, "conv requires positive strides and groups");
    int64_t *xd = x->shape.dim, *wd = w->shape.dim;
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    NEED(xd[3] == wd[3] * a->groups && wd[0] % a->groups == 0, g, "filters %s do not fit input %s in %d groups",
         shape_text(s, &w->shape), shape_text(t, &x->shape), a->groups);
    int64_t p = window_count(xd[1], a->before[0], a->after[0], wd[1], a->stride[0]);
    int64_t q = window_count(xd[2], a->before[1], a->after[1], wd[2], a->stride[1]);
    NEED(p > 0 && q > 0, g, "filters %s are larger than input %s", shape_text(s, &w->shape), shape_text(t, &x->shape));
    TRY(op_channel(g, n, 2, wd[0]));
    NEED(!a->pool || (p % 2 == 0 && q % 2 == 0), g, "a pooled convolution requires results of even sides; got %lld x %lld",
         (long long)p, (long long)q);
    struct shape y = a->pool ? SHAPE(xd[0], p / 2, q / 2, wd[0]) : SHAPE(xd[0], p, q, wd[0]);
    op_out(g, n, 0, y, x->dtype);
    op_out(g, n, 1, y, U8);
    if (!a->pool) op_drop(n, 1);
    return 0;
}

// Positions come with the gradient of a pool, and only with it.
static int check_positions(struct graph *g, const struct node *n)
{
    const struct value *dy = op_in(g, n, 1), *at = op_in(g, n, 2);
    const char *name = op_table[n->op].name;
    NEED(n->attr.conv.pool == (at != NULL), g, "%s requires positions if its dy comes from a pool, else none", name);
    NEED(!at || (at->dtype == U8 && shape_equal(&at->shape, &dy->shape)), g, "%s requires at (u8) and dy alike", name);
    return 0;
}

int op_conv_dgrad_infer(struct graph *g, struct node *n)
{
    struct value *w = op_in(g, n, 0), *dy = op_in(g, n, 1);
    const struct conv_attr *a = &n->attr.conv;
    TRY(check_positions(g, n));
    op_out(g, n, 0, SHAPE(dy->shape.dim[0], a->x_h, a->x_w, w->shape.dim[3] * a->groups), dy->dtype);
    return 0;
}

int op_conv_wgrad_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0), *dy = op_in(g, n, 1);
    const struct conv_attr *a = &n->attr.conv;
    TRY(check_positions(g, n));
    op_out(g, n, 0, SHAPE(dy->shape.dim[3], a->r, a->s, x->shape.dim[3] / a->groups), F32);
    return 0;
}

int op_conv_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int x = n->in[0], w = n->in[1], b = n->in[2], d = dy[0], at = n->attr.conv.pool ? n->out[1] : NONE;
    union attr a = n->attr;
    NEED(a.conv.act == ACT_NONE, g, "a convolution with an activation fused into it is for inference");
    a.conv.x_h = g->value[x].shape.dim[1], a.conv.x_w = g->value[x].shape.dim[2];
    a.conv.r = g->value[w].shape.dim[1], a.conv.s = g->value[w].shape.dim[2];
    if (g->value[x].trains) dx[0] = graph_node(g, OP_CONV_DGRAD, (int[]){w, d, at}, 3, &a, NULL);
    if (g->value[w].trains) dx[1] = graph_node(g, OP_CONV_WGRAD, (int[]){x, d, at}, 3, &a, NULL);
    if (b != NONE && g->value[b].trains) {
        struct shape flat = SHAPE(shape_last(&g->value[d].shape));
        dx[2] = g_reshape(g, g_reduce(g, d, 7u, false, F32), flat);
    }
    return g->error;
}

// A convolution is linear in x and in w, so its two gradients and itself are each other's. e: of the result of conv_dgrad or
// conv_wgrad.
static int check_single(struct graph *g, const struct node *n)
{
    NEED(!n->attr.conv.pool, g, "%s of a pooled convolution has no gradient", op_table[n->op].name);
    return 0;
}

int op_conv_dgrad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int w = n->in[0], d = n->in[1], e = dy[0];
    union attr a = n->attr;
    TRY(check_single(g, n));
    a.conv.r = g->value[w].shape.dim[1], a.conv.s = g->value[w].shape.dim[2];
    if (g->value[w].trains) dx[0] = graph_node(g, OP_CONV_WGRAD, (int[]){e, d}, 2, &a, NULL);
    if (g->value[d].trains) dx[1] = graph_node(g, OP_CONV, (int[]){e, w}, 2, &a, NULL);
    return g->error;
}

int op_conv_wgrad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int x = n->in[0], d = n->in[1], e = dy[0];
    union attr a = n->attr;
    TRY(check_single(g, n));
    a.conv.x_h = g->value[x].shape.dim[1], a.conv.x_w = g->value[x].shape.dim[2];
    if (g->value[x].trains) dx[0] = graph_node(g, OP_CONV_DGRAD, (int[]){e, d}, 2, &a, NULL);
    if (g->value[d].trains) dx[1] = graph_node(g, OP_CONV, (int[]){x, e}, 2, &a, NULL);
    return g->error;
}

// Multiplications and additions of the dense sum, padding included: what every framework counts. A pool keeps one of four
// results.
static double dense(const struct node *n, const struct shape *y, const struct shape *w)
{
    return (n->attr.conv.pool ? 8.0 : 2.0) * (double)shape_count(y) * (double)(w->dim[1] * w->dim[2] * w->dim[3]);
}

// And what the pool and the activation behind it count alone, because a count must not depend on the device.
double op_conv_flops(const struct graph *g, const struct node *n)
{
    const struct conv_attr *a = &n->attr.conv;
    const struct shape *y = &g->value[n->out[n->out[0] == NONE]].shape;
    double each = a->pool ? 4 + (a->act == ACT_NONE ? 0 : 8) : 0;
    return dense(n, y, &g->value[n->in[1]].shape) + each * (double)shape_count(y);
}

double op_conv_dgrad_flops(const struct graph *g, const struct node *n)
{
    return dense(n, &g->value[n->in[1]].shape, &g->value[n->in[0]].shape);
}

double op_conv_wgrad_flops(const struct graph *g, const struct node *n)
{
    return dense(n, &g->value[n->in[1]].shape, &g->value[n->out[0]].shape);
}

int g_conv_full(struct graph *g, int x, int w, int bias, const struct conv_attr *a)
{
    return graph_node(g, OP_CONV, (int[]){x, w, bias}, 3, &(union attr){.conv = *a}, NULL);
}

int g_conv(struct graph *g, int x, int w, int stride, int pad)
{
    struct conv_attr a = {.stride = {stride, stride}, .before = {pad, pad}, .after = {pad, pad}, .groups = 1};
    return g_conv_full(g, x, w, NONE, &a);
}

int g_deconv(struct graph *g, int x, int w, const struct conv_attr *a)
{
    if (g->error || x == NONE || w == NONE) return NONE;
    const struct shape *xs = &g->value[x].shape, *ws = &g->value[w].shape;
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    bool fits = xs->rank == 4 && ws->rank == 4 && a->stride[0] > 0 && a->stride[1] > 0 && a->groups == 1;
    fits = fits && xs->dim[3] == ws->dim[0] && dtype_is_float(g->value[x].dtype) && g->value[w].dtype == F32;
    fits = fits && window_count(a->x_h, a->before[0], a->after[0], ws->dim[1], a->stride[0]) == xs->dim[1];
    fits = fits && window_count(a->x_w, a->before[1], a->after[1], ws->dim[2], a->stride[1]) == xs->dim[2];
    if (!fits)
        return graph_fail(g, ERR_SHAPE, "deconv of %s by filters %s to %lld x %lld", shape_text(s, xs), shape_text(t, ws),
                          (long long)a->x_h, (long long)a->x_w);
    return graph_node(g, OP_CONV_DGRAD, (int[]){w, x}, 2, &(union attr){.conv = *a}, NULL);
}
