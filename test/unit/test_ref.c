// SPDX-License-Identifier: Apache-2.0
// ref itself against numbers worked out by hand: it is what everything else is held against, so nothing here is
// computed by the code under test. Small whole numbers wherever the arithmetic allows.
#include "runtime/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/element.h"

// One graph on ref: in() makes an input with its numbers, out() keeps a result, run() runs, want() compares.
enum { MOST = 64, ROOM = 24 };
static struct device *device;
static struct session *session;
static struct graph *g;
static struct {
    char name[16];
    struct slot *slot;
    double value[MOST];
} inputs[ROOM];
static int input_count, output_count;

static int begin(void **state)
{
    (void)state;
    input_count = output_count = 0;
    if (device_open("ref", 1, &device) < 0 || session_new(device, &session) < 0) return -1;
    g = graph_new(session->store, "hand");
    return 0;
}

static int end(void **state)
{
    (void)state;
    session_free(session);
    device_close(device);
    return 0;
}

static int in_typed(struct shape shape, enum dtype type, const double *value)
{
    int n = (int)shape_count(&shape), i = input_count++;
    assert_true(n <= MOST && i < ROOM);
    snprintf(inputs[i].name, sizeof inputs[i].name, "in%d", i);
    int v = graph_state(g, inputs[i].name, shape, type, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    assert_int_not_equal(v, NONE);
    inputs[i].slot = g->value[v].slot;
    for (int j = 0; j < n; j++) inputs[i].value[j] = value[j];
    return v;
}
#define IN(type, shape, ...) in_typed(shape, type, (const double[]){__VA_ARGS__})

// Keeps a value in a slot of its own; returns the slot's number for want().
static int out(int v)
{
    char name[16];
    if (graph_check(g) < 0) fail_msg("%s", error_text());
    snprintf(name, sizeof name, "out%d", output_count);
    struct value x = g->value[v];
    int slot = graph_state(g, name, x.shape, x.dtype, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){slot, v}, 2, NULL, &slot, NULL);
    return output_count++;
}

static void run(void)
{
    int program = session_add(session, g);
    if (program < 0 || session_ready(session) < 0) fail_msg("%s", error_text());
    for (int i = 0; i < input_count; i++) {
        double room[MOST] = {0};
        for (int j = 0; j < (int)shape_count(&inputs[i].slot->shape); j++)
            element_set(inputs[i].slot->dtype, room, j, inputs[i].value[j]);
        assert_int_equal(session_put(session, inputs[i].name, room, 0, slot_bytes(inputs[i].slot)), 0);
    }
    assert_int_equal(session_run(session, program), 0);
}

static void want_slot(const char *name, int n, const double *value)
{
    const struct slot *slot = store_find(session->store, name);
    double room[MOST];
    assert_non_null(slot);
    assert_int_equal(shape_count(&slot->shape), n);
    assert_int_equal(session_get(session, name, room, slot_bytes(slot)), 0);
    for (int i = 0; i < n; i++) {
        double got = element_get(slot->dtype, room, i);
        if (!(fabs(got - value[i]) <= 1e-6 * fmax(1.0, fabs(value[i])))) fail_msg("%s[%d] is %.9g, not %.9g", name, i, got, value[i]);
    }
}

static void want_many(int number, int n, const double *value)
{
    char name[16];
    snprintf(name, sizeof name, "out%d", number);
    want_slot(name, n, value);
}
#define COUNT(...) ((int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))
#define WANT(number, ...) want_many(number, COUNT(__VA_ARGS__), (const double[]){__VA_ARGS__})
#define WANT_IN(number, ...) want_slot(inputs[number].name, COUNT(__VA_ARGS__), (const double[]){__VA_ARGS__})

static int node(enum op op, const int *in, int count, const union attr *attr, int *outs)
{
    return graph_node(g, op, in, count, attr, outs);
}

// ---- convolution, matrices

