// SPDX-License-Identifier: Apache-2.0
// Shared by the op_*.c files: they read a node's inputs, give its outputs a shape, or refuse with a sentence.
#pragma once

#include "runtime/graph.h"

static inline struct value *op_in(struct graph *g, const struct node *n, int i)
{
    return n->in[i] == NONE ? NULL : &g->value[n->in[i]];
}

static inline void op_out(struct graph *g, const struct node *n, int i, struct shape shape, enum dtype dtype)
{
    g->value[n->out[i]].shape = shape;
    g->value[n->out[i]].dtype = dtype;
}

static inline void op_constant(struct graph *g, const struct node *n, int i)  // no gradient passes through this output
{
    g->value[n->out[i]].trains = false;
}

static inline void op_drop(struct node *n, int i)  // this output does not exist for this node
{
    n->out[i] = NONE;
}

#define REFUSE(g, ...) return graph_fail(g, ERR_SHAPE, __VA_ARGS__), (g)->error
#define NEED(condition, g, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) REFUSE(g, __VA_ARGS__);                                                                      \
    } while (0)

int op_same(struct graph *, const struct node *, int a, int b);         // inputs a and b agree in shape and type
int op_channel(struct graph *, const struct node *, int i, int64_t c);  // optional input i is f32[c]
int op_scalar(struct graph *, const struct node *, int i, enum dtype);  // input i is one element
int op_per_sample(struct graph *, const struct node *, int i, int64_t samples);  // optional input i is i32[samples]
int op_drops(struct graph *, const struct node *, int key, float p);  // inputs `key` and the next belong to a dropout

// For operators that make, move or update data: nothing flows back.
#define NO_GRAD(name)                                                                                                  \
    int op_##name##_grad(struct graph *g, const struct node *n, const int *dy, int *dx)                                \
    {                                                                                                                  \
        (void)dy, (void)dx, (void)n;                                                                                   \
        return graph_fail(g, ERR_SHAPE, "%s has no gradient", #name), g->error;                                        \
    }
// `per` operations an element of output 0 (or of input 0 when it is larger).
#define FLOPS_EACH(name, per)                                                                                          \
    double op_##name##_flops(const struct graph *g, const struct node *n)                                              \
    {                                                                                                                  \
        return (per) * op_elements(g, n);                                                                              \
    }
double op_elements(const struct graph *, const struct node *);
enum { FLOPS_OF_ACT = 8 };  // with its bias, per element

// ---- slopes of formulas, and second derivatives (op_curve.c): nodes that are u times one, or FLAT
enum { MAP_INPUTS = 3 };
enum operand { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_Y, OPERANDS };  // of a slope in map.def
struct op_slope {
    const union attr *attr;  // its formula
    const int *operand;      // [OPERANDS]
    int input;               // the slope of this input
    int u;
};
bool op_slope_names(const struct op_slope *, enum operand);
bool op_slope_is_zero(const struct op_slope *);
// u times the slopes of the inputs in the bit mask, by one node; equal slopes share a gradient.
void op_map_slopes(struct graph *, const struct op_slope *, unsigned inputs, int dx[MAP_INPUTS]);
int op_bias_grad(struct graph *, int d, int bias);  // of a bias alone: d summed over all but the last dimension
int op_act_slope(struct graph *, enum act, int x, int u);
int op_act_curve(struct graph *, enum act, int x, int u);
int op_sum_spread(struct graph *, int d, int like);  // d summed over the leading dimensions that value `like` lacks, in its type
int op_spread(struct graph *, int v, struct shape to, unsigned axes);  // v repeated over these dimensions of `to`

// The three functions of every operator.
#define OP(ID, name, inputs, outputs, flags)                                                                           \
    int op_##name##_infer(struct graph *, struct node *);                                                              \
    int op_##name##_grad(struct graph *, const struct node *, const int *, int *);                                     \
    double op_##name##_flops(const struct graph *, const struct node *);
#include "runtime/ops.def"
#undef OP
