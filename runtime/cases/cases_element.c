// SPDX-License-Identifier: Apache-2.0
// Cases of element-wise operators.
#include "runtime/cases/cases.h"

// p: rows, channels, act, bias
static void build_act(struct case_build *b)
{
    const int *p = b->row->p;
    enum draw draw = p[2] == ACT_RELU ? DRAW_AWAY : DRAW_NORMAL;  // a kink has no derivative
    int x = case_param(b, "x", SHAPE(p[0], p[1]), b->options.type, draw, p[2] == ACT_RELU ? 1.0 : 2.0);
    enum draw shift = p[2] == ACT_RELU ? DRAW_CONSTANT : DRAW_NORMAL;
    int bias = p[3] ? case_param(b, "bias", SHAPE(p[1]), F32, shift, 0.25) : NONE;
    case_node(b, (int[]){x, bias}, 2, &(union attr){.act = {(enum act)p[2]}}, NULL);
}

static void build_act_grad(struct case_build *b)
{
    const int *p = b->row->p;
    int dy = case_input(b, "dy", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 1.0);
    int x = case_input(b, "x", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 2.0);
    int bias = p[3] ? case_input(b, "bias", SHAPE(p[1]), F32, DRAW_NORMAL, 0.25) : NONE;
    case_node(b, (int[]){dy, x, bias}, 3, &(union attr){.act = {(enum act)p[2]}}, NULL);
}

static void build_two(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "a", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 1.0);
    int y = case_param(b, "b", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){x, y}, 2, NULL, NULL);
}

// p: rows, channels, act. The slope is that of the result, so that only relu has a gradient.
static void build_add_act(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "a", SHAPE(p[0], p[1]), b->options.type, DRAW_AWAY, 1.0);
    int y = case_param(b, "b", SHAPE(p[0], p[1]), b->options.type, DRAW_CONSTANT, 0.5);
    case_node(b, (int[]){x, y}, 2, &(union attr){.act = {(enum act)p[2]}}, NULL);
}

static void build_scale(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[1]), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &(union attr){.scale = {-1.0f / 3.0f}}, NULL);
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

