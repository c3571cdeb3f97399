// SPDX-License-Identifier: Apache-2.0
// Cases of the largest elements of rows.
#include "runtime/cases/cases.h"

// p: rows, elements per row, k, number of different elements (0: all differ), flat
static void build_top(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = SHAPE(p[0], p[1]);
    int x = p[3] ? case_input(b, "x", shape, b->options.type, DRAW_INDEX, p[3])
                 : case_param(b, "x", shape, b->options.type, DRAW_DISTINCT, 0.5);
    case_node(b, &x, 1, &(union attr){.top = {.k = p[2], .flat = p[4]}}, NULL);
}

// The same without p[3]; indices are drawn from so many that none comes twice in a row of the result, and the last few do not
// exist.
static void build_top_grad(struct case_build *b)
{
    const int *p = b->row->p;
    int at = case_input(b, "at", SHAPE(p[0], p[2]), I32, DRAW_INDEX, p[1] + p[1] / 8);
    int dy = case_input(b, "dy", SHAPE(p[0], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){at, dy}, 2, &(union attr){.top = {.k = p[2], .n = p[1], .flat = p[4]}}, NULL);
}

// p: three dimensions, axes
static void build_reduce_max(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_DISTINCT, 0.5);
    case_result(b, g_reduce_max(b->g, x, (unsigned)p[3]));
}

#define HG (CASE_HALF | CASE_GRADIENT)
#define MAXIMUM(name, ...) {"maximum over " name, OP_TOP, build_reduce_max, HG, {__VA_ARGS__}, 0}

const struct op_case cases_top[] = {
    {"top 1 of 10", OP_TOP, build_top, HG, {13, 10, 1, 0}, 0},
    {"top 5 of 33", OP_TOP, build_top, HG, {7, 33, 5, 0}, 0},
    {"top of one", OP_TOP, build_top, HG, {5, 1, 1, 0}, 0},
    {"top 8 of 8", OP_TOP, build_top, HG, {3, 8, 8, 0}, 0},
    {"top 64 of 300", OP_TOP, build_top, CASE_HALF, {3, 300, 64, 7}, 0},
    {"top 4 of equals", OP_TOP, build_top, CASE_HALF, {40, 50, 4, 3}, 0},
    {"top 3 of equals, long rows", OP_TOP, build_top, CASE_HALF, {5, 2051, 3, 100}, 0},
    {"top 1 of equals, many rows", OP_TOP, build_top, CASE_HALF, {3001, 9, 1, 4}, 0},
    {"top 300 of 1000", OP_TOP, build_top, HG, {3, 1000, 300, 0}, 0},
    {"top 1000 of 1000 equals", OP_TOP, build_top, CASE_HALF, {2, 1000, 1000, 9}, 0},
    {"top 65 of 5000 equals", OP_TOP, build_top, CASE_HALF, {2, 5000, 65, 30}, 0},
    {"top 3 of 20, flat", OP_TOP, build_top, HG, {5, 20, 3, 0, 1}, 0},
    {"top 100 of 200, flat", OP_TOP, build_top, HG, {3, 200, 100, 0, 1}, 0},
    {"top_grad 3 of 40, flat", OP_TOP_GRAD, build_top_grad, CASE_HALF, {3, 40, 3, 0, 1}, 0},
    {"top_grad 1 of 10", OP_TOP_GRAD, build_top_grad, CASE_HALF, {13, 10, 1}, 0},
    {"top_grad 3 of 4000", OP_TOP_GRAD, build_top_grad, CASE_HALF, {5, 4000, 3}, 0},
    {"top_grad, many rows", OP_TOP_GRAD, build_top_grad, CASE_HALF, {3001, 33, 1}, 0},
    MAXIMUM("the last dimension", 5, 3, 17, 4),
    MAXIMUM("leading dimensions", 5, 3, 17, 3),
    MAXIMUM("the middle", 5, 3, 17, 2),
    MAXIMUM("the ends", 5, 3, 17, 5),
    MAXIMUM("all", 5, 3, 17, 7),
    {"top 4 of 32000", OP_TOP, build_top, CASE_HALF | CASE_LARGE, {200, 32000, 4, 0}, 0},
    {"top 1000 of 200000", OP_TOP, build_top, CASE_HALF | CASE_LARGE, {2, 200000, 1000, 0}, 0},
    {"top 1 of 1000", OP_TOP, build_top, CASE_HALF | CASE_LARGE, {6000, 1000, 1, 0}, 0},
    {0},
};
