// SPDX-License-Identifier: Apache-2.0
// Matrices: y = alpha op(a) op(b) + beta c, or y = op(a) op(b) + bias of columns; 2-D or 3-D with a leading batch. Closed under
// differentiation.
#include "runtime/op/op.h"

enum { BIAS = 3 };

static void sides(const struct shape *s, bool transposed, int64_t *rows, int64_t *columns)
{
    int64_t r = s->dim[s->rank - 2], c = s->dim[s->rank - 1];
    *rows = transposed ? c : r;
    *columns = transposed ? r : c;
}

int op_matmul_infer(struct graph *g, struct node *n)
{
    struct value *a = op_in(g, n, 0), *b = op_in(g, n, 1), *c = op_in(g, n, 2);
    const struct matmul_attr *t = &n->attr.matmul;
    char s[SHAPE_TEXT], u[SHAPE_TEXT];
    NEED(b && a->shape.rank == b->shape.rank && (a->shape.rank == 2 || a->shape.rank == 3), g,
         "matmul requires two matrices, or two batches of them");
    NEED(dtype_is_float(a->dtype) && dtype_is_float(b->dtype) && dtype_is_float(t->out), g, "matmul requires floats");
    int64_t m, k, k2, columns;
    sides(&a->shape, t->ta, &m, &k);
    sides(&b->shape, t->tb, &k2, &columns);
    NEED(k == k2 && (a->shape.rank == 2 || a->shape.dim[0] == b->shape.dim[0]), g, "matmul of %s%s and %s%s",
         shape_text(s, &a->shape), t->ta ? " transposed" : "", shape_text(u, &b->shape), t->tb ? " transposed" : "");
    struct shape y = a->shape.rank == 2 ? SHAPE(m, columns) : SHAPE(a->shape.dim[0], m, columns);
    NEED(!c || (shape_equal(&c->shape, &y) && c->dtype == t->out), g, "matmul adds a matrix of another shape or type");
    NEED(!op_in(g, n, BIAS) || (!c && t->alpha == 1), g, "matmul adds a bias to a plain product only");
    TRY(op_channel(g, n, BIAS, columns));
    op_out(g, n, 0, y, t->out);
    return 0;
}

// Two f32 factors give f32, rounded afterwards: no library multiplies f32 into 16 bits.
static int product(struct graph *g, int a, bool ta, int b, bool tb, float alpha, enum dtype out)
{
    if (g->error) return NONE;
    bool wide = g->value[a].dtype == F32 && g->value[b].dtype == F32;
    struct matmul_attr attr = {.ta = ta, .tb = tb, .alpha = alpha, .out = wide ? F32 : out};
    return g_cast(g, g_matmul_full(g, a, b, NONE, &attr), out);
}

int op_matmul_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    struct matmul_attr t = n->attr.matmul;
    int a = n->in[0], b = n->in[1], c = n->in[2], d = dy[0];
    if (g->value[a].trains)
        dx[0] = t.ta ? product(g, b, t.tb, d, true, t.alpha, g->value[a].dtype)
                     : product(g, d, false, b, !t.tb, t.alpha, g->value[a].dtype);
    if (g->value[b].trains)
        dx[1] = t.tb ? product(g, d, true, a, t.ta, t.alpha, g->value[b].dtype)
                     : product(g, a, !t.ta, d, false, t.alpha, g->value[b].dtype);
    if (c != NONE && g->value[c].trains) dx[2] = g_scale(g, d, t.beta);
    if (n->in[BIAS] != NONE && g->value[n->in[BIAS]].trains) dx[BIAS] = op_bias_grad(g, d, n->in[BIAS]);
    return g->error;
}

double op_matmul_flops(const struct graph *g, const struct node *n)
{
    int64_t m, k;
    sides(&g->value[n->in[0]].shape, n->attr.matmul.ta, &m, &k);
    double each = n->in[BIAS] == NONE ? 0 : FLOPS_OF_ACT;  // as a node of its own
    return (2.0 * (double)k + each) * (double)shape_count(&g->value[n->out[0]].shape);
}

int g_matmul_full(struct graph *g, int a, int b, int c, const struct matmul_attr *t)
{
    union attr attr = {.matmul = *t};
    return graph_node(g, OP_MATMUL, (int[]){a, b, c}, 3, &attr, NULL);
}

int g_matmul(struct graph *g, int a, bool ta, int b, bool tb, enum dtype out)
{
    return g_matmul_full(g, a, b, NONE, &(struct matmul_attr){.ta = ta, .tb = tb, .alpha = 1, .out = out});
}

int g_linear(struct graph *g, int x, int w, int bias, enum dtype out)
{
    if (g->error || x == NONE || w == NONE) return NONE;
    struct shape to = g->value[x].shape;
    bool flat = to.rank == 2;
    if (!flat) x = g_reshape(g, x, SHAPE(shape_rows(&to), shape_last(&to)));
    int y = g_matmul(g, x, false, w, true, out);
    if (g->error) return NONE;
    to.dim[to.rank - 1] = g->value[w].shape.dim[0];
    if (!flat) y = g_reshape(g, y, to);
    return bias == NONE ? y : g_bias(g, y, bias);
}