// p: samples, tokens, channels; b lacks samples, or samples and tokens if p[3] is 2
static void build_spread(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape small = p[3] == 2 ? SHAPE(p[2]) : SHAPE(p[1], p[2]);
    int x = case_param(b, "a", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    int y = case_param(b, "b", small, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){x, y}, 2, NULL, NULL);
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
#define BOTH(name, act, bias)                                                                                          \
    {"act " name, OP_ACT, build_act, HG, {13, 33, act, bias}, 32},                                                     \
    {"act_grad " name, OP_ACT_GRAD, build_act_grad, CASE_HALF, {13, 33, act, bias}, 32},                               \
    {"act " name ", many rows", OP_ACT, build_act, CASE_HALF, {3001, 24, act, bias}, 32},                              \
    {"act_grad " name ", many rows", OP_ACT_GRAD, build_act_grad, CASE_HALF, {3001, 24, act, bias}, 128}
#define BIG(name, act, bias)                                                                                           \
    {"act " name " 6M", OP_ACT, build_act, LARGE, {96100, 64, act, bias}, 0},                                          \
    {"act_grad " name " 6M", OP_ACT_GRAD, build_act_grad, LARGE, {96100, 64, act, bias}, 0}

const struct op_case cases_element[] = {
    BOTH("bias alone", ACT_NONE, 1),
    BOTH("relu", ACT_RELU, 0),
    BOTH("gelu", ACT_GELU, 0),
    BOTH("silu", ACT_SILU, 0),
    BOTH("tanh", ACT_TANH, 0),
    BOTH("gelu_tanh", ACT_GELU_TANH, 0),
    BOTH("sigmoid", ACT_SIGMOID, 0),
    BOTH("bias tanh", ACT_TANH, 1),
    BOTH("bias gelu_tanh", ACT_GELU_TANH, 1),
    BOTH("bias sigmoid", ACT_SIGMOID, 1),
    BOTH("bias relu", ACT_RELU, 1),
    BOTH("bias gelu", ACT_GELU, 1),
    BOTH("bias silu", ACT_SILU, 1),
    {"act of one element", OP_ACT, build_act, HG, {1, 1, ACT_GELU, 1}, 32},
    {"act_grad of one channel", OP_ACT_GRAD, build_act_grad, CASE_HALF, {40, 1, ACT_SILU, 1}, 32},
    {"act_grad of 64 channels", OP_ACT_GRAD, build_act_grad, CASE_HALF, {1001, 64, ACT_GELU, 1}, 128},
    {"act_grad of 2051 channels", OP_ACT_GRAD, build_act_grad, CASE_HALF, {9, 2051, ACT_SILU, 1}, 32},
    {"act of 64 channels", OP_ACT, build_act, CASE_HALF, {301, 64, ACT_SILU, 1}, 32},
    {"add", OP_ADD, build_two, HG, {7, 37}, 0},
    {"add_act relu", OP_ADD_ACT, build_add_act, HG, {7, 37, ACT_RELU}, 0},
    {"add_act relu, many rows", OP_ADD_ACT, build_add_act, CASE_HALF, {3001, 37, ACT_RELU}, 0},
    {"add_act gelu", OP_ADD_ACT, build_add_act, CASE_HALF, {13, 33, ACT_GELU}, 32},
    {"add_act silu", OP_ADD_ACT, build_add_act, CASE_HALF, {13, 33, ACT_SILU}, 32},
    {"add_act none", OP_ADD_ACT, build_add_act, CASE_HALF, {13, 33, ACT_NONE}, 0},
    {"add, many rows", OP_ADD, build_two, CASE_HALF, {3001, 37}, 0},
    {"mul, many rows", OP_MUL, build_two, CASE_HALF, {3001, 37}, 0},
    {"mul", OP_MUL, build_two, HG, {7, 37}, 0},
    {"add of positions", OP_ADD, build_spread, HG, {3, 5, 17, 1}, 32},
    {"add of positions, many rows", OP_ADD, build_spread, CASE_HALF, {40, 64, 24, 1}, 0},
    {"add of a row", OP_ADD, build_spread, HG, {3, 4, 32, 2}, 32},
    {"mul by a row", OP_MUL, build_spread, HG, {3, 4, 33, 2}, 64},
    {"mul by positions, many rows", OP_MUL, build_spread, CASE_HALF, {40, 64, 24, 1}, 0},
    {"mask", OP_MASK, build_mask, HG, {5, 1, 9, 1, -65504}, 0},
    {"mask of matrices", OP_MASK, build_mask, HG, {4, 3, 10, 0, -65504}, 0},
    {"mask to zero", OP_MASK, build_mask, HG, {7, 2, 33, 1, 0}, 0},
    {"mask of frames", OP_MASK, build_mask, HG, {5, 7, 9, 0, 0, 1}, 0},
    {"mask of frames from a first one", OP_MASK, build_mask, HG, {4, 11, 3, 1, 2, 1}, 0},
    {"scale", OP_SCALE, build_scale, HG, {5, 51}, 0},
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
    BIG("gelu", ACT_GELU, 0),
    BIG("bias silu", ACT_SILU, 1),
    {"add_act relu 6M", OP_ADD_ACT, build_add_act, LARGE, {96100, 64, ACT_RELU}, 0},
    {"add 6M", OP_ADD, build_two, LARGE, {96100, 64}, 0},
    {"cast to f32 6M", OP_CAST, build_cast, LARGE, {96100, 64, DTYPE_COUNT, F32}, 0},
    {"dropout 6M", OP_DROPOUT, build_dropout, LARGE, {96100, 64, 30, 1}, 0},
    {0},
};
