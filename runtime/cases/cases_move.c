// SPDX-License-Identifier: Apache-2.0
// Cases of operators that move elements.
#include "runtime/cases/cases.h"

static struct shape shape_of_four(const int *d) { return SHAPE(d[0], d[1], d[2], d[3]); }

// p: four dimensions of x, four of y
static void build_reshape(struct case_build *b)
{
    int x = case_param(b, "x", shape_of_four(b->row->p), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &(union attr){.move = {.shape = shape_of_four(b->row->p + 4)}}, NULL);
}

// p: rank, dimensions, permutation
static void build_transpose(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape shape = {.rank = p[0]};
    union attr a = {.move = {.axis = 0}};
    for (int i = 0; i < p[0]; i++) shape.dim[i] = p[1 + i], a.move.perm[i] = p[1 + p[0] + i];
    int x = case_param(b, "x", shape, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &a, NULL);
}

// p: four dimensions of the first, axis, number of parts, growth of each part along the axis
static void build_concat(struct case_build *b)
{
    static const char *const name[MAX_IN] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    const int *p = b->row->p;
    int in[MAX_IN];
    for (int i = 0; i < p[5]; i++) {
        struct shape shape = shape_of_four(p);
        shape.dim[p[4]] += i * p[6];
        in[i] = case_param(b, name[i], shape, b->options.type, DRAW_NORMAL, 1.0);
    }
    case_node(b, in, p[5], &(union attr){.move = {.axis = p[4]}}, NULL);
}

// p: four dimensions, axis, begin, end
static void build_slice(struct case_build *b)
{
    const int *p = b->row->p;
    bool back = b->row->op == OP_SLICE_GRAD;
    struct shape large = shape_of_four(p), small = large;
    small.dim[p[4]] = p[6] - p[5];
    union attr a = {.move = {.shape = large, .axis = p[4], .begin = p[5], .end = p[6]}};
    int x = case_param(b, "x", back ? small : large, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &a, NULL);
}

// p: rows of a table, their size, indices. The table is gathered, and the rows are multiplied by all of it: its gradients add.
static void build_tied(struct case_build *b)
{
    const int *p = b->row->p;
    int table = case_param(b, "table", SHAPE(p[0], p[1]), F32, DRAW_NORMAL, 0.5);
    int index = case_input(b, "index", SHAPE(p[2]), I32, DRAW_INDEX, p[0]);
    int x = g_cast(b->g, g_gather(b->g, table, index), b->options.type);
    case_result(b, g_linear(b->g, x, table, NONE, b->options.type));
}

// p: samples, positions, rows, size of a row, a position per sample, its bound
static void build_append(struct case_build *b)
{
    const int *p = b->row->p;
    bool through = b->options.through;
    b->options.through = false;  // the cache is overwritten: it must be the slot
    int cache = case_input(b, "cache", SHAPE(p[0], p[1], p[3]), b->options.type, DRAW_NORMAL, 1.0);
    b->options.through = through;
    int x = case_input(b, "x", SHAPE(p[0], p[2], p[3]), b->options.type, DRAW_NORMAL, 1.0);
    int at = case_input(b, "at", SHAPE(p[4] ? p[0] : 1), I32, DRAW_INDEX, p[5]);
    case_node(b, (int[]){cache, x, at}, 3, NULL, &cache);
}

// p: rows, positions, size of a position, rows of a group, up to a position, its bound
static void build_reorder(struct case_build *b)
{
    const int *p = b->row->p;
    bool through = b->options.through;
    b->options.through = false;  // x is overwritten: it must be the slot
    int x = case_input(b, "x", SHAPE(p[0], p[1], p[2]), b->options.type, DRAW_NORMAL, 1.0);
    b->options.through = through;
    int from = case_input(b, "from", SHAPE(p[0]), I32, DRAW_INDEX, p[0]);
    int at = p[4] ? case_input(b, "at", SHAPE(1), I32, DRAW_INDEX, p[5]) : NONE;
    case_node(b, (int[]){x, from, at}, 3, &(union attr){.reorder = {p[3]}}, &x);
}

// p: n, h, w, c, rows and columns of the result
static void build_resize(struct case_build *b)
{
    const int *p = b->row->p;
    bool back = b->row->op == OP_RESIZE_GRAD;
    struct shape from = shape_of_four(p), to = SHAPE(p[0], p[4], p[5], p[3]);
    union attr a = {.move = {.shape = back ? from : to}};
    int x = case_param(b, "x", back ? to : from, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &a, NULL);
}

