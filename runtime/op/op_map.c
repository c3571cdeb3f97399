// SPDX-License-Identifier: Apache-2.0
// The formulas of map.def as operators. The text of a slope says what its gradient needs.
#include "runtime/op/op.h"

#include <ctype.h>

static const struct formula {
    int inputs, flops, back_flops;
    const char *slope[MAP_INPUTS];
} formulas[MAP_KINDS] = {
#define MAP(ID, name, inputs, flops, back, value, a, b, c) [MAP_##ID] = {inputs, flops, back, {#a, #b, #c}},
#include "runtime/map.def"
#undef MAP
};
#define ACT(ID, name) _Static_assert((int)MAP_##ID == (int)ACT_##ID && MAP_ADD_##ID == (int)MAP_ADD + (int)ACT_##ID, #name);
ACT_LIST(ACT)
#undef ACT

static const struct formula *formula_of(const struct node *n) { return &formulas[n->attr.map.formula]; }

// True if the text of an expression uses `name`, which is one letter.
static bool names(const char *text, char name)
{
    for (const char *at = text; (at = strchr(at, name)); at++)
        if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) && !isalnum((unsigned char)at[1]) && at[1] != '_')
            return true;
    return false;
}

static bool is_text(const char *a, const char *b) { return !strcmp(a, b); }

// Input i is a float that fits input 0 or lacks leading dimensions of it.
static int check_spread(struct graph *g, const struct node *n, int i)
{
    const struct value *a = op_in(g, n, 0), *b = op_in(g, n, i);
    if (!b || b->shape.rank >= a->shape.rank) return op_same(g, n, 0, i);
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    bool fits = a->dtype == b->dtype;
    for (int k = 1; fits && k <= b->shape.rank; k++)
        fits = b->shape.dim[b->shape.rank - k] == a->shape.dim[a->shape.rank - k];
    NEED(fits, g, "%s of %s %s and %s %s", node_name(n), shape_text(s, &a->shape), dtype_name(a->dtype),
         shape_text(t, &b->shape), dtype_name(b->dtype));
    return 0;
}

int op_map_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0);
    enum map formula = n->attr.map.formula;
    NEED((int)formula > MAP_NONE && formula < MAP_KINDS, g, "map without a formula");
    const struct formula *f = formula_of(n);
    NEED(dtype_is_float(x->dtype), g, "%s requires floats", node_name(n));
    for (int i = 1; i < f->inputs; i++) TRY(check_spread(g, n, i));
    for (int i = f->inputs; i < MAP_INPUTS; i++) NEED(n->in[i] == NONE, g, "%s takes %d inputs", node_name(n), f->inputs);
    op_out(g, n, 0, x->shape, x->dtype);
    bool flat = true;
    for (int i = 0; i < f->inputs; i++) flat &= is_text(f->slope[i], "0");
    if (flat) g->value[n->out[0]].trains = false;  // a comparison is a constant to its readers
    return 0;
}

int op_map_grad_infer(struct graph *g, struct node *n)
{
    const struct value *dy = op_in(g, n, 0);
    NEED(dtype_is_float(dy->dtype), g, "%s requires floats", node_name(n));
    for (int i = 1; i < 1 + MAP_INPUTS; i++)
        if (n->in[i] != NONE) TRY(check_spread(g, n, i));
    if (n->in[1 + MAP_INPUTS] != NONE) TRY(op_same(g, n, 0, 1 + MAP_INPUTS));
    for (int i = 0; i < MAP_INPUTS; i++) op_out(g, n, i, dy->shape, dy->dtype);
    for (int i = formula_of(n)->inputs; i < MAP_INPUTS; i++) op_drop(n, i);
    return 0;
}

int op_sum_spread(struct graph *g, int d, int like)
{
    if (g->error || d == FLAT) return d;
    const struct value v = g->value[like];
    int missing = g->value[d].shape.rank - v.shape.rank;
    if (missing == 0) return d;
    return g_reshape(g, g_reduce(g, d, (1u << missing) - 1u, false, v.dtype), v.shape);
}

