// SPDX-License-Identifier: Apache-2.0
// Cases of pooling: odd sizes whose last row is dropped, overlapping windows, global windows, padding.
#include "runtime/cases/cases.h"

// p: n, h, w, c, window rows, columns, stride rows, columns, padding of rows, columns, which a mean counts
static union attr pool_of(const int *p)
{
    return (union attr){.pool = {.k = {p[4], p[5]}, .stride = {p[6], p[7]}, .pad = {p[8], p[9]}, .counts_pad = p[10],
                                 .x_h = p[1], .x_w = p[2]}};
}

static struct shape pool_y(const int *p)
{
    return SHAPE(p[0], (p[1] + 2 * p[8] - p[4]) / p[6] + 1, (p[2] + 2 * p[9] - p[5]) / p[7] + 1, p[3]);
}

static void build_pool(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = pool_of(p);
    enum draw draw = b->row->op == OP_MAXPOOL ? DRAW_DISTINCT : DRAW_NORMAL;
    int x = case_param(b, "x", SHAPE(p[0], p[1], p[2], p[3]), b->options.type, draw, 0.5);
    case_node(b, &x, 1, &a, NULL);
}

static void build_maxpool_grad(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = pool_of(p);
    int at = case_input(b, "at", pool_y(p), U8, DRAW_INDEX, p[4] * p[5]);
    int dy = case_input(b, "dy", pool_y(p), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){at, dy}, 2, &a, NULL);
}

static void build_avgpool_grad(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = pool_of(p);
    int dy = case_param(b, "dy", pool_y(p), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &dy, 1, &a, NULL);
}

#define TWO(name, flags, way, ...)                                                                                     \
    {"maxpool " name, OP_MAXPOOL, build_pool, flags, {__VA_ARGS__}, 0},                                                \
    {"maxpool_grad " name, OP_MAXPOOL_GRAD, build_maxpool_grad, way, {__VA_ARGS__}, 0}
#define FOUR(name, flags, way, ...)                                                                                    \
    TWO(name, flags, way, __VA_ARGS__),                                                                                \
    {"avgpool " name, OP_AVGPOOL, build_pool, flags, {__VA_ARGS__}, 0},                                                \
    {"avgpool_grad " name, OP_AVGPOOL_GRAD, build_avgpool_grad, flags, {__VA_ARGS__}, 0}
#define SMALL(name, ...) FOUR(name, CASE_HALF | CASE_GRADIENT, CASE_HALF, __VA_ARGS__)
#define MANY(name, ...) FOUR(name, CASE_HALF, CASE_HALF, __VA_ARGS__)
#define BIG(name, ...) FOUR(name, CASE_HALF | CASE_LARGE, CASE_HALF | CASE_LARGE, __VA_ARGS__)

const struct op_case cases_pool[] = {
    SMALL("2x2", 2, 6, 4, 17, 2, 2, 2, 2),
    SMALL("2x2 of odd sizes", 2, 7, 5, 5, 2, 2, 2, 2),
    SMALL("3x3", 1, 7, 7, 10, 3, 3, 3, 3),
    SMALL("3x3 stride 2, overlapping", 2, 7, 6, 3, 3, 3, 2, 2),
    SMALL("2x3 stride 1", 1, 4, 5, 33, 2, 3, 1, 1),
    SMALL("global 3x3", 3, 3, 3, 20, 3, 3, 3, 3),
    SMALL("global 5x4", 1, 5, 4, 1, 5, 4, 5, 4),
    MANY("2x2, many images", 30, 15, 15, 24, 2, 2, 2, 2),
    MANY("global, many images", 700, 3, 3, 33, 3, 3, 3, 3),
    MANY("gaps between windows", 3, 11, 13, 16, 2, 3, 4, 5),
    MANY("3x3 stride 2, 24 channels", 3, 11, 13, 24, 3, 3, 2, 2),
    MANY("global 16x16", 2, 16, 16, 40, 16, 16, 16, 16),
    SMALL("1x1", 1, 2, 2, 3, 1, 1, 1, 1),
    SMALL("3x3 stride 2, padded", 2, 8, 6, 17, 3, 3, 2, 2, 1, 1),
    SMALL("3x3 stride 2, padded, odd sizes", 2, 7, 5, 5, 3, 3, 2, 2, 1, 1, 1),
    SMALL("3x2 stride 1, padded", 1, 4, 3, 10, 3, 2, 1, 1, 2, 0),
    SMALL("2x2 stride 2, padded", 2, 6, 5, 8, 2, 2, 2, 2, 1, 1, 1),
    SMALL("5x4 of a single pixel, padded", 1, 1, 1, 3, 5, 4, 2, 3, 3, 2),
    MANY("3x3 stride 2, padded, 64 channels", 5, 16, 16, 64, 3, 3, 2, 2, 1, 1),
    TWO("3x3 stride 2, padded 64 @112", CASE_HALF | CASE_LARGE, CASE_HALF | CASE_LARGE, 32, 112, 112, 64, 3, 3, 2, 2, 1, 1),
    BIG("2x2 64 @31", 200, 31, 31, 64, 2, 2, 2, 2),
    BIG("global 256 @3", 2000, 3, 3, 256, 3, 3, 3, 3),
    {0},
};
