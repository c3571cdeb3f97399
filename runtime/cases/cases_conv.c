// SPDX-License-Identifier: Apache-2.0
// Cases of convolution and matrix product. Small shapes have tails that no vector length divides, odd sizes, strides that skip
// pixels, padding on one side, and groups; large ones are airbench's at 100 images.
#include "runtime/cases/cases.h"

#include <math.h>

// p: n, h, w, c, k, r, s, stride, before, after, groups, act, bias, winograd, what columns have on both sides beyond that padding
static struct conv_attr conv_of(const int *p)
{
    return (struct conv_attr){.stride = {p[7], p[7]}, .before = {p[8], p[8] + p[14]}, .after = {p[9], p[9] + p[14]},
                              .groups = p[10], .act = (enum act)p[11], .winograd = (enum winograd)p[13], .x_h = p[1], .x_w = p[2],
                              .r = p[5], .s = p[6]};
}

static struct shape conv_x(const int *p) { return SHAPE(p[0], p[1], p[2], p[3]); }
static struct shape conv_w(const int *p) { return SHAPE(p[4], p[5], p[6], p[3] / p[10]); }

static struct shape conv_y(const int *p)
{
    return SHAPE(p[0], (p[1] + p[8] + p[9] - p[5]) / p[7] + 1, (p[2] + p[8] + p[9] + 2 * p[14] - p[6]) / p[7] + 1, p[4]);
}

static double conv_deviation(const int *p) { return 1.0 / sqrt((double)(p[5] * p[6] * p[3]) / p[10]); }

static void build_conv(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", conv_x(p), b->options.type, DRAW_NORMAL, 1.0);
    int w = case_param(b, "w", conv_w(p), F32, DRAW_NORMAL, conv_deviation(p));
    int bias = p[12] ? case_param(b, "bias", SHAPE(p[4]), F32, DRAW_NORMAL, 0.5) : NONE;
    case_node(b, (int[]){x, w, bias}, 3, &(union attr){.conv = conv_of(p)}, NULL);
}

static void build_dgrad(struct case_build *b)
{
    const int *p = b->row->p;
    int w = case_param(b, "w", conv_w(p), F32, DRAW_NORMAL, conv_deviation(p));
    int dy = case_param(b, "dy", conv_y(p), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){w, dy}, 2, &(union attr){.conv = conv_of(p)}, NULL);
}

static void build_wgrad(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", conv_x(p), b->options.type, DRAW_NORMAL, 1.0);
    int dy = case_param(b, "dy", conv_y(p), b->options.type, DRAW_NORMAL, 1.0);
    case_node(b, (int[]){x, dy}, 2, &(union attr){.conv = conv_of(p)}, NULL);
}

// p: n, h, w, c, k, r, s, strides of rows and of columns, padding of rows and of columns on both sides
static void build_lines(struct case_build *b)
{
    const int *p = b->row->p;
    enum op op = b->row->op;
    struct shape y = SHAPE(p[0], (p[1] + 2 * p[9] - p[5]) / p[7] + 1, (p[2] + 2 * p[10] - p[6]) / p[8] + 1, p[4]);
    struct conv_attr a = {.stride = {p[7], p[8]}, .before = {p[9], p[10]}, .after = {p[9], p[10]}, .groups = 1, .x_h = p[1],
                          .x_w = p[2], .r = p[5], .s = p[6]};
    double deviation = 1.0 / sqrt((double)(p[5] * p[6] * p[3]));
    int x = NONE, w = NONE, dy = NONE, bias = NONE;
    if (op == OP_CONV && p[4] % 2) bias = case_param(b, "bias", SHAPE(p[4]), F32, DRAW_NORMAL, 1.0);
    if (op != OP_CONV_DGRAD) x = case_param(b, "x", conv_x(p), b->options.type, DRAW_NORMAL, 1.0);
    if (op != OP_CONV_WGRAD) w = case_param(b, "w", SHAPE(p[4], p[5], p[6], p[3]), F32, DRAW_NORMAL, deviation);
    if (op != OP_CONV) dy = case_param(b, "dy", y, b->options.type, DRAW_NORMAL, 1.0);
    int in[] = {x == NONE ? w : x, dy == NONE ? w : dy, bias};
    case_node(b, in, bias == NONE ? 2 : 3, &(union attr){.conv = a}, NULL);
}

