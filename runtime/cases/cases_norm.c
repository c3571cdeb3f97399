// SPDX-License-Identifier: Apache-2.0
// Cases of batch norm in all its forms. Statistics of two rows of one or two pixels are as valid as statistics of a large batch;
// "far from zero" detects a one-pass variance in f32 that cancels.
#include "runtime/cases/cases.h"

// p: n, h, w, c (h = 0: 2-D), scale, bias, act, far, shortcut, lengths
static struct shape norm_x(const int *p) { return p[1] ? SHAPE(p[0], p[1], p[2], p[3]) : SHAPE(p[0], p[3]); }
static struct shape norm_pooled(const int *p) { return SHAPE(p[0], p[1] / 2, p[2] / 2, p[3]); }

static union attr norm_of(const int *p)
{
    return (union attr){.norm = {.eps = 1e-5f, .momentum = 0.6f, .act = (enum act)p[6], .x_h = p[1], .x_w = p[2]}};
}

static int norm_lengths(struct case_build *b)
{
    return b->row->p[9] ? case_input(b, "lengths", SHAPE(b->row->p[0]), I32, DRAW_INDEX, b->row->p[1] + 2) : NONE;
}

static int norm_scale(struct case_build *b, int64_t c)
{
    return b->row->p[4] ? case_param(b, "scale", SHAPE(c), F32, DRAW_POSITIVE, 1.0) : NONE;
}

static int norm_bias(struct case_build *b, int64_t c)
{
    return b->row->p[5] ? case_param(b, "bias", SHAPE(c), F32, DRAW_NORMAL, 0.5) : NONE;
}

// Running values are overwritten, so they must be the slots themselves, not copies.
static int norm_running(struct case_build *b, const char *name, enum draw draw)
{
    bool through = b->options.through;
    b->options.through = through && b->row->op == OP_NORM_INFER;
    int v = case_input(b, name, SHAPE(b->row->p[3]), F32, draw, 1.0);
    b->options.through = through;
    return v;
}

static void build_norm(struct case_build *b)
{
    const int *p = b->row->p;
    bool pool = b->row->op == OP_POOL_NORM;
    union attr a = norm_of(p);
    // A ladder if there is a maximum: adjacent values differ by more than the steps of finite differences.
    enum draw draw = p[7] ? DRAW_FAR : pool ? DRAW_DISTINCT : DRAW_NORMAL;
    int x = case_param(b, "x", norm_x(p), b->options.type, draw, p[7] ? p[7] : pool ? 0.5 : 1.0);
    int mean = norm_running(b, "run_mean", DRAW_NORMAL), var = norm_running(b, "run_var", DRAW_POSITIVE);
    int in[] = {x, mean, var, norm_scale(b, p[3]), norm_bias(b, p[3]), NONE, norm_lengths(b)};
    if (b->row->op == OP_NORM_INFER) in[5] = in[6];
    // Far on either side of relu's kink, so that finite differences do not cross it.
    if (p[8]) in[5] = case_param(b, "shortcut", norm_x(p), b->options.type, p[6] ? DRAW_AWAY : DRAW_NORMAL, p[6] ? 16 : 1);
    int over[] = {NONE, NONE, NONE, pool ? NONE : mean, pool ? NONE : var, mean, var};
    case_node(b, in, b->row->op == OP_NORM ? 7 : pool ? 5 : 6, &a, b->row->op == OP_NORM_INFER ? NULL : over);
}

static void build_norm_grad(struct case_build *b)
{
    const int *p = b->row->p;
    bool pool = b->row->op == OP_POOL_NORM_GRAD;
    struct shape shape = pool ? norm_pooled(p) : norm_x(p);
    union attr a = norm_of(p);
    int dy = case_input(b, "dy", shape, b->options.type, DRAW_NORMAL, 1.0);
    int x = case_input(b, "x", shape, b->options.type, DRAW_NORMAL, 1.0);
    int mean = case_input(b, "mean", SHAPE(p[3]), F32, DRAW_NORMAL, 0.25);
    int rstd = case_input(b, "rstd", SHAPE(p[3]), F32, DRAW_POSITIVE, 1.0);
    int in[] = {dy, x, mean, rstd, norm_scale(b, p[3]), norm_bias(b, p[3]), NONE, norm_lengths(b)};
    if (pool) in[6] = case_input(b, "at", shape, U8, DRAW_INDEX, 4);
    else if (p[8]) in[6] = case_input(b, "y", shape, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, in, pool ? 7 : 8, &a, NULL);
}