// The gradient of input i without a node of its own kind; NONE if it takes one.
static int grad_of_simple(struct graph *g, const struct node *n, int i, int dy)
{
    const char *slope = formula_of(n)->slope[i];
    if (is_text(slope, "1")) return dy;
    if (is_text(slope, "P")) return g_scale(g, dy, n->attr.map.p);
    if (is_text(slope, "Y")) return g_mul(g, dy, n->out[0]);
    for (int k = 0; k < MAP_INPUTS; k++)
        if (is_text(slope, (const char[]){(char)('A' + k), 0})) return g_mul(g, dy, n->in[k]);
    return NONE;
}

bool op_slope_names(const struct op_slope *s, enum operand k)
{
    return names(formulas[s->attr->map.formula].slope[s->input], "ABCY"[k]);
}

bool op_slope_is_zero(const struct op_slope *s) { return is_text(formulas[s->attr->map.formula].slope[s->input], "0"); }

void op_map_slopes(struct graph *g, const struct op_slope *s, unsigned open, int dx[MAP_INPUTS])
{
    const struct formula *f = &formulas[s->attr->map.formula];
    int in[1 + OPERANDS] = {s->u, NONE, NONE, NONE, NONE}, out[MAX_OUT];
    bool shared = (open & 3u) == 3u && is_text(f->slope[0], f->slope[1]);
    if (shared) open &= ~2u;
    for (int i = 0; i < MAP_INPUTS; i++)
        for (int k = 0; k < OPERANDS && open >> i & 1; k++)
            if (names(f->slope[i], "ABCY"[k])) in[1 + k] = s->operand[k];
    if (graph_node(g, OP_MAP_GRAD, in, 1 + OPERANDS, s->attr, out) == NONE) return;
    for (int i = 0; i < MAP_INPUTS; i++) {
        if (open >> i & 1) dx[i] = out[i];
        else g->node[g->nodes - 1].out[i] = NONE;
    }
    if (shared) dx[1] = dx[0];
}

int op_map_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    unsigned open = 0;
    int inputs = formula_of(n)->inputs;
    for (int i = 0; i < inputs; i++) {
        if (!g->value[n->in[i]].trains) continue;
        dx[i] = is_text(formula_of(n)->slope[i], "0") ? FLAT : grad_of_simple(g, n, i, dy[0]);
        if (dx[i] == NONE) open |= 1u << i;
    }
    int operand[OPERANDS] = {n->in[0], n->in[1], n->in[2], n->out[0]};
    if (open) op_map_slopes(g, &(struct op_slope){&n->attr, operand, 0, dy[0]}, open, dx);
    for (int i = 1; i < inputs && !g->error; i++)
        if (dx[i] != NONE) dx[i] = op_sum_spread(g, dx[i], n->in[i]);
    return g->error;
}

double op_map_flops(const struct graph *g, const struct node *n) { return formula_of(n)->flops * op_elements(g, n); }

double op_map_grad_flops(const struct graph *g, const struct node *n)
{
    int gradients = 0;
    for (int i = 0; i < MAP_INPUTS; i++) gradients += n->out[i] != NONE;
    return gradients * formula_of(n)->back_flops * op_elements(g, n);
}

int g_map(struct graph *g, enum map formula, int x, float p, float q)
{
    return graph_node(g, OP_MAP, &x, 1, &(union attr){.map = {formula, p, q}}, NULL);
}

int g_map_of(struct graph *g, enum map formula, const int in[3])
{
    return graph_node(g, OP_MAP, in, 3, &(union attr){.map = {.formula = formula}}, NULL);
}

int g_act(struct graph *g, int x, enum act act) { return act == ACT_NONE ? x : g_map(g, (enum map)act, x, 0, 0); }
int g_add(struct graph *g, int a, int b) { return g_map_of(g, MAP_ADD, (int[]){a, b, NONE}); }
int g_mul(struct graph *g, int a, int b) { return g_map_of(g, MAP_MUL, (int[]){a, b, NONE}); }
int g_scale(struct graph *g, int x, float factor) { return g_map(g, MAP_SCALE, x, factor, 0); }