// The same with a 2x2 max pool of the results. In 16 bits the positions depend on roundings that differ between kernels; test_cpu
// compares them with the positions of a separate pool.
static union attr pooled_attr(const int *p)
{
    struct conv_attr a = conv_of(p);
    a.pool = true;
    return (union attr){.conv = a};
}

static struct shape pooled_y(const int *p)
{
    struct shape y = conv_y(p);
    return SHAPE(y.dim[0], y.dim[1] / 2, y.dim[2] / 2, y.dim[3]);
}

static void build_pooled(struct case_build *b)
{
    const int *p = b->row->p;
    bool one = p[3] == p[10];  // one channel per result: results differ by far, so finite differences cross no kink of the pool
    int x = case_param(b, "x", conv_x(p), b->options.type, one ? DRAW_DISTINCT : DRAW_NORMAL, one ? 0.5 : 1.0);
    int w = case_param(b, "w", conv_w(p), F32, one ? DRAW_AWAY : DRAW_NORMAL, one ? 1.0 : conv_deviation(p));
    int bias = p[12] ? case_param(b, "bias", SHAPE(p[4]), F32, DRAW_NORMAL, 0.5) : NONE;
    union attr a = pooled_attr(p);
    if (b->options.type != F32) b->options.unwanted |= 2;
    case_node(b, (int[]){x, w, bias}, 3, &a, NULL);
}

// Builds conv_dgrad and conv_wgrad.
static void build_unpooled(struct case_build *b)
{
    const int *p = b->row->p;
    bool dgrad = b->row->op == OP_CONV_DGRAD;
    int first = dgrad ? case_input(b, "w", conv_w(p), F32, DRAW_NORMAL, conv_deviation(p))
                      : case_input(b, "x", conv_x(p), b->options.type, DRAW_NORMAL, 1.0);
    int dy = case_input(b, "dy", pooled_y(p), b->options.type, DRAW_NORMAL, 1.0);
    int at = case_input(b, "at", pooled_y(p), U8, DRAW_INDEX, 4);
    union attr a = pooled_attr(p);
    case_node(b, (int[]){first, dy, at}, 3, &a, NULL);
}

// p: m, n, k, ta, tb, batch (0: 2-D), f32 result, c, f32 b, alpha in quarters, beta in quarters, f32 a,
// bias
static void build_matmul(struct case_build *b)
{
    const int *p = b->row->p;
    int64_t m = p[0], n = p[1], k = p[2], batch = p[5];
    bool ta = p[3], tb = p[4];
    enum dtype type = b->options.type, out = p[6] ? F32 : type;
    struct shape sa = SHAPE(ta ? k : m, ta ? m : k), sb = SHAPE(tb ? n : k, tb ? k : n), sc = SHAPE(m, n);
    if (batch) {
        sa = SHAPE(batch, sa.dim[0], sa.dim[1]);
        sb = SHAPE(batch, sb.dim[0], sb.dim[1]);
        sc = SHAPE(batch, m, n);
    }
    int x = case_param(b, "a", sa, p[11] ? F32 : type, DRAW_NORMAL, 1.0);
    int y = case_param(b, "b", sb, p[8] ? F32 : type, DRAW_NORMAL, 1.0 / sqrt((double)k));
    int c = p[7] ? case_param(b, "c", sc, out, DRAW_NORMAL, 1.0) : NONE;
    int bias = p[12] ? case_param(b, "bias", SHAPE(n), F32, DRAW_NORMAL, 1.0) : NONE;
    union attr a = {.matmul = {ta, tb, (float)p[9] / 4.0f, (float)p[10] / 4.0f, out}};
    case_node(b, (int[]){x, y, c, bias}, 4, &a, NULL);
}

// Slack: a sum of n rounded products has an error of about sqrt(n) roundings of the sum of their sizes; n is below 2400 here.
#define CONV(name, slack, ...)                                                                                         \
    {name, OP_CONV, build_conv, CASE_HALF | CASE_SUM | CASE_GRADIENT, {__VA_ARGS__, 0, 0}, slack}