// p: n is the number of filters, h x w x c one filter; far: with the convolution's bias
static void build_fold(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = norm_of(p);
    struct shape k = SHAPE(p[0]);
    int w = case_input(b, "w", SHAPE(p[0], p[1], p[2], p[3]), F32, DRAW_NORMAL, 0.2);
    int mean = case_input(b, "run_mean", k, F32, DRAW_NORMAL, 1.0);
    int var = case_input(b, "run_var", k, F32, DRAW_POSITIVE, 1.0);
    int in[] = {w, mean, var, norm_scale(b, p[0]), norm_bias(b, p[0]), NONE};
    if (p[7]) in[5] = case_input(b, "before", k, F32, DRAW_NORMAL, 1.0);
    case_node(b, in, 6, &a, NULL);
}

// p: rows, c, residual, dropout in percent, RMS norm, without a scale
static void build_layer_norm(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = SHAPE(p[0], p[1]);
    enum dtype t = b->options.type;
    union attr a = {.layer_norm = {.eps = 1e-5f, .p = (float)p[3] / 100.0f, .site = 3, .rms = p[4]}};
    int x = case_param(b, "x", shape, t, DRAW_NORMAL, 1.0), residual = NONE, key = NONE, step = NONE;
    if (p[2]) residual = case_param(b, "residual", shape, t, DRAW_NORMAL, 1.0);
    int scale = p[5] ? NONE : case_param(b, "scale", SHAPE(p[1]), F32, DRAW_POSITIVE, 1.0);
    int bias = p[4] ? NONE : case_param(b, "bias", SHAPE(p[1]), F32, DRAW_NORMAL, 0.5);
    if (p[3]) case_dropout(b, &key, &step);
    case_node(b, (int[]){x, residual, scale, bias, key, step}, 6, &a, NULL);
}

static void build_layer_norm_grad(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = SHAPE(p[0], p[1]), rows = SHAPE(p[0]);
    enum dtype t = b->options.type;
    union attr a = {.layer_norm = {.eps = 1e-5f, .p = (float)p[3] / 100.0f, .site = 3, .rms = p[4]}};
    int dy = case_input(b, "dy", shape, t, DRAW_NORMAL, 1.0), x = case_input(b, "x", shape, t, DRAW_NORMAL, 1.0);
    int mean = p[4] ? NONE : case_input(b, "mean", rows, F32, DRAW_NORMAL, 0.25), key = NONE, step = NONE;
    int rstd = case_input(b, "rstd", rows, F32, DRAW_POSITIVE, 1.0);
    int scale = p[5] ? NONE : case_input(b, "scale", SHAPE(p[1]), F32, DRAW_POSITIVE, 1.0);
    if (p[3]) case_dropout(b, &key, &step);
    case_node(b, (int[]){dy, x, mean, rstd, scale, key, step}, 7, &a, NULL);
}

#define ROW(name, op, build, flags, slack, ...) {name, op, build, flags, {__VA_ARGS__}, slack}
#define TRAIN(name, flags, ...)                                                                                        \
    ROW("norm " name, OP_NORM, build_norm, CASE_HALF | (flags), 48, __VA_ARGS__),                                      \
    ROW("norm_grad " name, OP_NORM_GRAD, build_norm_grad, CASE_HALF, 64, __VA_ARGS__),                                 \
    ROW("norm_infer " name, OP_NORM_INFER, build_norm, CASE_HALF, 0, __VA_ARGS__)
#define ADDED(name, flags, ...)                                                                                        \
    ROW("norm " name, OP_NORM, build_norm, CASE_HALF | (flags), 48, __VA_ARGS__),                                      \
    ROW("norm_grad " name, OP_NORM_GRAD, build_norm_grad, CASE_HALF, 64, __VA_ARGS__)
#define POOLED(name, flags, ...)                                                                                       \
    ROW("pool_norm " name, OP_POOL_NORM, build_norm, CASE_HALF | (flags), 48, __VA_ARGS__),                            \
    ROW("pool_norm_grad " name, OP_POOL_NORM_GRAD, build_norm_grad, CASE_HALF, 64, __VA_ARGS__)
#define LARGE (CASE_HALF | CASE_LARGE)
#define BIG(name, ...)                                                                                                 \
    ROW("norm " name, OP_NORM, build_norm, LARGE, 0, __VA_ARGS__),                                                     \
    ROW("norm_grad " name, OP_NORM_GRAD, build_norm_grad, LARGE, 0, __VA_ARGS__),                                      \
    ROW("norm_infer " name, OP_NORM_INFER, build_norm, LARGE, 0, __VA_ARGS__),                                         \
    ROW("pool_norm " name, OP_POOL_NORM, build_norm, LARGE, 0, __VA_ARGS__),                                           \
    ROW("pool_norm_grad " name, OP_POOL_NORM_GRAD, build_norm_grad, LARGE, 0, __VA_ARGS__)

