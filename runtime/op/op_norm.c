// SPDX-License-Identifier: Apache-2.0
// Batch norm over all dimensions but the last, with fused forms: an activation after it, a 2x2 max pool before it, a shortcut.
// Layer norm and RMS norm over the last dimension, with a fused form: dropout of x and a residual before it.
#include "runtime/op/op.h"

#include <stdio.h>

enum { STATISTIC_NAME = 128 };

static int check(struct graph *g, const struct node *n, int x, int first)
{
    const struct value *v = op_in(g, n, x);
    NEED(v->shape.rank >= 2 && dtype_is_float(v->dtype), g, "batch norm requires float x with channels last");
    for (int i = first; i < first + 2; i++) TRY(op_channel(g, n, i, shape_last(&v->shape)));
    return 0;
}

static int check_training(struct graph *g, const struct node *n)
{
    NEED(op_in(g, n, 1) && op_in(g, n, 2), g, "batch norm requires running statistics");
    TRY(op_channel(g, n, 1, shape_last(&op_in(g, n, 0)->shape)));
    TRY(op_channel(g, n, 2, shape_last(&op_in(g, n, 0)->shape)));
    return check(g, n, 0, 3);
}

// Optional lengths of x[B,T,..,C].
static int check_lengths(struct graph *g, const struct node *n, int x, int lengths)
{
    const struct shape *s = &op_in(g, n, x)->shape;
    NEED(n->in[lengths] == NONE || s->rank >= 3, g, "%s with lengths requires x[B,T,..,C]", op_table[n->op].name);
    return op_per_sample(g, n, lengths, s->dim[0]);
}

int op_norm_infer(struct graph *g, struct node *n)
{
    TRY(check_training(g, n));
    struct value *x = op_in(g, n, 0);
    if (n->in[5] != NONE) {
        TRY(op_same(g, n, 0, 5));
        enum act act = n->attr.norm.act;
        NEED(act == ACT_NONE || act == ACT_RELU, g, "norm with a shortcut has no activation or relu");
    }
    TRY(check_lengths(g, n, 0, 6));
    NEED(n->in[5] == NONE || n->in[6] == NONE, g, "norm with lengths has no shortcut");
    op_out(g, n, 0, x->shape, x->dtype);
    for (int i = 1; i < 5; i++) op_out(g, n, i, SHAPE(shape_last(&x->shape)), F32);
    return 0;
}

int op_pool_norm_infer(struct graph *g, struct node *n)
{
    TRY(check_training(g, n));
    struct value *x = op_in(g, n, 0);
    const int64_t *d = x->shape.dim;
    NEED(x->shape.rank == 4 && d[1] >= 2 && d[2] >= 2, g, "pool_norm requires x[N,H,W,C] of at least 2 x 2");
    struct shape y = SHAPE(d[0], d[1] / 2, d[2] / 2, d[3]);
    op_out(g, n, 0, y, x->dtype);
    op_out(g, n, 1, SHAPE(d[3]), F32);
    op_out(g, n, 2, SHAPE(d[3]), F32);
    op_out(g, n, 3, y, x->dtype);
    op_out(g, n, 4, y, U8);
    op_out(g, n, 5, SHAPE(d[3]), F32);
    op_out(g, n, 6, SHAPE(d[3]), F32);
    return 0;
}

// dx has shape `to`; the gradients of scale and bias exist only where these do.
static void shape_gradients(struct graph *g, struct node *n, struct shape to)
{
    struct value *dy = op_in(g, n, 0);
    int64_t c = shape_last(&dy->shape);
    op_out(g, n, 0, to, dy->dtype);
    op_out(g, n, 1, SHAPE(c), F32);
    op_out(g, n, 2, SHAPE(c), F32);
    if (n->in[4] == NONE) op_drop(n, 1);
    if (n->in[5] == NONE) op_drop(n, 2);
}

int op_norm_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    if (n->in[6] != NONE) TRY(op_same(g, n, 0, 6));
    TRY(check_lengths(g, n, 1, 7));
    shape_gradients(g, n, op_in(g, n, 0)->shape);
    op_out(g, n, 3, op_in(g, n, 0)->shape, op_in(g, n, 0)->dtype);
    if (n->in[6] == NONE) op_drop(n, 3);
    return 0;
}

int op_pool_norm_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 1));
    const int64_t *d = op_in(g, n, 0)->shape.dim;
    shape_gradients(g, n, SHAPE(d[0], n->attr.norm.x_h, n->attr.norm.x_w, d[3]));
    return 0;
}