#define BACK(name, slack, ...)                                                                                         \
    {"conv_dgrad " name, OP_CONV_DGRAD, build_dgrad, HGS, {__VA_ARGS__, 0, 0}, slack},                                 \
    {"conv_wgrad " name, OP_CONV_WGRAD, build_wgrad, HGS, {__VA_ARGS__, 0, 0}, slack}
#define ALL(name, ...) CONV("conv " name, 48, __VA_ARGS__), BACK(name, 48, __VA_ARGS__)
#define AXES(name, wider, ...)                                                                                                 \
    {"conv " name, OP_CONV, build_conv, CASE_HALF | CASE_SUM | CASE_GRADIENT, {__VA_ARGS__, 0, 0, 0, wider}, 48},               \
    {"conv_dgrad " name, OP_CONV_DGRAD, build_dgrad, HGS, {__VA_ARGS__, 0, 0, 0, wider}, 48},                                   \
    {"conv_wgrad " name, OP_CONV_WGRAD, build_wgrad, HGS, {__VA_ARGS__, 0, 0, 0, wider}, 48}
#define ACT(name, act, bias, ...)                                                                                      \
    {name, OP_CONV, build_conv, CASE_HALF | CASE_SUM, {__VA_ARGS__, act, bias}, 96}
#define BIG(name, ...)                                                                                                 \
    {"conv " name, OP_CONV, build_conv, CASE_HALF | CASE_LARGE, {__VA_ARGS__, 0, 0}, 0},                               \
    {"conv_dgrad " name, OP_CONV_DGRAD, build_dgrad, CASE_HALF | CASE_LARGE, {__VA_ARGS__, 0, 0}, 0},                  \
    {"conv_wgrad " name, OP_CONV_WGRAD, build_wgrad, CASE_HALF | CASE_LARGE, {__VA_ARGS__, 0, 0}, 0}
#define LINES_OF(name, flags, ...)                                                                                     \
    {"conv " name, OP_CONV, build_lines, flags, {__VA_ARGS__}, 48},                                                    \
    {"conv_dgrad " name, OP_CONV_DGRAD, build_lines, flags, {__VA_ARGS__}, 48},                                        \
    {"conv_wgrad " name, OP_CONV_WGRAD, build_lines, flags, {__VA_ARGS__}, 48}
#define LINES(name, ...) LINES_OF(name, HGS, __VA_ARGS__)
#define PRODUCT(name, flags, ...) {"matmul " name, OP_MATMUL, build_matmul, flags, {__VA_ARGS__}, 48}
#define HGS (CASE_HALF | CASE_GRADIENT | CASE_SUM)
#define HS (CASE_HALF | CASE_SUM)