static void test_conv(void **state)
{
    (void)state;
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

static void test_conv_channels_and_groups(void **state)
{
    (void)state;
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

static void test_conv_back(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(1, 3, 3, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9), w = IN(F32, SHAPE(1, 2, 2, 1), 1, 2, 3, 4);
    int dy = IN(F32, SHAPE(1, 2, 2, 1), 1, 0, 0, 10);
    union attr a = {.conv = {.stride = {1, 1}, .groups = 1, .x_h = 3, .x_w = 3, .r = 2, .s = 2}};
    int dx = out(node(OP_CONV_DGRAD, (int[]){w, dy}, 2, &a, NULL));
    int dw = out(node(OP_CONV_WGRAD, (int[]){x, dy}, 2, &a, NULL));
    run();
    WANT(dx, 1, 2, 0, 3, 14, 20, 0, 30, 40);
    WANT(dw, 51, 62, 84, 95);  // 1*1 + 10*5, 2 + 60, 4 + 80, 5 + 90
}

// A 16-bit input decides the precision of the filters: 1 + 1/256 does not fit into 8 bits and is read as 1.
static void test_conv_rounds_filters(void **state)
{
    (void)state;
    int x = IN(BF16, SHAPE(1, 1, 1, 1), 256), w = IN(F32, SHAPE(1, 1, 1, 1), 1.00390625);
    int narrow = out(g_conv(g, x, w, 1, 0));
    int wide = out(g_conv(g, IN(F32, SHAPE(1, 1, 1, 1), 256), w, 1, 0));
    run();
    WANT(narrow, 256);
    WANT(wide, 257);
}

static void test_matmul(void **state)
{
    (void)state;
    int a = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6), b = IN(F32, SHAPE(3, 2), 1, 0, 0, 1, 2, 2), c = IN(F32, SHAPE(2, 2), 1, 1, 1, 1);
    int plain = out(g_matmul(g, a, false, b, false, 1, NONE, 0, F32));
    int both = out(g_matmul(g, b, true, a, true, 1, NONE, 0, F32));  // the transposed of the first
    int plus = out(g_matmul(g, a, false, b, false, 2, c, -1, F32));
    int gram = out(g_matmul(g, a, false, a, true, 1, NONE, 0, F32));
    int p = IN(F32, SHAPE(2, 1, 2), 1, 2, 3, 4), q = IN(F32, SHAPE(2, 2, 1), 1, 1, 10, 100);
    int batch = out(g_matmul(g, p, false, q, false, 1, NONE, 0, F32));
    run();
    WANT(plain, 7, 8, 16, 17);
    WANT(both, 7, 16, 8, 17);
    WANT(plus, 13, 15, 31, 33);
    WANT(gram, 14, 32, 32, 77);
    WANT(batch, 3, 430);
}

// ---- pooling

static void test_pools(void **state)
{
    (void)state;
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

static void test_pools_back(void **state)
{
    (void)state;
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

// ---- batch norm

static void test_norm(void **state)
{
    (void)state;
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

static void test_norm_back(void **state)
{
    (void)state;
    // xhat = -1, 1 with rstd 1; dy = 3, 1: dbias 4, dscale -2; dx = 2 (dy - 2 - xhat * -1) = 0, 0.
    int x = IN(F32, SHAPE(2, 1), 4, 6), mean = IN(F32, SHAPE(1), 5), rstd = IN(F32, SHAPE(1), 1), scale = IN(F32, SHAPE(1), 2);
    int bias = IN(F32, SHAPE(1), 0), dy = IN(F32, SHAPE(2, 1), 3, 1), o[3], p[3];
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

static void test_pool_norm(void **state)
{
    (void)state;
    // Two 2x2 windows (a third column is dropped): maxima 3 at 2 and 7 at 3; mean 5, variance 4.
    int x = IN(F32, SHAPE(1, 2, 5, 1), 1, 2, 4, 6, 50, 3, 0, 5, 7, 50);
    int mean = IN(F32, SHAPE(1), 1), var = IN(F32, SHAPE(1), 1), bias = IN(F32, SHAPE(1), 1), o[7], p[3];
    union attr a = {.norm = {.eps = 0.0f, .momentum = 0.5f, .act = ACT_RELU, .x_h = 2, .x_w = 5}};
    graph_node_over(g, OP_POOL_NORM, (int[]){x, mean, var, NONE, bias}, 5, &a,
                    (int[]){NONE, NONE, NONE, NONE, NONE, mean, var}, o);
    int y = out(o[0]), m = out(o[1]), r = out(o[2]), pooled = out(o[3]), at = out(o[4]);
    // The way back without the activation, and with a mean of 4 and rstd of 2 given: xhat = -2, 6.
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
    // sum(dz xhat) = -2; dx = 2 (dy - 1/2 - xhat * -2/2): 2 (.5 - 2) = -3 at index 2 of the first window, 2 (-.5 + 6) = 11 at 3 of the second.
    WANT(dx, 0, 0, 0, 0, 0, -3, 0, 0, 11, 0);
}

static void test_norm_fold(void **state)
{
    (void)state;
    int w = IN(F32, SHAPE(2, 1, 1, 2), 1, 2, 3, 4), mean = IN(F32, SHAPE(2), 1, 2), var = IN(F32, SHAPE(2), 3, 15), o[2];
    int scale = IN(F32, SHAPE(2), 4, 8), bias = IN(F32, SHAPE(2), 0.5, 0.25), before = IN(F32, SHAPE(2), 3, 0);
    union attr a = {.norm = {.eps = 1.0f}};
    node(OP_NORM_FOLD, (int[]){w, mean, var, scale, bias, before}, 6, &a, o);
    int folded = out(o[0]), offset = out(o[1]);
    run();
    WANT(folded, 2, 4, 6, 8);  // factors 4 / 2 and 8 / 4
    WANT(offset, 4.5, -3.75);  // (3 - 1) * 2 + .5, (0 - 2) * 2 + .25
}

// ---- element by element

static void test_activations(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(1, 3), -1, 0, 2), bias = IN(F32, SHAPE(3), 0, 0, -1), dy = IN(F32, SHAPE(1, 3), 10, 10, 10), o[2];
    int relu = out(g_act(g, x, ACT_RELU)), gelu = out(g_act(g, x, ACT_GELU)), silu = out(g_act(g, x, ACT_SILU));
    int biased = out(g_bias(g, x, bias));
    node(OP_ACT_GRAD, (int[]){dy, x, bias}, 3, &(union attr){.act = {ACT_GELU}}, o);
    int dx = out(o[0]), dbias = out(o[1]);
    int slope = out(node(OP_ACT_GRAD, (int[]){dy, x}, 2, &(union attr){.act = {ACT_SILU}}, NULL));
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

static void test_simple_elements(void **state)
{
    (void)state;
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

static void test_dropout(void **state)
{
    (void)state;
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

// ---- moving

static void test_moves(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    int turned = out(g_transpose(g, x, (const int[]){1, 0}));
    int shaped = out(g_reshape(g, x, SHAPE(3, 2)));
    int y = IN(F32, SHAPE(2, 1), 7, 8);
    int joined = out(g_concat(g, (const int[]){x, y, x}, 3, 1));
    int cut = out(g_slice(g, x, 1, 1, 3));
    union attr a = {.move = {.shape = SHAPE(2, 3), .axis = 1, .begin = 1, .end = 2}};
    int back = out(node(OP_SLICE_GRAD, &y, 1, &a, NULL));
    int cube = IN(F32, SHAPE(2, 2, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    int cycled = out(g_transpose(g, cube, (const int[]){2, 0, 1}));  // result (i, j, k) is x (j, k, i)
    run();
    WANT(turned, 1, 4, 2, 5, 3, 6);
    WANT(shaped, 1, 2, 3, 4, 5, 6);
    WANT(joined, 1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 4, 5, 6);
    WANT(cut, 2, 3, 5, 6);
    WANT(back, 0, 7, 0, 0, 8, 0);
    WANT(cycled, 0, 2, 4, 6, 1, 3, 5, 7);
}

static void test_gather(void **state)
{
    (void)state;
    int x = IN(U8, SHAPE(3, 2), 1, 2, 3, 4, 5, 6), index = IN(I32, SHAPE(4), 2, 0, 2, 99);
    int rows = out(g_gather(g, x, index));
    int dy = IN(F32, SHAPE(4, 2), 1, 2, 10, 20, 100, 200, 1000, 2000);
    union attr a = {.move = {.shape = SHAPE(3, 2)}};
    int back = out(node(OP_GATHER_GRAD, (int[]){index, dy}, 2, &a, NULL));
    run();
    WANT(rows, 5, 6, 1, 2, 5, 6, 5, 6);  // 99 is brought back to the last row
    WANT(back, 10, 20, 0, 0, 1101, 2202);
}

static void test_resize(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(1, 1, 4, 1), 0, 8, 16, 24);
    int half = out(g_resize(g, x, 1, 2));   // centres at .5 and 2.5
    int twice = out(g_resize(g, x, 1, 8));  // centres at -.25 (the border), .25, .75, ..
    int two = IN(F32, SHAPE(1, 2, 2, 1), 0, 4, 8, 12);
    int one = out(g_resize(g, two, 1, 1));
    int dy = IN(F32, SHAPE(1, 1, 2, 1), 2, 6);
    union attr a = {.move = {.shape = SHAPE(1, 1, 4, 1)}};
    int back = out(node(OP_RESIZE_GRAD, &dy, 1, &a, NULL));
    run();
    WANT(half, 4, 20);
    WANT(twice, 0, 2, 6, 10, 14, 18, 22, 24);
    WANT(one, 6);
    WANT(back, 1, 1, 3, 3);
}

static void test_reduce(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    int rows = out(g_reduce(g, x, 1, false, F32)), columns = out(g_reduce(g, x, 2, true, F32)), all = out(g_reduce(g, x, 3, true, F32));
    int y = IN(F32, SHAPE(2, 1), 1, 2);
    union attr a = {.move = {.shape = SHAPE(2, 3), .axes = 2, .factor = 10}};
    int spread = out(node(OP_BROADCAST, &y, 1, &a, NULL));
    run();
    WANT(rows, 5, 7, 9);
    WANT(columns, 2, 5);
    WANT(all, 3.5);
    WANT(spread, 10, 10, 10, 20, 20, 20);
}

// ---- losses

static void test_softmax_and_xent(void **state)
{
    (void)state;
    const double l3 = log(3.0), l4 = log(4.0);  // e^0 : e^log 3 = 1 : 3
    int x = IN(F32, SHAPE(2, 2), 0, l3, 1000, 1000), labels = IN(U8, SHAPE(2), 0, 1), o[2], p[2];
    int soft = out(g_softmax(g, x));
    node(OP_XENT, (int[]){x, labels}, 2, &(union attr){.loss = {.smoothing = 0, .mean = false}}, o);
    int loss = out(o[0]), shares = out(o[1]);
    node(OP_XENT, (int[]){x, labels}, 2, &(union attr){.loss = {.smoothing = 0.5f, .mean = true}}, p);
    int smooth = out(p[0]);
    int dloss = IN(F32, SHAPE(1), 2);
    union attr a = {.loss = {.smoothing = 0.5f, .mean = true, .to = F32}};
    int grad = out(node(OP_XENT_GRAD, (int[]){o[1], labels, dloss}, 3, &a, NULL));
    int dy = IN(F32, SHAPE(1, 2), 1, 0), y = IN(F32, SHAPE(1, 2), 0.25, 0.75);
    int back = out(node(OP_SOFTMAX_GRAD, (int[]){y, dy}, 2, NULL, NULL));
    run();
    WANT(soft, 0.25, 0.75, 0.5, 0.5);
    WANT(shares, 0.25, 0.75, 0.5, 0.5);
    WANT(loss, l4 + log(2.0));
    // Targets .75 and .25: .75 log 4 + .25 (log 4 - log 3), and log 2; the mean of both.
    WANT(smooth, (0.75 * l4 + 0.25 * (l4 - l3) + log(2.0)) / 2.0);
    WANT(grad, -0.5, 0.5, 0.25, -0.25);  // (p - target) * 2 / 2
    WANT(back, 0.1875, -0.1875);
}

static void test_counters(void **state)
{
    (void)state;
    int x = IN(F32, SHAPE(4, 3), 1, 2, 3, /**/ 5, 5, 0, /**/ 0, 5, 5, /**/ 1, 2, 3);
    int labels = IN(I32, SHAPE(4), 2, 0, 2, 0), counter = IN(I32, SHAPE(1), 100), second = IN(I32, SHAPE(1), 0);
    g_correct(g, x, labels, counter, 1);  // of equal logits the lower class counts as above
    g_correct(g, x, labels, second, 2);
    int total = IN(F32, SHAPE(1), 1.5), more = IN(F32, SHAPE(1), 2);
    g_accumulate(g, total, more);
    int clock = IN(I32, SHAPE(1), 2147483647);
    g_tick(g, clock, 1);
    run();
    WANT_IN(2, 102);
    WANT_IN(3, 3);
    WANT_IN(4, 3.5);
    WANT_IN(6, -2147483648.0);  // wraps
}

// ---- data

static void test_window_and_pick(void **state)
{
    (void)state;
    int order = IN(I32, SHAPE(5), 10, 11, 12, 13, 14), cursor = IN(I32, SHAPE(1), 8);
    int w = out(g_window(g, order, cursor, 4));
    int table = IN(F32, SHAPE(3), 0.5, 0.25, 0.125);
    int first = out(g_pick(g, table, IN(I32, SHAPE(1), 0))), last = out(g_pick(g, table, IN(I32, SHAPE(1), 77)));
    run();
    WANT(w, 13, 14, 10, 11);
    WANT(first, 0.5);
    WANT(last, 0.125);
}

static void test_augment_views(void **state)
{
    (void)state;
    // Image 1 is 0 51 102 / 153 204 255: fifths of 255. mean .2, std .2: value = fifth - 1.
    int images = IN(U8, SHAPE(2, 2, 3, 1), 9, 9, 9, 9, 9, 9, 0, 51, 102, 153, 204, 255), index = IN(I32, SHAPE(1), 1);
    struct augment_attr a = {.mean = {0.2f}, .std = {0.2f}, .to = F32};
    int plain = out(g_augment(g, images, index, NONE, &a));
    a.view_flip = true;
    int mirrored = out(g_augment(g, images, index, NONE, &a));
    a.view_dx = 1, a.view_dy = -1;
    int both = out(g_augment(g, images, index, NONE, &a));
    run();
    WANT(plain, -1, 0, 1, 2, 3, 4);
    WANT(mirrored, 1, 0, -1, 4, 3, 2);
    // Read at (y - 1, x + 1) of the mirrored image, reflected: rows 1, 0; columns 1, 2, 1.
    WANT(both, 3, 2, 3, 0, -1, 0);
}

static void test_augment_draws(void **state)
{
    (void)state;
    enum { SIDE = 4 };
    double pixels[2 * SIDE * SIDE];
    for (int i = 0; i < 2 * SIDE * SIDE; i++) pixels[i] = i * 5;
    int images = in_typed(SHAPE(2, SIDE, SIDE, 1), U8, pixels), index = IN(I32, SHAPE(1), 1), key = IN(I32, SHAPE(4), 3, 4, 5, 0);
    struct augment_attr a = {.flip = FLIP_ALTERNATE, .pad = 1, .brightness = 0.2f, .contrast = 0.1f, .mean = {0}, .std = {1}, .to = F32};
    int y = out(g_augment(g, images, index, key, &a));
    run();
    struct augment_draw d = element_augment((const int32_t[]){3, 4, 5, 0}, 1, 2, 1, 0.2f, 0.1f);  // image 1, not row 0
    double want[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        int row = element_reflect(i / SIDE + d.dy, SIDE), column = element_reflect(i % SIDE + d.dx, SIDE);
        double pixel = pixels[SIDE * SIDE + row * SIDE + (d.flip ? SIDE - 1 - column : column)] / 255.0;
        want[i] = (pixel + (double)d.shift) * (double)d.gain;
    }
    want_many(y, SIDE * SIDE, want);
}

// ---- optimisers

static void test_momentum_and_descend(void **state)
{
    (void)state;
    int grad = IN(F32, SHAPE(2), 1, 2), m = IN(F32, SHAPE(2), 4, 8), p = IN(F32, SHAPE(2), 10, 20), o[2];
    union attr a = {.optim = {.mu = 0.5f, .decay = 0.5f, .nesterov = true}};
    graph_node_over(g, OP_MOMENTUM, (int[]){grad, m, p}, 3, &a, (int[]){NONE, m}, o);
    int u = out(o[0]);
    int m2 = IN(F32, SHAPE(2), 4, 8);
    a.optim.nesterov = false;
    graph_node_over(g, OP_MOMENTUM, (int[]){grad, m2}, 2, &a, (int[]){NONE, m2}, o);
    int plain = out(o[0]);
    int w = IN(F32, SHAPE(2), 10, 20), step = IN(F32, SHAPE(2), 1, 2), lr = IN(F32, SHAPE(1), 0.5);
    union attr d = {.optim = {.decay = 0.25f, .factor = 2}};
    graph_node_over(g, OP_DESCEND, (int[]){w, step, lr}, 3, &d, &w, NULL);
    run();
    WANT_IN(1, 8, 16);   // g + .5 p = 6, 12; .5 * 4 + 6, .5 * 8 + 12
    WANT(u, 10, 20);     // 6 + .5 * 8, 12 + .5 * 16
    WANT(plain, 3, 6);   // without p nothing decays
    WANT_IN(3, 3, 6);
    WANT_IN(4, 6.5, 13); // 10 - .5 * 2 * (1 + .25 * 10)
}

static void test_adam_and_the_rest(void **state)
{
    (void)state;
    // The first step of Adam is the sign of the gradient, whatever its size.
    int grad = IN(F32, SHAPE(2), 3, -0.5), m = IN(F32, SHAPE(2), 0, 0), v = IN(F32, SHAPE(2), 0, 0), step = IN(I32, SHAPE(1), 0), o[3];
    union attr a = {.optim = {.beta1 = 0.5f, .beta2 = 0.75f, .eps = 0}};
    graph_node_over(g, OP_ADAM, (int[]){grad, m, v, step}, 4, &a, (int[]){NONE, m, v}, o);
    int u = out(o[0]);
    int x = IN(F32, SHAPE(2, 1), 3, 4);
    union attr n = {.optim = {.target = 10}};
    int unit = out(node(OP_UNIT_NORM, &x, 1, &n, NULL));
    int e = IN(F32, SHAPE(2), 0, 10), t = IN(F32, SHAPE(1), 0.25), target = IN(F32, SHAPE(2), 4, 2);
    graph_node_over(g, OP_LERP, (int[]){e, target, t}, 3, NULL, &e, NULL);
    run();
    WANT(u, 1, -1);
    WANT_IN(1, 1.5, -0.25);
    WANT_IN(2, 2.25, 0.0625);
    WANT(unit, 6, 8);
    WANT_IN(5, 1, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_conv), TEST(test_conv_channels_and_groups), TEST(test_conv_back), TEST(test_conv_rounds_filters),
        TEST(test_matmul), TEST(test_pools), TEST(test_pools_back), TEST(test_norm), TEST(test_norm_back),
        TEST(test_pool_norm), TEST(test_norm_fold), TEST(test_activations), TEST(test_simple_elements),
        TEST(test_dropout), TEST(test_moves), TEST(test_gather), TEST(test_resize), TEST(test_reduce),
        TEST(test_softmax_and_xent), TEST(test_counters), TEST(test_window_and_pick), TEST(test_augment_views),
        TEST(test_augment_draws), TEST(test_momentum_and_descend), TEST(test_adam_and_the_rest),
    };
    return cmocka_run_group_tests_name("ref", tests, NULL, NULL);
}