int op_norm_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int out[4];
    bool gated = n->in[5] != NONE && n->attr.norm.act != ACT_NONE;
    int in[] = {dy[0], n->in[0], n->out[1], n->out[2], n->in[3], n->in[4], gated ? n->out[0] : NONE, n->in[6]};
    graph_node(g, OP_NORM_GRAD, in, 8, &n->attr, out);
    dx[0] = out[0], dx[3] = out[1], dx[4] = out[2], dx[5] = gated ? out[3] : dy[0];
    return g->error;
}

int op_pool_norm_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int out[3];
    union attr a = n->attr;
    a.norm.x_h = g->value[n->in[0]].shape.dim[1];
    a.norm.x_w = g->value[n->in[0]].shape.dim[2];
    graph_node(g, OP_POOL_NORM_GRAD,
               (int[]){dy[0], n->out[3], n->out[1], n->out[2], n->in[3], n->in[4], n->out[4]}, 7, &a, out);
    dx[0] = out[0], dx[3] = out[1], dx[4] = out[2];
    return g->error;
}

int op_norm_infer_infer(struct graph *g, struct node *n)
{
    TRY(check_training(g, n));
    TRY(check_lengths(g, n, 0, 5));
    struct value *x = op_in(g, n, 0);
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

int op_norm_fold_infer(struct graph *g, struct node *n)
{
    struct value *w = op_in(g, n, 0);
    NEED(w->dtype == F32, g, "norm_fold requires f32 filters");
    for (int i = 1; i < 6; i++) TRY(op_channel(g, n, i, w->shape.dim[0]));
    op_out(g, n, 0, w->shape, F32);
    op_out(g, n, 1, SHAPE(w->shape.dim[0]), F32);
    return 0;
}

// ---- layer norm
int op_layer_norm_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    bool residual = n->in[1] != NONE, drops = n->in[4] != NONE;
    NEED(dtype_is_float(x->dtype) && x->shape.rank >= 2, g, "layer_norm requires float x[..,C]");
    if (n->attr.layer_norm.rms) NEED(n->in[3] == NONE, g, "layer_norm without a mean has no bias");
    else NEED(op_in(g, n, 2) && op_in(g, n, 3), g, "layer_norm requires a scale and a bias");
    for (int i = 2; i < 4; i++) TRY(op_channel(g, n, i, shape_last(&x->shape)));
    if (residual) TRY(op_same(g, n, 0, 1));
    NEED(residual || !drops, g, "layer_norm drops elements of x only before it adds a residual");
    if (drops) TRY(op_drops(g, n, 4, n->attr.layer_norm.p));
    op_out(g, n, 0, x->shape, x->dtype);
    op_out(g, n, 1, x->shape, x->dtype);
    for (int i = 2; i < 4; i++) op_out(g, n, i, SHAPE(shape_rows(&x->shape)), F32);
    if (!residual) op_drop(n, 1);
    if (n->attr.layer_norm.rms) op_drop(n, 2);
    return 0;
}

int op_layer_norm_grad_infer(struct graph *g, struct node *n)
{
    const struct value *dy = op_in(g, n, 0);
    bool rms = n->attr.layer_norm.rms;
    TRY(op_same(g, n, 0, 1));
    NEED(n->in[3] != NONE && rms == (n->in[2] == NONE) && (rms || n->in[4] != NONE), g, "layer_norm_grad of other inputs");
    for (int i = 2; i < 4; i++) TRY(op_channel(g, n, i, shape_rows(&dy->shape)));
    TRY(op_channel(g, n, 4, shape_last(&dy->shape)));
    if (n->in[5] != NONE) TRY(op_drops(g, n, 5, n->attr.layer_norm.p));
    op_out(g, n, 0, dy->shape, dy->dtype);
    op_out(g, n, 1, dy->shape, dy->dtype);
    for (int i = 2; i < 4; i++) op_out(g, n, i, SHAPE(shape_last(&dy->shape)), F32);
    if (n->in[5] == NONE) op_drop(n, 1);
    if (n->in[4] == NONE) op_drop(n, 2);
    if (rms) op_drop(n, 3);
    return 0;
}

int op_layer_norm_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int out[4], x = n->in[1] == NONE ? n->in[0] : n->out[1];
    graph_node(g, OP_LAYER_NORM_GRAD, (int[]){dy[0], x, n->out[2], n->out[3], n->in[2], n->in[4], n->in[5]}, 7, &n->attr, out);
    dx[0] = n->in[4] == NONE ? out[0] : out[1];
    if (n->in[1] != NONE) dx[1] = out[0];
    dx[2] = out[2], dx[3] = out[3];
    return g->error;
}

NO_GRAD(layer_norm_grad)
NO_GRAD(norm_grad)
NO_GRAD(pool_norm_grad)
NO_GRAD(norm_infer)
NO_GRAD(norm_fold)
FLOPS_EACH(pool_norm, 4)
FLOPS_EACH(pool_norm_grad, 5)
FLOPS_EACH(norm_infer, 3)
FLOPS_EACH(norm_fold, 1)