const struct op_case cases_conv[] = {
    //                           n  h   w   c   k   r  s  st be af gr
    ALL("3x3 pad 1",             2, 7,  5,  3,  10, 3, 3, 1, 1, 1, 1),
    ALL("1x1",                   3, 4,  4,  20, 17, 1, 1, 1, 0, 0, 1),
    ALL("1x1 of one pixel",      1, 1,  1,  5,  3,  1, 1, 1, 0, 0, 1),
    ALL("2x2 valid",             2, 9,  8,  3,  24, 2, 2, 1, 0, 0, 1),
    ALL("3x3 stride 2",          2, 9,  8,  16, 33, 3, 3, 2, 1, 1, 1),
    ALL("1x1 stride 2",          2, 6,  8,  16, 32, 1, 1, 2, 0, 0, 1),
    ALL("3x3 pad 1 before only", 2, 8,  6,  24, 40, 3, 3, 1, 1, 0, 1),
    ALL("3x3 pad 1 after only",  1, 5,  6,  4,  8,  3, 3, 1, 0, 1, 1),
    ALL("1x5",                   2, 4,  9,  7,  6,  1, 5, 1, 0, 0, 1),
    ALL("5x5 stride 3 pad 2",    1, 11, 10, 2,  9,  5, 5, 3, 2, 2, 1),
    ALL("5x5 stride 2 of 8x8",   3, 8,  8,  3,  10, 5, 5, 2, 2, 2, 1),
    ALL("whole image",           3, 3,  3,  19, 10, 3, 3, 1, 0, 0, 1),
    ALL("3 groups",              2, 6,  5,  12, 18, 3, 3, 1, 1, 1, 3),
    ALL("depthwise",             2, 5,  7,  16, 16, 3, 3, 1, 1, 1, 16),
    ALL("64 channels",           1, 6,  6,  64, 64, 3, 3, 1, 1, 1, 1),
    // Batches: some kernels take tiles of images. These have remainders of images, of k and of c, and taps outside of the
    // image.
    ALL("12 images, 8->16",      12, 5, 4,  8,  16, 3, 3, 1, 1, 1, 1),
    ALL("13 images, 10->81",     13, 4, 5,  10, 81, 3, 3, 1, 1, 1, 1),
    ALL("17 images, pad before", 17, 4, 4,  24, 48, 3, 3, 1, 1, 0, 1),
    ALL("14 images, stride 2",   14, 7, 6,  20, 64, 3, 3, 2, 1, 1, 1),
    ALL("19 images, 1x1",        19, 3, 3,  64, 80, 1, 1, 1, 0, 0, 1),
    ALL("15 images, odd c",      15, 4, 4,  9,  17, 3, 3, 1, 1, 1, 1),
    ALL("12 images, 5x5 on 3x3", 12, 3, 3,  16, 64, 5, 5, 1, 2, 2, 1),
    ALL("25 images, 28->128",    25, 4, 3,  28, 128, 3, 3, 1, 1, 1, 1),
    ALL("16 images, 8->64",      16, 5, 4,  8,  64, 3, 3, 1, 1, 1, 1),
    ALL("15 images, 1x1 to 64",  15, 4, 4,  24, 64, 1, 1, 2, 0, 0, 1),
    ALL("7x7 stride 2, 3->64",   2, 13, 12, 3,  64, 7, 7, 2, 3, 3, 1),
    ALL("stride 2, 4->40",       3, 7,  8,  4,  40, 3, 3, 2, 1, 1, 1),
    ALL("3x2, 2->128",           2, 6,  5,  2, 128, 3, 2, 1, 1, 1, 1),
    // Windows of one row or column, padded along it alone.
    AXES("1x7 pad 0, 3", 3,      2, 5,  9,  6,  10, 1, 7, 1, 0, 0, 1),
    AXES("7x1 pad 3, 0", -3,     2, 9,  5,  6,  10, 7, 1, 1, 3, 3, 1),
    AXES("1x3 pad 0, 1", 1,      3, 4,  4,  24, 40, 1, 3, 1, 0, 0, 1),
    AXES("3x1 pad 1, 0", -1,     13, 4, 4,  64, 80, 3, 1, 1, 1, 1, 1),
    AXES("7x1 pad 3, 0, 17 images", -3, 17, 5, 5, 48, 64, 7, 1, 1, 3, 3, 1),
    AXES("1x7 pad 0, 3, 14 images", 3, 14, 5, 5, 32, 48, 1, 7, 1, 0, 0, 1),
    // Large windows, as of spectrograms: strides and padding differ between rows and columns.
    LINES("11x41, 1->16",        2, 13, 19, 1,  16, 11, 41, 2, 2, 5, 20),
    LINES("11x21, 16->16",       3, 9,  11, 16, 16, 11, 21, 2, 2, 5, 10),
    LINES("11x21, 35 pixels",    1, 12, 35, 16, 16, 11, 21, 1, 1, 5, 10),
    LINES("11x21, stride 1, 2",  2, 6,  8,  5,  7,  11, 21, 1, 2, 5, 10),
    LINES("21x11, stride 2, 1",  2, 21, 7,  3,  33, 21, 11, 2, 1, 10, 5),
    LINES("10x10, stride 3, 2",  1, 23, 14, 2,  9,  10, 10, 3, 2, 1, 7),
    LINES("10x10, valid",        2, 11, 13, 4,  6,  10, 10, 1, 1, 0, 0),
    // More than a thousand pixels, which some kernels sum in slices.
    {"conv 5 images, 2x2 valid", OP_CONV, build_conv, HS, {5, 18, 17, 3, 24, 2, 2, 1, 0, 0, 1, ACT_GELU, 1}, 96},
    {"conv 6 images, 5->40, stride 2", OP_CONV, build_conv, HS, {6, 15, 16, 5, 40, 3, 3, 2, 1, 1, 1, 0, 0}, 48},
    BACK("5 images, 2x2 valid", 48, 5, 18, 17, 3,  24, 2, 2, 1, 0, 0, 1),
    BACK("9 images, 12->40",    48, 9, 12, 11, 12, 40, 3, 3, 1, 1, 1, 1),
    BACK("7 images, 2 groups",  48, 7, 13, 12, 36, 70, 3, 3, 1, 1, 0, 2),
    {"conv 2x2 with a bias", OP_CONV, build_conv, HGS, {2, 6, 7, 3, 24, 2, 2, 1, 0, 0, 1, ACT_NONE, 1}, 48},
    ACT("conv bias relu", ACT_RELU, 1, 2, 6, 5, 8, 17, 3, 3, 1, 1, 1, 1),
    ACT("conv bias gelu", ACT_GELU, 1, 2, 6, 5, 8, 24, 2, 2, 1, 0, 0, 1),
    ACT("conv bias silu", ACT_SILU, 1, 2, 6, 5, 8, 17, 3, 3, 1, 1, 1, 1),
    ACT("conv bias gelu, 3 channels", ACT_GELU, 1, 3, 6, 5, 3, 24, 2, 2, 1, 0, 0, 1),
    ACT("conv bias silu, 13 images", ACT_SILU, 1, 13, 5, 4, 16, 72, 3, 3, 1, 1, 1, 1),
    ACT("conv bias gelu, 12 images", ACT_GELU, 1, 12, 5, 4, 24, 64, 3, 3, 1, 1, 0, 1),
    ACT("conv relu, 20 images", ACT_RELU, 0, 20, 3, 3, 16, 33, 3, 3, 1, 1, 1, 1),
    ACT("conv gelu without a bias", ACT_GELU, 0, 2, 5, 5, 8, 16, 3, 3, 1, 1, 0, 1),

    // Winograd, which rounds both factors of a product once more.
    {"conv winograd, pad before", OP_CONV, build_conv, HS | CASE_INSIDE,
     {17, 5, 5, 24, 64, 3, 3, 1, 1, 0, 1, ACT_SILU, 1, WINOGRAD_ALL}, 96},
    {"conv_wgrad winograd, pad before", OP_CONV_WGRAD, build_wgrad, HS | CASE_INSIDE,
     {17, 5, 5, 24, 64, 3, 3, 1, 1, 0, 1, 0, 0, WINOGRAD_ALL}, 48},
    {"conv_dgrad winograd, pad 1", OP_CONV_DGRAD, build_dgrad, HS | CASE_INSIDE,
     {16, 4, 4, 64, 64, 3, 3, 1, 1, 1, 1, 0, 0, WINOGRAD_DATA}, 48},

    // The results are pooled. The CPU computes the last four in bf16.
    {"conv pooled", OP_CONV, build_pooled, HS | CASE_CHOSEN, {2, 4, 6, 3, 10, 3, 3, 1, 1, 1, 1, 0, 0}, 48},
    {"conv pooled, with a bias", OP_CONV, build_pooled, HGS | CASE_CHOSEN, {2, 6, 4, 3, 6, 1, 1, 1, 0, 0, 3, 0, 1}, 48},
    {"conv_dgrad pooled", OP_CONV_DGRAD, build_unpooled, HS | CASE_CHOSEN, {2, 4, 6, 3, 10, 3, 3, 1, 1, 1, 1, 0, 0}, 48},
    {"conv_wgrad pooled", OP_CONV_WGRAD, build_unpooled, HS | CASE_CHOSEN, {2, 5, 7, 3, 10, 3, 3, 1, 1, 0, 1, 0, 0}, 48},
    {"conv winograd, pooled", OP_CONV, build_pooled, HS | CASE_INSIDE | CASE_CHOSEN,
     {17, 7, 5, 24, 64, 3, 3, 1, 1, 0, 1, 0, 1, WINOGRAD_ALL}, 96},
    {"conv winograd, pooled, silu", OP_CONV, build_pooled, HS | CASE_INSIDE | CASE_CHOSEN,
     {17, 7, 5, 24, 64, 3, 3, 1, 1, 0, 1, ACT_SILU, 1, WINOGRAD_ALL}, 96},
    {"conv_dgrad winograd, pooled", OP_CONV_DGRAD, build_unpooled, HS | CASE_INSIDE | CASE_CHOSEN,
     {16, 4, 4, 64, 72, 3, 3, 1, 1, 1, 1, 0, 0, WINOGRAD_DATA}, 48},
    {"conv_wgrad winograd, pooled", OP_CONV_WGRAD, build_unpooled, HS | CASE_INSIDE | CASE_CHOSEN,
     {17, 7, 5, 24, 64, 3, 3, 1, 1, 0, 1, 0, 0, WINOGRAD_ALL}, 48},

    // Filters of 4 MB and more, whose gradient is summed over larger groups; a large product of many pixels.
    {"conv_wgrad 1024->1024, 1x1", OP_CONV_WGRAD, build_wgrad, CASE_HALF | CASE_SLOW | CASE_SUM,
     {17, 3, 3, 1024, 1024, 1, 1, 1, 0, 0, 1, 0, 0}, 48},
    {"conv 12 images, 128->512, 1x1", OP_CONV, build_conv, CASE_HALF | CASE_SLOW | CASE_SUM,
     {12, 10, 9, 128, 512, 1, 1, 1, 0, 0, 1, 0, 0}, 48},
    {"conv_dgrad 12 images, 512->128, 1x1", OP_CONV_DGRAD, build_dgrad, CASE_HALF | CASE_SLOW | CASE_SUM,
     {12, 10, 9, 512, 128, 1, 1, 1, 0, 0, 1, 0, 0}, 48},
    // Larger than any cache: such results are written around it.
    {"conv 1x1 of 51 MB", OP_CONV, build_conv, CASE_HALF | CASE_SLOW,
     {12, 182, 182, 8, 64, 1, 1, 1, 0, 0, 1, 0, 0}, 48},

    //              m    n    k    ta tb ba f32 c f32b alpha beta
    PRODUCT("nn",        HGS, 7, 9, 13, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("nt",        HGS, 33, 10, 65, 0, 1, 0, 0, 0, 0, 4, 0),
    PRODUCT("tn",        HGS, 17, 31, 20, 1, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("tt",        HGS, 8, 16, 5, 1, 1, 0, 0, 0, 0, 4, 0),
    PRODUCT("1x1x1",     HGS, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("a row",     HGS, 1, 33, 18, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("a column",  HGS, 19, 1, 7, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("plus c",    HGS, 9, 12, 17, 0, 1, 0, 0, 1, 0, 2, 6),
    PRODUCT("square plus c, twice", HGS, 24, 24, 24, 0, 0, 0, 1, 1, 0, 8, 4),
    PRODUCT("3 at once", HGS, 5, 7, 6, 0, 0, 3, 0, 0, 0, 4, 0),
    PRODUCT("2 at once, transposed, plus c", HGS, 5, 7, 6, 1, 1, 2, 1, 1, 0, 3, 5),
    PRODUCT("head, f32 weights", HGS, 12, 10, 256, 0, 1, 0, 0, 0, 1, 4, 0),
    PRODUCT("plus a bias",           HGS, 33, 10, 65, 0, 1, 0, 0, 0, 0, 4, 0, 0, 1),
    PRODUCT("f32 weights, plus a bias", HGS, 12, 10, 256, 0, 1, 0, 0, 0, 1, 4, 0, 0, 1),
    PRODUCT("3 at once, plus a bias", HGS, 5, 7, 6, 1, 0, 3, 0, 0, 0, 4, 0, 0, 1),
    PRODUCT("head, f32 weights and result", HGS, 12, 10, 100, 0, 1, 0, 1, 0, 1, 4, 0),

    // Rows that start at aligned addresses, sizes beyond one tile, depths that are cut into slices.
    PRODUCT("nn, whole vectors",     HS, 72, 136, 96, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("nt, whole vectors",     HS, 72, 136, 96, 0, 1, 0, 0, 1, 0, 4, 3),
    PRODUCT("tn, whole vectors",     HS, 72, 136, 96, 1, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("tt, whole vectors",     HS, 72, 136, 96, 1, 1, 0, 1, 1, 0, 3, 5),
    PRODUCT("tt, whole vectors, 3 at once, plus c", HS, 40, 24, 56, 1, 1, 3, 0, 1, 0, 4, 2),
    PRODUCT("nn, whole vectors, 2 at once", HS, 24, 72, 40, 0, 0, 2, 1, 0, 0, 4, 0),
    PRODUCT("beyond a tile",         HS, 131, 75, 70, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("deep, transposed",      HS, 10, 72, 2000, 1, 0, 0, 1, 0, 0, 4, 0),
    PRODUCT("deep, plus c, 2 at once", HS, 33, 18, 1501, 0, 1, 2, 0, 1, 0, 4, 4),
    PRODUCT("deep by its own size",  HS, 64, 64, 576, 0, 1, 0, 0, 0, 0, 4, 0),
    PRODUCT("tn, rows of 4 KB",      HS, 1024, 9, 20, 1, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("nn, rows of 4 KB, 2 at once, plus c", HS, 8, 1024, 12, 0, 0, 2, 0, 1, 0, 4, 2),
    PRODUCT("many tiles, transposed", HS, 544, 530, 40, 1, 0, 0, 0, 1, 0, 4, 2),
    PRODUCT("many tiles, deep",      HS, 250, 252, 580, 0, 1, 0, 0, 0, 0, 4, 0),
    PRODUCT("deep, plus a bias",     HS, 40, 72, 2000, 0, 1, 0, 0, 0, 1, 4, 0, 0, 1),
    PRODUCT("f32 result, plus a bias", HS, 72, 136, 96, 0, 1, 0, 1, 0, 1, 4, 0, 0, 1),
    PRODUCT("f32 a, transposed", HS, 20, 72, 128, 1, 0, 0, 1, 0, 0, 4, 0, 1),
    PRODUCT("f32 a, odd",            HS, 13, 7, 131, 0, 0, 0, 0, 0, 0, 4, 0, 1),
    PRODUCT("f32 b, deep",           HS, 40, 10, 1100, 1, 1, 0, 1, 0, 1, 4, 0),

    BIG("whitening 3->24 @32", 100, 32, 32, 3, 24, 2, 2, 1, 0, 0, 1),
    BIG("24->64 @31", 100, 31, 31, 24, 64, 3, 3, 1, 1, 1, 1),
    BIG("64->64 @15", 100, 15, 15, 64, 64, 3, 3, 1, 1, 1, 1),
    BIG("64->256 @15", 100, 15, 15, 64, 256, 3, 3, 1, 1, 1, 1),
    BIG("256->256 @7", 100, 7, 7, 256, 256, 3, 3, 1, 1, 1, 1),
    BIG("256->256 @3", 100, 3, 3, 256, 256, 3, 3, 1, 1, 1, 1),
    LINES_OF("spectrograms, 1->16", CASE_HALF | CASE_LARGE, 16, 250, 161, 1, 16, 11, 41, 2, 2, 5, 20),
    LINES_OF("spectrograms, 16->16", CASE_HALF | CASE_LARGE, 16, 125, 81, 16, 16, 11, 21, 2, 2, 5, 10),
    LINES_OF("spectrograms, 32->32", CASE_HALF | CASE_LARGE, 8, 125, 81, 32, 32, 11, 21, 1, 2, 5, 10),
    PRODUCT("1024", CASE_HALF | CASE_LARGE, 1024, 1024, 1024, 0, 0, 0, 0, 0, 0, 4, 0),
    PRODUCT("f32 weights, 1024", CASE_HALF | CASE_LARGE, 1024, 1024, 1024, 0, 1, 0, 0, 0, 1, 4, 0),
    PRODUCT("f32 weights, plus a bias, 1024", CASE_HALF | CASE_LARGE, 1024, 1024, 1024, 0, 1, 0, 0, 0, 1, 4, 0, 0, 1),
    PRODUCT("head", CASE_HALF | CASE_LARGE, 2000, 10, 256, 0, 1, 0, 1, 0, 1, 4, 0),
    PRODUCT("Newton-Schulz X X^T", CASE_HALF | CASE_LARGE, 256, 256, 2304, 0, 1, 0, 0, 0, 0, 4, 0),
    PRODUCT("Newton-Schulz B X", CASE_HALF | CASE_LARGE, 256, 2304, 256, 0, 0, 0, 0, 0, 0, 4, 0),
    {0},
};