#define HALF (CASE_HALF | CASE_INSIDE)  // the sum is rounded before it is normalised
#define LAYER(name, flags, ...)                                                                                        \
    ROW("layer_norm " name, OP_LAYER_NORM, build_layer_norm, (flags), 64, __VA_ARGS__),                                \
    ROW("layer_norm_grad " name, OP_LAYER_NORM_GRAD, build_layer_norm_grad, (flags) & ~CASE_GRADIENT, 128, __VA_ARGS__)

const struct op_case cases_norm[] = {
    LAYER("plain",                        CASE_HALF | CASE_GRADIENT, 9, 20, 0, 0),
    LAYER("residual",                     HALF | CASE_GRADIENT, 7, 33, 1, 0),
    LAYER("dropout, residual",            HALF | CASE_GRADIENT, 7, 24, 1, 30),
    LAYER("of one channel",               HALF, 5, 1, 1, 0),
    LAYER("of 384 channels, many rows",   HALF, 301, 384, 1, 10),
    LAYER("of 770 channels",              CASE_HALF, 21, 770, 0, 0),
    LAYER("of 2056 channels",             HALF, 3, 2056, 1, 50),
    LAYER("of 33 channels, 300 rows",     CASE_HALF, 300, 33, 0, 0),
    LAYER("of 33 channels, 77 rows, dropout, residual", HALF, 77, 33, 1, 30),
    LAYER("rms of 33 channels, 77 rows, dropout, residual", HALF, 77, 33, 1, 30, 1),
    LAYER("rms",                          CASE_HALF | CASE_GRADIENT, 9, 20, 0, 0, 1),
    LAYER("rms, no scale",                CASE_HALF | CASE_GRADIENT, 9, 20, 0, 0, 1, 1),
    LAYER("rms, residual",                HALF | CASE_GRADIENT, 7, 33, 1, 0, 1, 1),
    LAYER("rms, dropout, residual",       HALF | CASE_GRADIENT, 7, 24, 1, 30, 1),
    LAYER("rms of one channel",           CASE_HALF, 5, 1, 0, 0, 1),
    LAYER("rms of 32 channels, 333 rows", CASE_HALF, 333, 32, 0, 0, 1),
    LAYER("rms of 64 channels, 1029 rows, no scale",  CASE_HALF, 1029, 64, 0, 0, 1, 1),
    LAYER("rms of 128 channels, 301 rows, no scale",  CASE_HALF, 301, 128, 0, 0, 1, 1),
    LAYER("rms of 384 channels, residual, many rows", HALF, 301, 384, 1, 10, 1),
    LAYER("rms of 770 channels",          CASE_HALF, 21, 770, 0, 0, 1),
    LAYER("of 12288 x 768",               LARGE, 12288, 768, 0, 0),
    LAYER("rms of 12288 x 768",           LARGE, 12288, 768, 0, 0, 1),
    LAYER("rms of 147456 x 64, no scale", LARGE, 147456, 64, 0, 0, 1, 1),
    LAYER("rms of 73728 x 128, no scale", LARGE, 73728, 128, 0, 0, 1, 1),
    LAYER("of 12288 x 768, residual",     LARGE, 12288, 768, 1, 0),
    LAYER("rms of 12288 x 768, residual", LARGE, 12288, 768, 1, 0, 1),
    LAYER("of 12288 x 768, dropout, residual", LARGE, 12288, 768, 1, 10),
    //                                                n  h  w  c   sc bi act
    TRAIN("plain",                     CASE_GRADIENT, 3, 4, 5, 17, 0, 0, ACT_NONE, 0),
    TRAIN("bias gelu",                 CASE_GRADIENT, 2, 3, 5, 24, 0, 1, ACT_GELU, 0),
    TRAIN("scale bias silu",           CASE_GRADIENT, 2, 4, 4, 10, 1, 1, ACT_SILU, 0),
    TRAIN("scale bias relu",           0,             2, 4, 4, 33, 1, 1, ACT_RELU, 0),
    TRAIN("scale",                     CASE_GRADIENT, 2, 2, 3, 3,  1, 0, ACT_NONE, 0),
    TRAIN("2-D bias",                  CASE_GRADIENT, 9, 0, 0, 20, 0, 1, ACT_NONE, 0),
    TRAIN("one channel",               CASE_GRADIENT, 2, 3, 3, 1,  1, 1, ACT_NONE, 0),
    TRAIN("64 channels, many rows",    0,             8, 9, 9, 64, 0, 1, ACT_GELU, 0),
    TRAIN("24 channels, many images",  0,             40, 11, 11, 24, 1, 1, ACT_SILU, 0),
    TRAIN("300 channels",              0,             2, 3, 3, 300, 1, 1, ACT_GELU, 0),
    TRAIN("2056 channels",             0,             2, 1, 3, 2056, 1, 1, ACT_NONE, 0),
    TRAIN("12 channels, many rows",    0,             30, 7, 9, 12, 0, 1, ACT_GELU, 0),
    TRAIN("one row",                   0,             1, 0, 0, 24, 1, 1, ACT_NONE, 0),
    TRAIN("lengths",                   CASE_GRADIENT, 5, 4, 1, 17, 1, 1, ACT_NONE, 0, 0, 1),
    TRAIN("lengths, gelu",             CASE_GRADIENT, 4, 3, 5, 24, 0, 1, ACT_GELU, 0, 0, 1),
    TRAIN("lengths, many frames",      0,             9, 61, 3, 64, 1, 1, ACT_RELU, 0, 0, 1),
    TRAIN("lengths, far from zero",    0,             7, 33, 2, 12, 0, 1, ACT_NONE, 3, 0, 1),
    ADDED("scale bias, shortcut, relu", CASE_GRADIENT, 3, 4, 5, 17, 1, 1, ACT_RELU, 0, 1),
    ADDED("shortcut, relu",             0,             2, 5, 3, 64, 0, 0, ACT_RELU, 0, 1),
    ADDED("shortcut, relu, many rows",  0,             8, 9, 9, 64, 1, 1, ACT_RELU, 0, 1),
    ADDED("shortcut, relu, many images", 0,            40, 11, 11, 24, 1, 1, ACT_RELU, 0, 1),
    ADDED("300 channels, shortcut, relu", 0,           2, 3, 3, 300, 1, 1, ACT_RELU, 0, 1),
    ROW("norm scale bias, shortcut", OP_NORM, build_norm, CASE_HALF | CASE_GRADIENT, 48, 3, 4, 5, 17, 1, 1, ACT_NONE, 0, 1),
    ROW("norm far from zero", OP_NORM, build_norm, 0, 2000, 8, 5, 5, 16, 0, 1, ACT_NONE, 8),
    POOLED("bias gelu",                CASE_GRADIENT, 2, 6, 4, 24, 0, 1, ACT_GELU, 0),
    POOLED("odd sizes, bias silu",     CASE_GRADIENT, 3, 7, 5, 17, 0, 1, ACT_SILU, 0),
    POOLED("scale bias",               CASE_GRADIENT, 2, 5, 4, 3,  1, 1, ACT_NONE, 0),
    POOLED("plain relu",               0,             2, 4, 4, 33, 0, 0, ACT_RELU, 0),
    POOLED("2x2 images",               CASE_GRADIENT, 5, 2, 3, 16, 0, 1, ACT_NONE, 0),
    POOLED("64 channels, many rows",   0,             8, 15, 14, 64, 0, 1, ACT_GELU, 0),
    POOLED("24 channels, many images", 0,             40, 11, 12, 24, 1, 1, ACT_SILU, 0),
    POOLED("300 channels",             0,             2, 5, 5, 300, 1, 1, ACT_GELU, 0),
    POOLED("256 channels, odd sizes",  0,             9, 7, 5, 256, 0, 1, ACT_SILU, 0),
    ROW("norm_fold plain", OP_NORM_FOLD, build_fold, 0, 0, 10, 3, 3, 7, 0, 0, ACT_NONE, 0),
    ROW("norm_fold scale, bias, convolution's bias", OP_NORM_FOLD, build_fold, 0, 0, 17, 2, 2, 3, 1, 1, ACT_NONE, 1),
    BIG("64 @31 bias gelu", 100, 31, 31, 64, 0, 1, ACT_GELU, 0),
    ROW("norm 256 @56 shortcut, relu", OP_NORM, build_norm, LARGE, 0, 32, 56, 56, 256, 1, 1, ACT_RELU, 0, 1),
    ROW("norm_grad 256 @56 shortcut, relu", OP_NORM_GRAD, build_norm_grad, LARGE, 0, 32, 56, 56, 256, 1, 1, ACT_RELU, 0, 1),
    BIG("256 @15 bias silu", 100, 15, 15, 256, 0, 1, ACT_SILU, 0),
    {0},
};