// p: rows of the table, elements per row, rows picked, type of the table (COUNT: the case's own), rows that are picked and
// do not exist
static void build_gather(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype type = (enum dtype)p[3] == DTYPE_COUNT ? b->options.type : (enum dtype)p[3];
    struct shape table = SHAPE(p[0], p[1]), picked = SHAPE(p[2], p[1]);
    int index = case_input(b, "index", SHAPE(p[2]), I32, DRAW_INDEX, p[0] + p[4]);
    if (b->row->op == OP_GATHER) {
        int x = dtype_is_float(type) ? case_param(b, "x", table, type, DRAW_NORMAL, 1.0)
                                     : case_input(b, "x", table, type, DRAW_INDEX, 250);
        case_node(b, (int[]){x, index}, 2, NULL, NULL);
        return;
    }
    int dy = case_param(b, "dy", picked, type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){index, dy}, 2, &(union attr){.move = {.shape = table}}, NULL);
}

// p: rows of the table, elements per row, samples, tokens
static void build_embed(struct case_build *b)
{
    const int *p = b->row->p;
    struct shape table = SHAPE(p[0], p[1]), picked = SHAPE(p[2], p[3], p[1]);
    int index = case_input(b, "index", SHAPE(p[2], p[3]), I32, DRAW_INDEX, p[0]);
    if (b->row->op == OP_GATHER) {
        int x = case_param(b, "x", table, b->options.type, DRAW_NORMAL, 1.0);
        case_node(b, (int[]){x, index}, 2, NULL, NULL);
        return;
    }
    int dy = case_param(b, "dy", picked, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){index, dy}, 2, &(union attr){.move = {.shape = table}}, NULL);
}

// p: four dimensions, axes, mean, f32 result; broadcast: factor in quarters instead of mean
static void build_reduce(struct case_build *b)
{
    const int *p = b->row->p;
    bool wide = b->row->op == OP_BROADCAST;
    struct shape large = shape_of_four(p), small = large;
    for (int i = 0; i < 4; i++)
        if (p[4] >> i & 1) small.dim[i] = 1;
    union attr a = {.move = {.axes = (unsigned)p[4], .to = p[6] ? F32 : b->options.type, .shape = large}};
    if (wide) a.move.factor = (float)p[5] / 4.0f;
    else a.move.mean = p[5];
    int x = case_param(b, "x", wide ? small : large, b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, &x, 1, &a, NULL);
}

#define HG (CASE_HALF | CASE_GRADIENT)
#define LARGE (CASE_HALF | CASE_LARGE)
#define RESIZE(name, ...)                                                                                              \
    {"resize " name, OP_RESIZE, build_resize, HG, {__VA_ARGS__}, 32},                                                  \
    {"resize_grad " name, OP_RESIZE_GRAD, build_resize, HG, {__VA_ARGS__}, 64}
#define REDUCE(name, ...) {"reduce " name, OP_REDUCE, build_reduce, HG | CASE_SUM, {__VA_ARGS__}, 48}
#define SPREAD(name, ...) {"broadcast " name, OP_BROADCAST, build_reduce, HG, {__VA_ARGS__}, 0}

