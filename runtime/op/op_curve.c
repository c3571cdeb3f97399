// SPDX-License-Identifier: Apache-2.0
// Second derivatives of formulas, composed of formulas and their slopes, so that they need no kernels and have derivatives, too.
// Cost: up to a dozen passes over the elements. Piecewise linear formulas have none.
#include "runtime/op/op.h"

static int neg(struct graph *g, int x) { return g_map(g, MAP_NEG, x, 0, 0); }
static int square(struct graph *g, int x) { return g_map(g, MAP_SQUARE, x, 0, 0); }
static int divide(struct graph *g, int a, int b) { return g_map_of(g, MAP_DIV, (int[]){a, b, NONE}); }
static int line(struct graph *g, int x, float a, float b) { return g_map(g, MAP_SHIFT, g_scale(g, x, a), b, 0); }  // a x + b

int op_act_slope(struct graph *g, enum act act, int x, int u)
{
    int out[MAX_OUT];
    union attr a = {.map = {.formula = (enum map)act}};
    return graph_node(g, OP_MAP_GRAD, (int[]){u, x}, 2, &a, out);
}

static int times_tanh_of_half(struct graph *g, int v, int x)  // 1 - 2 sigmoid(x) = -tanh(x / 2)
{
    return g_mul(g, v, g_act(g, g_scale(g, x, 0.5f), ACT_TANH));
}

static int silu_curve(struct graph *g, int x, int u)  // sigmoid'(x) (2 - x tanh(x / 2))
{
    return g_mul(g, op_act_slope(g, ACT_SIGMOID, x, u), line(g, times_tanh_of_half(g, x, x), -1, 2));
}

static int gelu_curve(struct graph *g, int x, int u)  // (2 - x^2) e^(-x^2 / 2) / sqrt(2 pi)
{
    int q = square(g, x), density = g_map(g, MAP_EXP, g_scale(g, q, -0.5f), 0, 0);
    return g_mul(g, g_mul(g, u, density), line(g, q, -0.3989422804f, 0.7978845608f));
}

// tanh'(w) (w' + x w'' / 2 - x w'^2 tanh(w)), w = c (x + k x^3)
static int gelu_tanh_curve(struct graph *g, int x, int u)
{
    const float c = 0.7978845608f, k = 0.044715f;
    int q = square(g, x), w = g_mul(g, x, line(g, q, c * k, c)), slope = line(g, q, 3 * c * k, c);
    int last = g_mul(g, g_mul(g, x, square(g, slope)), g_act(g, w, ACT_TANH));
    int bend = g_map_of(g, MAP_SUB, (int[]){line(g, q, 6 * c * k, c), last, NONE});
    return g_mul(g, op_act_slope(g, ACT_TANH, w, u), bend);
}

int op_act_curve(struct graph *g, enum act act, int x, int u)
{
    switch (act) {
    case ACT_GELU: return gelu_curve(g, x, u);
    case ACT_SILU: return silu_curve(g, x, u);
    case ACT_TANH: return g_scale(g, g_mul(g, op_act_slope(g, act, x, u), g_act(g, x, act)), -2);
    case ACT_GELU_TANH: return gelu_tanh_curve(g, x, u);
    case ACT_SIGMOID: return neg(g, times_tanh_of_half(g, op_act_slope(g, act, x, u), x));
    case ACT_NONE:
    case ACT_RELU:
    case ACT_KINDS: break;
    }
    return FLAT;
}

static int div_curve(struct graph *g, const struct op_slope *s, enum operand by)  // of 1 / B and -Y / B
{
    int b = s->operand[OPERAND_B], once = divide(g, s->u, b);
    if (s->input == 0) return neg(g, divide(g, once, b));
    return by == OPERAND_Y ? neg(g, once) : divide(g, g_mul(g, once, s->operand[OPERAND_Y]), b);
}

static int silu_mul_curve(struct graph *g, const struct op_slope *s, enum operand by)
{
    int a = s->operand[OPERAND_A];
    if (s->input == 1 || by == OPERAND_B) return op_act_slope(g, ACT_SILU, a, s->u);
    return g_mul(g, op_act_curve(g, ACT_SILU, a, s->u), s->operand[OPERAND_B]);
}

static int pow_curve(struct graph *g, const struct op_slope *s)
{
    const float p = s->attr->map.p;
    return g_scale(g, g_mul(g, s->u, g_map(g, MAP_POW, s->operand[OPERAND_A], p - 2, 0)), p * (p - 1));
}

// u times the derivative of a slope by an operand that it names, or FLAT.
static int map_curve(struct graph *g, const struct op_slope *s, enum operand by)
{
    const enum map formula = s->attr->map.formula;
    const int a = s->operand[OPERAND_A], y = s->operand[OPERAND_Y], u = s->u;
    if ((int)formula < ACT_KINDS) return op_act_curve(g, (enum act)formula, a, u);
    int sum = (int)formula - MAP_ADD;  // with an activation
    if (sum > 0 && sum < ACT_KINDS)
        return sum == ACT_RELU ? FLAT : op_act_curve(g, (enum act)sum, g_add(g, a, s->operand[OPERAND_B]), u);
    switch (formula) {
    case MAP_MUL:
    case MAP_EXP: return u;
    case MAP_DIV: return div_curve(g, s, by);
    case MAP_SQUARE: return g_scale(g, u, 2);
    case MAP_SQRT: return g_scale(g, divide(g, divide(g, u, y), y), -0.5f);
    case MAP_RECIPROCAL: return g_scale(g, g_mul(g, u, y), -2);
    case MAP_LOG: return neg(g, divide(g, divide(g, u, a), a));
    case MAP_POW: return pow_curve(g, s);
    case MAP_RELU_SQUARE: return g_scale(g, op_act_slope(g, ACT_RELU, a, u), 2);
    case MAP_SILU_MUL: return silu_mul_curve(g, s, by);
    case MAP_SOFTPLUS: return op_act_slope(g, ACT_SIGMOID, a, u);
    default: return FLAT;
    }
}

static void add_to(struct graph *g, int *sum, int d)
{
    if (d != FLAT) *sum = *sum == FLAT ? d : g_add(g, *sum, d);
}

// Differentiates the sum over inputs of dy[i] * d * slope i.
int op_map_grad_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    const int *operand = n->in + 1, d = n->in[0];
    for (int k = 0; k <= OPERANDS; k++) dx[k] = FLAT;
    for (int i = 0; i < MAP_INPUTS; i++) {
        struct op_slope s = {&n->attr, operand, i, dy[i]};
        if (dy[i] == NONE || op_slope_is_zero(&s)) continue;
        int first[MAP_INPUTS] = {NONE, NONE, NONE};
        if (g->value[d].trains) {
            op_map_slopes(g, &s, 1u << i, first);
            add_to(g, &dx[0], first[i]);
        }
        s.u = g_mul(g, d, dy[i]);
        for (int k = 0; k < OPERANDS && !g->error; k++)
            if (operand[k] != NONE && g->value[operand[k]].trains && op_slope_names(&s, (enum operand)k))
                add_to(g, &dx[1 + k], op_sum_spread(g, map_curve(g, &s, (enum operand)k), operand[k]));
    }
    return g->error;
}
