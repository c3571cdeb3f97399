// SPDX-License-Identifier: Apache-2.0
// Compares ref with numbers worked out by hand. All other devices are compared with ref, so nothing here is computed by the code
// under test. Small whole numbers wherever the arithmetic allows. This file has the operators of a network; test_ref_rest.c has
// the rest.
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_hand.h"

// ---- convolution, matrices

TEST_WITH(test_conv, begin, end)
{
    int x = IN(F32, SHAPE(1, 3, 3, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9), w = IN(F32, SHAPE(1, 2, 2, 1), 1, 2, 3, 4);
    int valid = out(g_conv(g, x, w, 1, 0));
    // One row and column of zeros before, none behind; every second pixel.
    struct conv_attr a = {.stride = {2, 2}, .before = {1, 1}, .after = {0, 0}, .groups = 1};
    int bias = IN(F32, SHAPE(1), -30);
    int strided = out(g_conv_full(g, x, w, NONE, &a));
    a.act = ACT_RELU;
    int biased = out(g_conv_full(g, x, w, bias, &a));
    run();
    WANT(valid, 37, 47, 67, 77);      // 1*1 + 2*2 + 3*4 + 4*5, ..
    WANT(strided, 4, 18, 36, 77);     // 4*1; 3*2 + 4*3; 2*4 + 4*7; 1*5 + 2*6 + 3*8 + 4*9
    WANT(biased, 0, 0, 6, 47);
}

TEST_WITH(test_conv_channels_and_groups, begin, end)
{
    // Two pixels of two channels; filters [K = 3, 1, 1, 2].
    int x = IN(F32, SHAPE(1, 1, 2, 2), 1, 10, 2, 20), w = IN(F32, SHAPE(3, 1, 1, 2), 1, 0, 0, 1, 1, 1);
    int dense = out(g_conv(g, x, w, 1, 0));
    int w2 = IN(F32, SHAPE(2, 1, 1, 1), 3, 5);
    struct conv_attr a = {.stride = {1, 1}, .groups = 2};
    int grouped = out(g_conv_full(g, x, w2, NONE, &a));
    run();
    WANT(dense, 1, 10, 11, 2, 20, 22);
    WANT(grouped, 3, 50, 6, 100);
}

TEST_WITH(test_conv_back, begin, end)
{
    int x = IN(F32, SHAPE(1, 3, 3, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9), w = IN(F32, SHAPE(1, 2, 2, 1), 1, 2, 3, 4);
    int dy = IN(F32, SHAPE(1, 2, 2, 1), 1, 0, 0, 10);
    union attr a = {.conv = {.stride = {1, 1}, .groups = 1, .x_h = 3, .x_w = 3, .r = 2, .s = 2}};
    int dx = out(node(OP_CONV_DGRAD, (int[]){w, dy}, 2, &a, NULL));
    int dw = out(node(OP_CONV_WGRAD, (int[]){x, dy}, 2, &a, NULL));
    run();
    WANT(dx, 1, 2, 0, 3, 14, 20, 0, 30, 40);
    WANT(dw, 51, 62, 84, 95);  // 1*1 + 10*5, 2 + 60, 4 + 80, 5 + 90
}

// Each pixel spreads over the window that it was made of: two windows of three at distance 2 share a column.
TEST_WITH(test_deconv, begin, end)
{
    int x = IN(F32, SHAPE(1, 1, 2, 2), 1, 2, 3, 4), w = IN(F32, SHAPE(2, 1, 3, 1), 1, 10, 100, 1000, 2000, 3000);
    struct conv_attr a = {.stride = {1, 2}, .groups = 1, .x_h = 1, .x_w = 5};
    int y = out(g_deconv(g, x, w, &a));
    a.before[1] = 1, a.x_w = 4;
    int padded = out(g_deconv(g, x, w, &a));
    run();
    WANT(y, 2001, 4010, 6100 + 4003, 8030, 12300);
    WANT(padded, 4010, 6100 + 4003, 8030, 12300);
}

TEST_WITH(test_deconv_of_other_sizes, begin, end)
{
    int x = IN(F32, SHAPE(1, 1, 2, 1), 1, 2), w = IN(F32, SHAPE(1, 1, 3, 1), 1, 1, 1);
    g_deconv(g, x, w, &(struct conv_attr){.stride = {1, 2}, .groups = 1, .x_h = 1, .x_w = 7});
    REFUSED(graph_check(g), "deconv of 1x1x2x1 by filters 1x1x3x1 to 1 x 7");
    graph_free(g);
}

// A 16-bit input decides the precision of the filters: 1 + 1/256 does not fit into 8 bits and is read as 1.
TEST_WITH(test_conv_rounds_filters, begin, end)
{
    int x = IN(BF16, SHAPE(1, 1, 1, 1), 256), w = IN(F32, SHAPE(1, 1, 1, 1), 1.00390625);
    int narrow = out(g_conv(g, x, w, 1, 0));
    int wide = out(g_conv(g, IN(F32, SHAPE(1, 1, 1, 1), 256), w, 1, 0));
    run();
    WANT(narrow, 256);
    WANT(wide, 257);
}

TEST_WITH(test_matmul, begin, end)
{
    int a = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6), b = IN(F32, SHAPE(3, 2), 1, 0, 0, 1, 2, 2);
    int c = IN(F32, SHAPE(2, 2), 1, 1, 1, 1);
    int plain = out(g_matmul(g, a, false, b, false, F32));
    int both = out(g_matmul(g, b, true, a, true, F32));  // the transposed of the first
    int plus = out(g_matmul_full(g, a, b, c, &(struct matmul_attr){.alpha = 2, .beta = -1, .out = F32}));
    int gram = out(g_matmul(g, a, false, a, true, F32));
    int p = IN(F32, SHAPE(2, 1, 2), 1, 2, 3, 4), q = IN(F32, SHAPE(2, 2, 1), 1, 1, 10, 100);
    int batch = out(g_matmul(g, p, false, q, false, F32));
    run();
    WANT(plain, 7, 8, 16, 17);
    WANT(both, 7, 16, 8, 17);
    WANT(plus, 13, 15, 31, 33);
    WANT(gram, 14, 32, 32, 77);
    WANT(batch, 3, 430);
}

// ---- pooling

TEST_WITH(test_pools, begin, end)
{
    // The third row and column are dropped; of equal values the first wins; a NaN never does.
    int x = IN(F32, SHAPE(1, 3, 3, 1), 1, 4, 99, 4, 2, 99, 99, 99, 99);
    int at[2];
    union attr a = {.pool = {.k = {2, 2}, .stride = {2, 2}, .x_h = 3, .x_w = 3}};
    node(OP_MAXPOOL, &x, 1, &a, at);
    int y = out(at[0]), where = out(at[1]);
    int mean = out(node(OP_AVGPOOL, &x, 1, &a, NULL));
    int n = IN(F32, SHAPE(1, 2, 2, 1), NAN, -5, NAN, -7), nat[2];
    node(OP_MAXPOOL, &n, 1, &a, nat);
    int ny = out(nat[0]), nwhere = out(nat[1]);
    run();
    WANT(y, 4);
    WANT(where, 1);
    WANT(mean, 2.75);
    WANT(ny, -5);
    WANT(nwhere, 1);
}

TEST_WITH(test_pools_back, begin, end)
{
    // Windows of 2 at stride 1 in a row of three overlap at the middle.
    union attr a = {.pool = {.k = {1, 2}, .stride = {1, 1}, .x_h = 1, .x_w = 3}};
    int at = IN(U8, SHAPE(1, 1, 2, 1), 1, 0), dy = IN(F32, SHAPE(1, 1, 2, 1), 3, 5);
    int most = out(node(OP_MAXPOOL_GRAD, (int[]){at, dy}, 2, &a, NULL));
    int mean = out(node(OP_AVGPOOL_GRAD, &dy, 1, &a, NULL));
    // An odd last column is in no window.
    union attr b = {.pool = {.k = {1, 2}, .stride = {1, 2}, .x_h = 1, .x_w = 5}};
    int odd = out(node(OP_MAXPOOL_GRAD, (int[]){at, dy}, 2, &b, NULL));
    run();
    WANT(most, 0, 8, 0);
    WANT(mean, 1.5, 4, 2.5);
    WANT(odd, 0, 3, 5, 0, 0);
}

TEST_WITH(test_pools_padded, begin, end)
{
    // Windows of 3 at stride 2 over three pixels, one of padding on both sides: positions -1..1 and 1..3. Padding is below
    // every number and never wins, not over NaN either.
    union attr a = {.pool = {.k = {1, 3}, .stride = {1, 2}, .pad = {0, 1}, .x_h = 1, .x_w = 3}};
    int x = IN(F32, SHAPE(2, 1, 3, 1), -7, -INFINITY, -9, NAN, NAN, -3), at[2];
    node(OP_MAXPOOL, &x, 1, &a, at);
    int y = out(at[0]), where = out(at[1]);
    // The gradient of a position in the padding is dropped.
    int win = IN(U8, SHAPE(1, 1, 2, 1), 0, 1), dy = IN(F32, SHAPE(1, 1, 2, 1), 3, 5);
    int dx = out(node(OP_MAXPOOL_GRAD, (int[]){win, dy}, 2, &a, NULL));
    run();
    WANT(y, -7, -9, NAN, -3);
    WANT(where, 1, 1, 1, 1);
    WANT(dx, 0, 0, 5);
}

// ---- batch norm

TEST_WITH(test_norm, begin, end)
{
    // Channel 0: 1, 3 -> mean 2, variance 1 (unbiased 2). Channel 1: 10, 10 -> variance 0.
    int x = IN(F32, SHAPE(2, 2), 1, 10, 3, 10), mean = IN(F32, SHAPE(2), 0, 0), var = IN(F32, SHAPE(2), 1, 1);
    int scale = IN(F32, SHAPE(2), 2, 1), bias = IN(F32, SHAPE(2), 0.5, -1), o[5];
    union attr a = {.norm = {.eps = 3.0f, .momentum = 0.75f, .act = ACT_NONE}};  // sqrt(1 + 3) = 2
    graph_node_over(g, OP_NORM, (int[]){x, mean, var, scale, bias}, 5, &a, (int[]){NONE, NONE, NONE, mean, var}, o);
    int y = out(o[0]), m = out(o[1]), r = out(o[2]);
    int before = IN(F32, SHAPE(2), 4, 0), spread = IN(F32, SHAPE(2), 1, 6);
    int infer = out(node(OP_NORM_INFER, (int[]){x, before, spread, scale, bias}, 5, &a, NULL));
    run();
    WANT(m, 2, 10);
    WANT(r, 0.5, 1.0 / sqrt(3.0));
    WANT(y, -0.5, -1, 1.5, -1);
    WANT_IN(1, 0.5, 2.5);    // .75 * 0 + .25 * mean
    WANT_IN(2, 1.25, 0.75);  // .75 * 1 + .25 * unbiased variance
    WANT(infer, -2.5, 10.0 / 3.0 - 1.0, -0.5, 10.0 / 3.0 - 1.0);
}

TEST_WITH(test_norm_back, begin, end)
{
    // xhat = -1, 1 with rstd 1; dy = 3, 1: dbias 4, dscale -2; dx = 2 (dy - 2 - xhat * -1) = 0, 0.
    int x = IN(F32, SHAPE(2, 1), 4, 6), mean = IN(F32, SHAPE(1), 5), rstd = IN(F32, SHAPE(1), 1);
    int scale = IN(F32, SHAPE(1), 2);
    int bias = IN(F32, SHAPE(1), 0), dy = IN(F32, SHAPE(2, 1), 3, 1), o[4], p[4];
    union attr a = {.norm = {.act = ACT_NONE}}, relu = {.norm = {.act = ACT_RELU}};
    node(OP_NORM_GRAD, (int[]){dy, x, mean, rstd, scale, bias}, 6, &a, o);
    int dx = out(o[0]), dscale = out(o[1]), dbias = out(o[2]);
    // Behind a ReLU the first (z = -2) sends nothing: dz = 0, 1; dbias 1, dscale 1; dx = 2 (dz - .5 - xhat / 2).
    node(OP_NORM_GRAD, (int[]){dy, x, mean, rstd, scale, bias}, 6, &relu, p);
    int dx2 = out(p[0]), dscale2 = out(p[1]), dbias2 = out(p[2]);
    run();
    WANT(dx, 0, 0);
    WANT(dscale, -2);
    WANT(dbias, 4);
    WANT(dx2, 0, 0);
    WANT(dscale2, 1);
    WANT(dbias2, 1);
}

TEST_WITH(test_pool_norm, begin, end)
{
    // Two 2x2 windows (a third column is dropped): maxima 3 at 2 and 7 at 3; mean 5, variance 4.
    int x = IN(F32, SHAPE(1, 2, 5, 1), 1, 2, 4, 6, 50, 3, 0, 5, 7, 50);
    int mean = IN(F32, SHAPE(1), 1), var = IN(F32, SHAPE(1), 1), bias = IN(F32, SHAPE(1), 1), o[7], p[3];
    union attr a = {.norm = {.eps = 0.0f, .momentum = 0.5f, .act = ACT_RELU, .x_h = 2, .x_w = 5}};
    graph_node_over(g, OP_POOL_NORM, (int[]){x, mean, var, NONE, bias}, 5, &a,
                    (int[]){NONE, NONE, NONE, NONE, NONE, mean, var}, o);
    int y = out(o[0]), m = out(o[1]), r = out(o[2]), pooled = out(o[3]), at = out(o[4]);
    // Backward without the activation, and with a mean of 4 and rstd of 2 given: xhat = -2, 6.
    int dy = IN(F32, SHAPE(1, 1, 2, 1), 1, 0), m2 = IN(F32, SHAPE(1), 4), r2 = IN(F32, SHAPE(1), 2);
    union attr b = a;
    b.norm.act = ACT_NONE;
    node(OP_POOL_NORM_GRAD, (int[]){dy, o[3], m2, r2, NONE, bias, o[4]}, 7, &b, p);
    int dx = out(p[0]), dbias = out(p[2]);
    run();
    WANT(m, 5);
    WANT(r, 0.5);
    WANT(pooled, 3, 7);
    WANT(at, 2, 3);
    WANT(y, 0, 2);          // xhat + 1
    WANT_IN(1, 3);          // .5 * 1 + .5 * 5
    WANT_IN(2, 4.5);        // .5 * 1 + .5 * 8
    WANT(dbias, 1);
    // sum(dz xhat) = -2; dx = 2 (dy - 1/2 - xhat * -2/2): 2 (.5 - 2) = -3 at index 2 of the first window, and
    // 2 (-.5 + 6) = 11 at 3 of the second.
    WANT(dx, 0, 0, 0, 0, 0, -3, 0, 0, 11, 0);
}

TEST_WITH(test_norm_fold, begin, end)
{
    int w = IN(F32, SHAPE(2, 1, 1, 2), 1, 2, 3, 4), mean = IN(F32, SHAPE(2), 1, 2);
    int var = IN(F32, SHAPE(2), 3, 15), o[2];
    int scale = IN(F32, SHAPE(2), 4, 8), bias = IN(F32, SHAPE(2), 0.5, 0.25), before = IN(F32, SHAPE(2), 3, 0);
    union attr a = {.norm = {.eps = 1.0f}};
    node(OP_NORM_FOLD, (int[]){w, mean, var, scale, bias, before}, 6, &a, o);
    int folded = out(o[0]), offset = out(o[1]);
    run();
    WANT(folded, 2, 4, 6, 8);  // factors 4 / 2 and 8 / 4
    WANT(offset, 4.5, -3.75);  // (3 - 1) * 2 + .5, (0 - 2) * 2 + .25
}

// ---- element by element

TEST_WITH(test_activations, begin, end)
{
    int x = IN(F32, SHAPE(1, 3), -1, 0, 2), bias = IN(F32, SHAPE(3), 0, 0, -1);
    int dy = IN(F32, SHAPE(1, 3), 10, 10, 10), o[2];
    int relu = out(g_act(g, x, ACT_RELU)), gelu = out(g_act(g, x, ACT_GELU)), silu = out(g_act(g, x, ACT_SILU));
    int biased = out(g_bias(g, x, bias));
    node(OP_ACT_GRAD, (int[]){dy, x, bias}, 3, &(union attr){.act = {ACT_GELU}}, o);
    int dx = out(o[0]), dbias = out(o[1]);
    int slope = out(node(OP_MAP_GRAD, (int[]){dy, x}, 2, &(union attr){.map = {.formula = MAP_SILU}}, NULL));
    run();
    WANT(relu, 0, 0, 2);
    WANT(gelu, -0.158655254, 0, 1.954499736);  // tables of the normal distribution: .158655254, .977249868
    WANT(silu, -0.268941421, 0, 1.761594156);  // 1 / (1 + e) = .268941421, 1 / (1 + e^-2) = .880797078
    WANT(biased, -1, 0, 1);
    // Phi(x) + x phi(x) with phi(1) = .241970725: at -1, 0, and 2 - 1 = 1.
    WANT(dx, -0.833154707, 5, 10.833154707);
    WANT(dbias, -0.833154707, 5, 10.833154707);
    // s (1 + x (1 - s)): at -1: .268941421 (1 - .731058579); at 2: .880797078 (1 + 2 * .119202922)
    WANT(slope, 0.723294881, 5, 10.907842487);
}

TEST_WITH(test_simple_elements, begin, end)
{
    int a = IN(F32, SHAPE(3), 1, -2, 3), b = IN(F32, SHAPE(3), 10, 20, 30);
    int add = out(g_add(g, a, b)), mul = out(g_mul(g, a, b)), scale = out(g_scale(g, a, 0.5f));
    int wide = IN(F32, SHAPE(3), 1.00390625, 1.01171875, 300.7);  // half way: to even, both times
    int narrow = out(g_cast(g, wide, BF16)), bytes = out(g_cast(g, wide, U8)), whole = out(g_cast(g, wide, I32));
    run();
    WANT(add, 11, 18, 33);
    WANT(mul, 10, -40, 90);
    WANT(scale, 0.5, -1, 1.5);
    WANT(narrow, 1, 1.015625, 300);
    WANT(bytes, 1, 1, 255);
    WANT(whole, 1, 1, 301);
}

static int map1(enum map formula, int x, float p, float q) { return out(g_map(g, formula, x, p, q)); }
static int map2(enum map formula, int a, int b) { return out(g_map_of(g, formula, (int[]){a, b, NONE})); }

TEST_WITH(test_formulas, begin, end)
{
    int a = IN(F32, SHAPE(4), 1, -2, 0, 0.25), b = IN(F32, SHAPE(4), -1, -2, NAN, 4), small = IN(F32, SHAPE(2), 10, 20);
    int c = IN(F32, SHAPE(2, 2), 1, 0, 2, 3), d = IN(F32, SHAPE(2, 2), 5, 6, 7, 8);
    int sub = map2(MAP_SUB, a, b), div = map2(MAP_DIV, a, b), less = map2(MAP_LESS, a, b), equal = map2(MAP_EQUAL, a, b);
    int min = map2(MAP_MIN, a, b), max = map2(MAP_MAX, a, b), neg = map1(MAP_NEG, a, 0, 0), abs = map1(MAP_ABS, a, 0, 0);
    int square = map1(MAP_SQUARE, a, 0, 0), shift = map1(MAP_SHIFT, a, 3, 0), clamp = map1(MAP_CLAMP, a, -1, 0.5f);
    int root = map1(MAP_SQRT, a, 0, 0), turned = map1(MAP_RECIPROCAL, a, 0, 0), power = map1(MAP_POW, a, 3, 0);
    int exponential = map1(MAP_EXP, a, 0, 0), logarithm = map1(MAP_LOG, a, 0, 0), leaky = map1(MAP_LEAKY_RELU, a, 0.5f, 0);
    int plus = map1(MAP_SOFTPLUS, a, 0, 0), select = out(g_map_of(g, MAP_SELECT, (int[]){c, d, small}));
    run();
    WANT(sub, 2, 0, NAN, -3.75);
    WANT(div, -1, 1, NAN, 0.0625);
    WANT(less, 0, 0, 0, 1);
    WANT(equal, 0, 1, 0, 0);
    WANT(min, -1, -2, NAN, 0.25);
    WANT(max, 1, -2, NAN, 4);
    WANT(neg, -1, 2, 0, -0.25);
    WANT(abs, 1, 2, 0, 0.25);
    WANT(square, 1, 4, 0, 0.0625);
    WANT(shift, 4, 1, 3, 3.25);
    WANT(clamp, 0.5, -1, 0, 0.25);
    WANT(root, 1, NAN, 0, 0.5);
    WANT(turned, 1, -0.5, INFINITY, 4);
    WANT(power, 1, -8, 0, 0.015625);
    WANT(exponential, 2.718281828, 0.135335283, 1, 1.284025417);
    WANT(logarithm, 0, NAN, -INFINITY, -1.386294361);
    WANT(leaky, 1, -1, 0, 0.25);
    WANT(plus, 1.313261688, 0.126928011, 0.693147181, 0.825939407);  // log(1 + e^x)
    WANT(select, 5, 20, 7, 8);
}

TEST_WITH(test_top, begin, end)
{
    // Of equals the first; NaN last, in order.
    int x = IN(F32, SHAPE(2, 4), 3, 7, 7, 3, NAN, -INFINITY, NAN, -1), at, dy = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    int y = out(g_top(g, x, 3, &at)), where = out(at), first = out(g_argmax(g, x));
    int back = out(node(OP_TOP_GRAD, (int[]){at, dy}, 2, &(union attr){.top = {.k = 3, .n = 4}}, NULL));
    int z = IN(F32, SHAPE(2, 3, 2), 1, 2, 3, 4, 5, 6, 7, -8, 9, -10, 0, -12);
    int leading = out(g_reduce_max(g, z, 3u)), last = out(g_reduce_max(g, z, 4u)), all = out(g_reduce_max(g, z, 7u));
    run();
    WANT(y, 7, 7, 3, -1, -INFINITY, NAN);
    WANT(where, 1, 2, 0, 3, 1, 0);
    WANT(first, 1, 3);
    WANT(back, 3, 1, 2, 0, 6, 5, 0, 4);
    WANT(leading, 9, 6);
    WANT(last, 2, 4, 6, 7, 9, 0);
    WANT(all, 9);
}

TEST_WITH(test_mean_pool_padded, begin, end)
{
    int x = IN(F32, SHAPE(1, 2, 2, 1), 1, 2, 3, 4), dy = IN(F32, SHAPE(1, 2, 2, 1), 8, 12, 24, 4);
    struct pool_attr a = {.k = {2, 2}, .stride = {2, 2}, .pad = {1, 1}, .x_h = 2, .x_w = 2}, counts = a;
    counts.counts_pad = true;
    int inside = out(g_avgpool_full(g, x, &a)), whole = out(g_avgpool_full(g, x, &counts));
    int back = out(node(OP_AVGPOOL_GRAD, &dy, 1, &(union attr){.pool = a}, NULL));
    int back_whole = out(node(OP_AVGPOOL_GRAD, &dy, 1, &(union attr){.pool = counts}, NULL));
    run();
    WANT(inside, 1, 2, 3, 4);  // a corner each
    WANT(whole, 0.25, 0.5, 0.75, 1);
    WANT(back, 8, 12, 24, 4);
    WANT(back_whole, 2, 3, 6, 1);
}

// The moments of a distribution from 40000 numbers, whose own deviation is a hundredth of it.
static void hold_moments(bool normal, double mean, double square)
{
    enum { COUNT = 40000 };
    static double x[COUNT];
    double sum = 0, squares = 0;
    const int32_t key[4] = {5, 6, 0, 0};
    for (uint32_t i = 0; i < COUNT; i += 4) {
        struct rng4 r = element_random_draw(key, 9, 3, i);
        for (int j = 0; j < 4; j += 2) {
            float a = rng_unit(r.v[j]), b = rng_unit(r.v[j + 1]);
            if (normal) element_normals(r.v[j], r.v[j + 1], &a, &b);
            x[i + (uint32_t)j] = (double)a, x[i + (uint32_t)j + 1] = (double)b;
        }
    }
    for (int i = 0; i < COUNT; i++) sum += x[i], squares += x[i] * x[i];
    assert_true(fabs(sum / COUNT - mean) < 0.02);
    assert_true(fabs(squares / COUNT - square) < 0.04);
}

TEST_WITH(test_random, begin, end)
{
    int key = IN(I32, SHAPE(4), 5, 6, 0, 0), step = IN(I32, SHAPE(1), 9);
    struct random_attr a = {.shape = SHAPE(6), .to = F32, .a = 2, .b = 6, .site = 3}, b = a;
    b.normal = true;
    int flat = out(g_random(g, &a, key, step)), bell = out(g_random(g, &b, key, step));
    run();
    double want[2][6];
    for (int i = 0; i < 6; i++) {
        struct rng4 r = element_random_draw((const int32_t[]){5, 6, 0, 0}, 9, 3, (uint64_t)i);
        float n[4];
        element_normals(r.v[0], r.v[1], &n[0], &n[1]), element_normals(r.v[2], r.v[3], &n[2], &n[3]);
        want[0][i] = 2.0 + 4.0 * (double)rng_unit(r.v[i & 3]), want[1][i] = 2.0 + 6.0 * (double)n[i & 3];
    }
    want_many(flat, 6, want[0]);
    want_many(bell, 6, want[1]);
    hold_moments(false, 0.5, 1.0 / 3.0);
    hold_moments(true, 0.0, 1.0);
}

TEST_WITH(test_dropout, begin, end)
{
    double ones[MOST];
    for (int i = 0; i < MOST; i++) ones[i] = 1.0;
    int x = in_typed(SHAPE(MOST), F32, ones), key = IN(I32, SHAPE(4), 5, 6, 0, 0), step = IN(I32, SHAPE(1), 9);
    int y = out(g_dropout(g, x, key, step, 0.75f, 3));
    run();
    double want[MOST];
    int kept = 0;
    for (int i = 0; i < MOST; i++) {
        int keep = element_keeps((const int32_t[]){5, 6, 0, 0}, 9, 3, (uint64_t)i, 0.75f);
        want[i] = keep ? 4.0 : 0.0;
        kept += keep;
    }
    assert_in_range(kept, 5, 30);  // 16 expected
    want_many(y, MOST, want);
}
