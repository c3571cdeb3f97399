// SPDX-License-Identifier: Apache-2.0
// Cases of element-wise operators besides formulas (cases_map.c).
#include "runtime/cases/cases.h"

static void shifted_inputs(struct case_build *b, int in[2])
{
    const int *p = b->row->p;
    enum draw draw = p[2] == ACT_RELU ? DRAW_AWAY : DRAW_NORMAL;  // a kink has no derivative
    in[0] = case_param(b, "x", SHAPE(p[0], p[1]), b->options.type, draw, p[2] == ACT_RELU ? 1.0 : 2.0);
    enum draw shift = p[2] == ACT_RELU ? DRAW_CONSTANT : DRAW_NORMAL;
    in[1] = case_param(b, "bias", SHAPE(p[1]), F32, shift, 0.25);
}

// p: rows, channels, act
static void build_act(struct case_build *b)
{
    int in[2];
    shifted_inputs(b, in);
    case_node(b, in, 2, &(union attr){.act = {(enum act)b->row->p[2]}}, NULL);
}

static void build_act_grad(struct case_build *b)
{
    const int *p = b->row->p;
    int in[3] = {case_param(b, "dy", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 1.0)}, out[MAX_OUT];
    union attr a = {.act = {(enum act)p[2]}};
    shifted_inputs(b, in + 1);
    if (!b->options.gradient) {
        case_node(b, in, 3, &a, NULL);
        return;
    }
    graph_node(b->g, OP_ACT_GRAD, in, 3, &a, out);  // a second derivative comes of both outputs
    case_result(b, g_add(b->g, out[0], g_cast(b->g, g_scale(b->g, out[1], 3), b->options.type)));
}

// p: rows, channels, from, to; `from` COUNT: the case's own type
static void build_cast(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype from = (enum dtype)p[2] == DTYPE_COUNT ? b->options.type : (enum dtype)p[2];
    enum dtype to = (enum dtype)p[3] == DTYPE_COUNT ? b->options.type : (enum dtype)p[3];
    int x = dtype_is_float(from) ? case_param(b, "x", SHAPE(p[0], p[1]), from, DRAW_NORMAL, 3.0)
                                 : case_input(b, "x", SHAPE(p[0], p[1]), from, DRAW_INDEX, 200);
    case_node(b, &x, 1, &(union attr){.cast = {to}}, NULL);
}

// p: rows, channels, percent dropped, site, rows that share a draw (0: none)
static void build_dropout(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = p[4] ? SHAPE(p[0] / p[4], p[4], p[1]) : SHAPE(p[0], p[1]);
    int x = case_param(b, "x", shape, b->options.type, DRAW_AWAY, 1.0);
    int key, step;
    case_dropout(b, &key, &step);
    union attr a = {.dropout = {.p = (float)p[2] / 100.0f, .site = p[3], .shared = p[4] > 0}};
    case_node(b, (int[]){x, key, step}, 3, &a, NULL);
}

// p: numbers, normal, site
static void build_random(struct case_build *b)
{
    const int *p = b->row->p;
    int key, step;
    case_dropout(b, &key, &step);
    union attr a = {.random = {.shape = SHAPE(p[0]), .to = b->options.type, .normal = p[1], .a = -0.5f, .b = 1.5f, .site = p[2]}};
    case_node(b, (int[]){key, step}, 2, &a, NULL);
}

// p: samples, rows, length, with a first one, fill, dimension of the lengths (0: the last)
static void build_mask(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    int first = p[3] ? case_input(b, "first", SHAPE(p[0]), I32, DRAW_INDEX, (p[5] ? p[p[5]] : p[2]) / 2) : NONE;
    int length = case_input(b, "length", SHAPE(p[0]), I32, DRAW_INDEX, (p[5] ? p[p[5]] : p[2]) + 3);
    case_node(b, (int[]){x, first, length}, 3, &(union attr){.mask = {(float)p[4], p[5]}}, NULL);
}

#define HG (CASE_HALF | CASE_GRADIENT)
#define LARGE (CASE_HALF | CASE_LARGE)
#define BOTH(name, act)                                                                                                \
    {"act bias " name, OP_ACT, build_act, HG, {13, 33, act}, 32},                                                      \
    {"act_grad bias " name, OP_ACT_GRAD, build_act_grad, HG, {13, 33, act}, 32},                                       \
    {"act bias " name ", many rows", OP_ACT, build_act, CASE_HALF, {3001, 24, act}, 32},                               \
    {"act_grad bias " name ", many rows", OP_ACT_GRAD, build_act_grad, CASE_HALF, {3001, 24, act}, 128}

