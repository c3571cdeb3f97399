// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/op.h"

int op_same(struct graph *g, const struct node *n, int a, int b)
{
    const struct value *x = op_in(g, n, a), *y = op_in(g, n, b);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    const char *name = node_name(n);
    NEED(x && y, g, "%s lacks an input", name);
    NEED(shape_equal(&x->shape, &y->shape) && x->dtype == y->dtype, g, "%s of %s %s and %s %s", name,
         shape_text(s, &x->shape), dtype_name(x->dtype), shape_text(t, &y->shape), dtype_name(y->dtype));
    return 0;
}

int op_channel(struct graph *g, const struct node *n, int i, int64_t c)
{
    const struct value *x = op_in(g, n, i);
    if (!x) return 0;
    char s[SHAPE_TEXT];
    NEED(x->dtype == F32 && shape_count(&x->shape) == c, g, "%s requires f32 of %lld channels as input %d, not %s %s",
         op_table[n->op].name, (long long)c, i, shape_text(s, &x->shape), dtype_name(x->dtype));
    return 0;
}

int op_scalar(struct graph *g, const struct node *n, int i, enum dtype t)
{
    const struct value *x = op_in(g, n, i);
    NEED(x && x->dtype == t && shape_count(&x->shape) == 1, g, "%s requires one %s as input %d", op_table[n->op].name,
         dtype_name(t), i);
    return 0;
}

int op_per_sample(struct graph *g, const struct node *n, int i, int64_t samples)
{
    const struct value *x = op_in(g, n, i);
    NEED(!x || (x->dtype == I32 && shape_count(&x->shape) == samples), g, "%s requires %lld i32, one per sample, as input %d",
         op_table[n->op].name, (long long)samples, i);
    return 0;
}

int op_drops(struct graph *g, const struct node *n, int key, float p)
{
    const struct value *x = op_in(g, n, key);
    const char *name = op_table[n->op].name;
    NEED(x && x->dtype == I32 && shape_count(&x->shape) == 4, g, "%s requires a key of four i32", name);
    NEED(p >= 0 && p < 1, g, "%s requires a probability in [0, 1)", name);
    return op_scalar(g, n, key + 1, I32);
}

double op_elements(const struct graph *g, const struct node *n)
{
    double most = 0;
    if (n->in[0] != NONE) most = (double)shape_count(&g->value[n->in[0]].shape);
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE && (double)shape_count(&g->value[n->out[i]].shape) > most)
            most = (double)shape_count(&g->value[n->out[i]].shape);
    return most;
}

int op_spread(struct graph *g, int v, struct shape to, unsigned axes)
{
    struct shape one = to;
    for (int i = 0; i < to.rank; i++)
        if (axes >> i & 1) one.dim[i] = 1;
    v = graph_node(g, OP_RESHAPE, &v, 1, &(union attr){.move = {.shape = one}}, NULL);
    if (!axes) return v;
    return graph_node(g, OP_BROADCAST, &v, 1, &(union attr){.move = {.shape = to, .axes = axes, .factor = 1}}, NULL);
}