double op_layer_norm_flops(const struct graph *g, const struct node *n)
{
    return (n->attr.layer_norm.rms ? 4 : 8) * op_elements(g, n);
}

double op_layer_norm_grad_flops(const struct graph *g, const struct node *n)
{
    return (n->attr.layer_norm.rms ? 9 : 14) * op_elements(g, n);
}

// With the pool's 4 for each of its results, which the convolution counts, the sum equals pool_norm's; backward likewise.
double op_norm_flops(const struct graph *g, const struct node *n)
{
    return (n->attr.norm.pooled ? 12 : 8) * op_elements(g, n);
}

double op_norm_grad_flops(const struct graph *g, const struct node *n)
{
    return (n->attr.norm.pooled ? 20 : 14) * op_elements(g, n);
}

static const char *copy_name(char into[STATISTIC_NAME + 8], const char *name)
{
    snprintf(into, STATISTIC_NAME + 8, "slice.%s", name);
    return into;
}

int graph_slice_copy(const struct graph *g, const struct slot *statistic)
{
    char name[STATISTIC_NAME + 8];
    const struct slot *copy = slot_find(g->store, copy_name(name, statistic->name));
    return copy && copy->number < g->value_ofs ? g->value_of[copy->number] - 1 : NONE;
}

// Slices of a batch, which several processes may compute, begin with the same statistics. A norm that a graph has twice goes on
// with the copy.
static int slice_copy(struct graph *g, const char *name, int of, struct shape shape, struct init begin)
{
    char copy[STATISTIC_NAME + 8];
    int before = g->values, v = graph_state(g, copy_name(copy, name), shape, F32, MEMORY_STATE, begin);
    if (v == NONE) return NONE;
    g->value[v].slot->role = ROLE_DERIVED;
    if (g->values > before) graph_node_over(g, OP_ASSIGN, (int[]){v, of}, 2, NULL, &v, NULL);
    return v;
}

static int running(struct graph *g, const char *name, struct shape shape, struct init begin, bool moves)
{
    int v = graph_state(g, name, shape, F32, MEMORY_STATE, begin);
    if (v == NONE) return NONE;
    g->value[v].slot->role = ROLE_STATISTIC;
    return moves && g->sliced ? slice_copy(g, name, v, shape, begin) : v;
}

int g_norm(struct graph *g, const char *name, int x, int lengths, const struct norm_layer *l)
{
    if (g->error || x == NONE) return NONE;
    struct shape c = SHAPE(shape_last(&g->value[x].shape));
    char slot[STATISTIC_NAME];
    struct init zero = {INIT_ZERO, 0}, one = {INIT_CONSTANT, 1};
    snprintf(slot, sizeof slot, "%s.running_mean", name);
    int mean = running(g, slot, c, zero, l->training);
    snprintf(slot, sizeof slot, "%s.running_var", name);
    int var = running(g, slot, c, one, l->training);
    int s = NONE, b = NONE;
    snprintf(slot, sizeof slot, "%s.weight", name);
    if (l->scale) s = graph_param(g, slot, c, one, ROLE_SCALE);
    snprintf(slot, sizeof slot, "%s.bias", name);
    if (l->bias) b = graph_param(g, slot, c, zero, ROLE_BIAS);
    union attr a = {.norm = {.eps = l->eps, .momentum = l->momentum}};
    int over[] = {NONE, NONE, NONE, mean, var};
    if (l->training) return graph_node_over(g, OP_NORM, (int[]){x, mean, var, s, b, NONE, lengths}, 7, &a, over, NULL);
    return graph_node(g, OP_NORM_INFER, (int[]){x, mean, var, s, b, lengths}, 6, &a, NULL);
}

int g_layer_norm(struct graph *g, const char *name, int x, float eps)
{
    if (g->error || x == NONE) return NONE;
    struct shape c = SHAPE(shape_last(&g->value[x].shape));
    char slot[128];
    snprintf(slot, sizeof slot, "%s.weight", name);
    int scale = graph_param(g, slot, c, (struct init){INIT_CONSTANT, 1}, ROLE_SCALE);
    snprintf(slot, sizeof slot, "%s.bias", name);
    int bias = graph_param(g, slot, c, (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    union attr a = {.layer_norm = {.eps = eps}};
    return graph_node(g, OP_LAYER_NORM, (int[]){x, NONE, scale, bias}, 4, &a, NULL);
}

int g_rms_norm(struct graph *g, int x, int scale, float eps)
{
    return graph_node(g, OP_LAYER_NORM, (int[]){x, NONE, scale}, 3, &(union attr){.layer_norm = {.eps = eps, .rms = true}}, NULL);
}