const struct op_case cases_element[] = {
    BOTH("alone", ACT_NONE),
    BOTH("relu", ACT_RELU),
    BOTH("gelu", ACT_GELU),
    BOTH("silu", ACT_SILU),
    BOTH("tanh", ACT_TANH),
    BOTH("gelu_tanh", ACT_GELU_TANH),
    BOTH("sigmoid", ACT_SIGMOID),
    {"act of one element", OP_ACT, build_act, HG, {1, 1, ACT_GELU}, 32},
    {"act_grad of one channel", OP_ACT_GRAD, build_act_grad, CASE_HALF, {40, 1, ACT_SILU}, 32},
    {"act_grad of 64 channels", OP_ACT_GRAD, build_act_grad, CASE_HALF, {1001, 64, ACT_GELU}, 128},
    {"act_grad of 2051 channels", OP_ACT_GRAD, build_act_grad, CASE_HALF, {9, 2051, ACT_SILU}, 32},
    {"act of 64 channels", OP_ACT, build_act, CASE_HALF, {301, 64, ACT_SILU}, 32},
    {"mask", OP_MASK, build_mask, HG, {5, 1, 9, 1, -65504}, 0},
    {"mask of matrices", OP_MASK, build_mask, HG, {4, 3, 10, 0, -65504}, 0},
    {"mask to zero", OP_MASK, build_mask, HG, {7, 2, 33, 1, 0}, 0},
    {"mask of frames", OP_MASK, build_mask, HG, {5, 7, 9, 0, 0, 1}, 0},
    {"mask of frames from a first one", OP_MASK, build_mask, HG, {4, 11, 3, 1, 2, 1}, 0},
    {"cast to f32", OP_CAST, build_cast, HG, {5, 51, DTYPE_COUNT, F32}, 0},
    {"cast from f32", OP_CAST, build_cast, HG, {5, 51, F32, DTYPE_COUNT}, 0},
    {"cast f32 to bf16", OP_CAST, build_cast, 0, {9, 33, F32, BF16}, 0},
    {"cast bf16 to f32", OP_CAST, build_cast, 0, {9, 33, BF16, F32}, 0},
    {"cast u8 to f32", OP_CAST, build_cast, 0, {9, 33, U8, F32}, 0},
    {"cast i32 to f32", OP_CAST, build_cast, 0, {9, 33, I32, F32}, 0},
    {"cast f32 to u8", OP_CAST, build_cast, 0, {9, 33, F32, U8}, 0},
    {"cast f32 to i32", OP_CAST, build_cast, 0, {9, 33, F32, I32}, 0},
    {"cast bf16 to u8", OP_CAST, build_cast, 0, {9, 33, BF16, U8}, 0},
    {"cast i32 to u8", OP_CAST, build_cast, 0, {9, 33, I32, U8}, 0},
    {"cast u8 to i32", OP_CAST, build_cast, 0, {9, 33, U8, I32}, 0},
    {"cast u8 to f16", OP_CAST, build_cast, 0, {9, 33, U8, F16}, 0},
    {"cast i32 to bf16", OP_CAST, build_cast, 0, {9, 33, I32, BF16}, 0},
    {"cast f16 to bf16", OP_CAST, build_cast, 0, {9, 33, F16, BF16}, 0},
    {"cast bf16 to f16", OP_CAST, build_cast, 0, {9, 33, BF16, F16}, 0},
    {"cast of i32 to itself", OP_CAST, build_cast, 0, {9, 33, I32, I32}, 0},
    {"dropout .3", OP_DROPOUT, build_dropout, HG, {17, 31, 30, 2}, 0},
    {"dropout, many rows", OP_DROPOUT, build_dropout, CASE_HALF, {3001, 33, 50, 1}, 0},
    {"dropout 0", OP_DROPOUT, build_dropout, HG, {3, 5, 0, 0}, 0},
    {"dropout shared", OP_DROPOUT, build_dropout, HG, {12, 33, 30, 2, 4}, 0},
    {"dropout shared, of 64 channels", OP_DROPOUT, build_dropout, CASE_HALF, {35, 64, 30, 2, 5}, 0},
    {"dropout shared, many rows", OP_DROPOUT, build_dropout, CASE_HALF, {600, 300, 40, 3, 50}, 0},
    {"random uniform", OP_RANDOM, build_random, CASE_HALF, {331, 0, 1}, 0},
    {"random normal", OP_RANDOM, build_random, CASE_HALF, {331, 1, 2}, 0},
    {"random uniform, many", OP_RANDOM, build_random, CASE_HALF, {70001, 0, 1}, 0},
    {"random normal, many", OP_RANDOM, build_random, CASE_HALF, {70001, 1, 1}, 0},
    {"act bias silu 6M", OP_ACT, build_act, LARGE, {96100, 64, ACT_SILU}, 0},
    {"act_grad bias silu 6M", OP_ACT_GRAD, build_act_grad, LARGE, {96100, 64, ACT_SILU}, 0},
    {"random normal 6M", OP_RANDOM, build_random, LARGE, {6150400, 1, 1}, 0},
    {"cast to f32 6M", OP_CAST, build_cast, LARGE, {96100, 64, DTYPE_COUNT, F32}, 0},
    {"dropout 6M", OP_DROPOUT, build_dropout, LARGE, {96100, 64, 30, 1}, 0},
    {0},
};