const struct op_case cases_move[] = {
    {"reshape", OP_RESHAPE, build_reshape, HG, {2, 3, 4, 5, 1, 6, 1, 20}, 0},
    {"transpose 2-D", OP_TRANSPOSE, build_transpose, HG, {2, 17, 33, 1, 0}, 0},
    {"transpose 3-D", OP_TRANSPOSE, build_transpose, HG, {3, 2, 5, 7, 2, 0, 1}, 0},
    {"transpose NHWC to NCHW", OP_TRANSPOSE, build_transpose, HG, {4, 2, 3, 5, 7, 0, 3, 1, 2}, 0},
    {"transpose that moves nothing", OP_TRANSPOSE, build_transpose, HG, {3, 2, 3, 4, 0, 1, 2}, 0},
    {"transpose of whole rows", OP_TRANSPOSE, build_transpose, CASE_HALF, {3, 5, 4, 24, 1, 0, 2}, 0},
    {"transpose 5-D", OP_TRANSPOSE, build_transpose, CASE_HALF, {5, 2, 3, 4, 5, 6, 4, 2, 0, 3, 1}, 0},
    {"transpose 5-D, long ends", OP_TRANSPOSE, build_transpose, CASE_HALF, {5, 2, 33, 3, 2, 40, 2, 4, 0, 3, 1}, 0},
    {"concat channels", OP_CONCAT, build_concat, HG, {2, 3, 4, 5, 3, 3, 2}, 0},
    {"concat images", OP_CONCAT, build_concat, HG, {1, 3, 2, 5, 0, 2, 1}, 0},
    {"concat eight rows", OP_CONCAT, build_concat, HG, {2, 1, 3, 3, 1, 8, 1}, 0},
    {"concat of one", OP_CONCAT, build_concat, HG, {2, 1, 3, 3, 2, 1, 0}, 0},
    {"concat 24 channels", OP_CONCAT, build_concat, CASE_HALF, {2, 3, 4, 8, 3, 2, 8}, 0},
    {"slice channels", OP_SLICE, build_slice, HG, {2, 3, 4, 9, 3, 2, 7}, 0},
    {"slice images", OP_SLICE, build_slice, HG, {5, 2, 2, 3, 0, 1, 4}, 0},
    {"slice of all", OP_SLICE, build_slice, HG, {2, 3, 2, 3, 1, 0, 3}, 0},
    {"slice_grad channels", OP_SLICE_GRAD, build_slice, HG, {2, 3, 4, 9, 3, 2, 7}, 0},
    {"slice_grad rows", OP_SLICE_GRAD, build_slice, HG, {2, 5, 4, 3, 1, 4, 5}, 0},
    {"slice_grad of 16 channels", OP_SLICE_GRAD, build_slice, HG, {3, 6, 4, 16, 1, 2, 5}, 0},
    RESIZE("sixteen channels", 2, 5, 6, 16, 7, 4),
    RESIZE("to a fifth", 2, 20, 21, 8, 4, 4),
    RESIZE("down", 2, 8, 8, 3, 6, 6),
    RESIZE("32 to 24", 1, 32, 32, 3, 24, 24),
    RESIZE("up", 1, 3, 4, 17, 7, 9),
    RESIZE("up and down", 2, 4, 9, 2, 8, 3),
    RESIZE("to one pixel", 1, 5, 5, 4, 1, 1),
    RESIZE("from one pixel", 1, 1, 1, 4, 3, 2),
    {"gather", OP_GATHER, build_gather, HG, {9, 13, 20, DTYPE_COUNT}, 0},
    {"gather bytes", OP_GATHER, build_gather, 0, {7, 27, 5, U8}, 0},
    {"gather whole numbers", OP_GATHER, build_gather, 0, {30, 1, 11, I32}, 0},
    {"gather of tokens", OP_GATHER, build_embed, HG, {11, 13, 3, 5}, 0},
    {"gather_grad of tokens", OP_GATHER_GRAD, build_embed, HG, {11, 13, 3, 5}, 32},
    {"gather_grad of a large table", OP_GATHER_GRAD, build_embed, CASE_HALF, {5000, 24, 4, 33}, 32},
    {"gather_grad of 12288 tokens, 30522 x 768", OP_GATHER_GRAD, build_embed, LARGE, {30522, 768, 32, 384}, 0},
    {"gather of bytes that do not exist", OP_GATHER, build_gather, 0, {7, 27, 50, U8, 5}, 0},
    {"gather of numbers that do not exist", OP_GATHER, build_gather, 0, {7, 1, 50, I32, 5}, 0},
    {"gather_grad of rows that do not exist", OP_GATHER_GRAD, build_gather, CASE_HALF, {5, 13, 40, DTYPE_COUNT, 4}, 32},
    {"gather_grad with repeats", OP_GATHER_GRAD, build_gather, HG, {5, 13, 20, DTYPE_COUNT}, 32},
    {"gather_grad with rows left out", OP_GATHER_GRAD, build_gather, HG, {40, 3, 6, DTYPE_COUNT}, 32},
    {"gather of 32 columns", OP_GATHER, build_gather, CASE_HALF, {9, 32, 20, DTYPE_COUNT}, 0},
    {"gather_grad of 264 columns", OP_GATHER_GRAD, build_gather, CASE_HALF, {6, 264, 70, DTYPE_COUNT}, 32},
    {"gather_grad of few rows", OP_GATHER_GRAD, build_gather, CASE_HALF, {3, 520, 300, DTYPE_COUNT}, 64},
    {"gather_grad of one row", OP_GATHER_GRAD, build_gather, CASE_HALF, {1, 264, 96, DTYPE_COUNT}, 64},
    {"gather_grad of 2500 into three", OP_GATHER_GRAD, build_gather, CASE_HALF, {3, 5, 2500, DTYPE_COUNT, 1}, 800},
    REDUCE("rows", 3, 4, 5, 17, 7, 0, 1),
    REDUCE("mean of rows and columns", 3, 4, 5, 17, 6, 1, 0),
    REDUCE("channels", 2, 3, 4, 33, 8, 0, 0),
    REDUCE("mean of all", 2, 3, 4, 9, 15, 1, 1),
    REDUCE("first and last", 4, 2, 3, 5, 9, 0, 1),
    REDUCE("of one", 2, 1, 3, 1, 10, 0, 0),
    REDUCE("first and third", 4, 3, 5, 6, 5, 0, 1),
    REDUCE("second and last", 4, 3, 5, 6, 10, 1, 0),
    REDUCE("rows of 16 channels", 7, 3, 2, 16, 7, 0, 0),
    {"reduce tall", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {9001, 1, 1, 64, 1, 0, 0}, 200},
    {"reduce in the middle", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {7, 300, 1, 24, 2, 1, 0}, 200},
    {"reduce many small", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {3000, 1, 4, 3, 4, 0, 1}, 48},
    {"reduce long runs", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {3, 1, 1, 9003, 8, 0, 1}, 400},
    {"reduce long runs, wide", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {2, 1, 1, 20008, 8, 1, 1}, 800},
    {"reduce two thousand channels", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {11, 1, 1, 2051, 1, 0, 1}, 48},
    {"reduce many rows", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {30, 15, 15, 24, 7, 0, 1}, 200},
    {"reduce many to one", OP_REDUCE, build_reduce, CASE_HALF | CASE_SUM, {30, 15, 15, 24, 15, 0, 1}, 800},
    {"gather many", OP_GATHER, build_gather, CASE_HALF, {900, 131, 1000, DTYPE_COUNT}, 0},
    {"gather_grad many", OP_GATHER_GRAD, build_gather, CASE_HALF, {700, 131, 1000, DTYPE_COUNT}, 32},
    RESIZE("many images", 30, 32, 32, 3, 24, 28),
    {"transpose many", OP_TRANSPOSE, build_transpose, CASE_HALF, {4, 30, 15, 15, 24, 0, 3, 1, 2}, 0},
    {"slice many", OP_SLICE, build_slice, CASE_HALF, {40, 15, 15, 24, 3, 5, 21}, 0},
    SPREAD("over rows", 3, 4, 5, 17, 7, 4, 0),
    SPREAD("over channels", 2, 3, 4, 33, 8, -2, 0),
    SPREAD("over all", 2, 3, 4, 5, 15, 1, 0),
    SPREAD("over the middle", 2, 3, 4, 5, 6, 4, 0),
    SPREAD("over rows of 16", 3, 4, 5, 16, 7, 4, 0),
    SPREAD("over 16 channels", 2, 3, 4, 16, 8, 3, 0),
    SPREAD("over every other", 5, 4, 3, 8, 5, 3, 0),
    {"transpose NHWC to NCHW 6M", OP_TRANSPOSE, build_transpose, LARGE, {4, 100, 31, 31, 64, 0, 3, 1, 2}, 0},
    {"resize 2000 images, 32 to 24", OP_RESIZE, build_resize, LARGE, {2000, 32, 32, 3, 24, 24}, 0},
    {"reduce rows 6M", OP_REDUCE, build_reduce, LARGE, {100, 31, 31, 64, 7, 0, 1}, 0},
    {"gather bytes, 2000 images", OP_GATHER, build_gather, CASE_LARGE, {10000, 3072, 2000, U8}, 0},
    {"gather of a table that is also multiplied", OP_GATHER, build_tied, CASE_HALF | CASE_GRADIENT | CASE_SUM, {11, 6, 7}, 0},
    {"append a row", OP_APPEND, build_append, CASE_HALF, {3, 9, 1, 24, 0, 9}, 0},
    {"append rows", OP_APPEND, build_append, CASE_HALF, {2, 9, 3, 5, 0, 6}, 0},
    {"append at positions of the samples", OP_APPEND, build_append, CASE_HALF, {6, 5, 1, 17, 1, 8}, 0},
    {"reorder rows", OP_REORDER, build_reorder, CASE_HALF, {10, 3, 7, 5, 0, 0}, 0},
    {"reorder long rows", OP_REORDER, build_reorder, CASE_HALF, {8, 1, 1100, 4, 0, 0}, 0},
    {"reorder up to a position", OP_REORDER, build_reorder, CASE_HALF, {12, 9, 24, 6, 1, 9}, 0},
    {"reorder up to a position past the end", OP_REORDER, build_reorder, CASE_HALF, {6, 2, 5, 3, 1, 40}, 0},
    {"reorder a beam 6M", OP_REORDER, build_reorder, LARGE, {320, 50, 384, 5, 1, 50}, 0},
    {0},
};
