// SPDX-License-Identifier: Apache-2.0
// The CPU device's convolutions: DAWN's kernels against ref at shapes that select each of them, workspace of exactly the
// requested size, the same bytes in every run, and results that do not depend on the batch.
#define TEST_HAS_MAIN
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#include "runtime/common/base/isa.h"
#include "runtime/cpu/conv/winograd4.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/tiles/tiles.h"
#include "runtime/fuse.h"

struct conv_case {
    int n, h, w, c, k, r, s, stride, before, after, groups;
    enum act act;
    bool bias;
    enum winograd winograd;  // computed in bf16, with the error of its own test
};

// Batches of 12 and more with 8 channels and more go to direct.c, 64 filters and 16 channels to wgrad.c, up to 4
// channels to stem.c; the others to oneDNN. In bf16, a processor with tiles computes most of the former by tiles*.c.
static const struct conv_case conv_cases[] = {
    {14, 7, 7, 24, 64, 3, 3, 1, 1, 0, 1, ACT_NONE, false, WINOGRAD_NONE},    // airbench's way to pool without waste
    {13, 7, 6, 64, 128, 3, 3, 1, 1, 1, 1, ACT_NONE, false, WINOGRAD_NONE},   // two blocks of k, an odd batch
    {12, 3, 3, 32, 64, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_NONE},
    {25, 5, 5, 20, 24, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_NONE},     // 24 k: one and a half vectors
    {17, 5, 4, 12, 48, 3, 2, 1, 0, 1, 1, ACT_RELU, true, WINOGRAD_NONE},
    {31, 4, 4, 8, 80, 3, 3, 1, 1, 1, 1, ACT_NONE, true, WINOGRAD_NONE},      // a block of 64 and one of 16
    {13, 9, 8, 16, 64, 3, 3, 2, 1, 1, 1, ACT_NONE, false, WINOGRAD_NONE},    // stride 2: dgrad is oneDNN's
    {12, 6, 6, 28, 64, 1, 1, 1, 0, 0, 1, ACT_NONE, false, WINOGRAD_NONE},
    {12, 6, 6, 16, 64, 5, 5, 1, 2, 2, 1, ACT_NONE, false, WINOGRAD_NONE},
    {3, 6, 5, 16, 64, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_NONE},      // too few images for direct.c
    {5, 8, 8, 3, 24, 2, 2, 1, 0, 0, 1, ACT_SILU, true, WINOGRAD_NONE},       // the stem
    {2, 9, 11, 3, 64, 3, 3, 2, 1, 1, 1, ACT_GELU, false, WINOGRAD_NONE},
    {2, 5, 5, 1, 7, 3, 3, 1, 1, 1, 1, ACT_RELU, true, WINOGRAD_NONE},
    {2, 3, 300, 4, 32, 3, 3, 1, 1, 1, 1, ACT_NONE, true, WINOGRAD_NONE},     // rows longer than the stem makes at once
    {4, 6, 6, 16, 32, 3, 3, 1, 1, 1, 4, ACT_NONE, true, WINOGRAD_NONE},
    {1, 3, 3, 256, 128, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_NONE},    // few pixels, in bf16 by a kernel of their own
    {9, 4, 3, 22, 192, 3, 2, 2, 1, 0, 1, ACT_NONE, false, WINOGRAD_NONE},
    {11, 1, 1, 64, 64, 1, 1, 1, 0, 0, 1, ACT_RELU, true, WINOGRAD_NONE},
    {14, 7, 7, 24, 64, 3, 3, 1, 1, 0, 1, ACT_NONE, false, WINOGRAD_ALL},
    {13, 7, 6, 64, 128, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_ALL},  // odd sides, an odd batch, two blocks of k
    {12, 9, 8, 128, 64, 3, 3, 1, 0, 0, 1, ACT_NONE, false, WINOGRAD_ALL},  // dgrad has two rows of zeros on each side
    {2, 9, 7, 64, 128, 3, 3, 1, 1, 1, 1, ACT_RELU, true, WINOGRAD_ALL},   // few images: threads take blocks of k
    {35, 5, 8, 32, 40, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_NONE},  // groups of 16 or 32 images and 3 more, 40 k
    {16, 33, 40, 64, 128, 3, 3, 2, 1, 1, 1, ACT_NONE, true, WINOGRAD_NONE},  // several bands of rows, stride 2
    {33, 9, 9, 32, 32, 5, 7, 1, 3, 3, 1, ACT_NONE, false, WINOGRAD_NONE},  // more than three taps in a row
    {12, 6, 6, 72, 64, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_DATA},  // two blocks of 32 channels and one of 8
};
enum { CONV_CASES = sizeof conv_cases / sizeof *conv_cases };

static union attr attr_of(const struct conv_case *c)
{
    struct conv_attr conv = {.groups = c->groups, .winograd = c->winograd, .x_h = c->h, .x_w = c->w, .r = c->r, .s = c->s};
    for (int i = 0; i < 2; i++) conv.stride[i] = c->stride, conv.before[i] = c->before, conv.after[i] = c->after;
    return (union attr){.conv = conv};
}

static int side(const struct conv_case *c, int size, int filter)
{
    return (size + c->before + c->after - filter) / c->stride + 1;
}

// y, dx and dw of one convolution, kept as f32 in slots of those names.
static struct graph *conv_graph(struct slot_store *store, const struct conv_case *c, enum dtype type, int n)
{
    struct graph *g = graph_new(store, "convolutions");
    int x = input(g, "x", SHAPE(n, c->h, c->w, c->c)), w = weight(g, "w", SHAPE(c->k, c->r, c->s, c->c / c->groups));
    int dy = input(g, "dy", SHAPE(n, side(c, c->h, c->r), side(c, c->w, c->s), c->k));
    int bias = c->bias ? weight(g, "bias", SHAPE(c->k)) : NONE;
    if (type != F32) x = g_cast(g, x, type), dy = g_cast(g, dy, type);
    union attr attr = attr_of(c);
    int dx = graph_node(g, OP_CONV_DGRAD, (int[]){w, dy}, 2, &attr, NULL);
    int dw = graph_node(g, OP_CONV_WGRAD, (int[]){x, dy}, 2, &attr, NULL);
    attr.conv.act = c->act;
    int y = graph_node(g, OP_CONV, (int[]){x, w, bias}, 3, &attr, NULL);
    keep(g, "y", type == F32 ? y : g_cast(g, y, F32));
    keep(g, "dx", type == F32 ? dx : g_cast(g, dx, F32));
    keep(g, "dw", dw);
    return g;
}

static struct session *run_conv(const char *device, int threads, const struct conv_case *c, enum dtype type)
{
    struct device *d;
    struct session *s;
    OK(device_open(device, threads, &d));
    OK(session_new(d, &s));
    OK(session_add(s, conv_graph(s->store, c, type, c->n)));
    start(s);
    OK(session_run(s, 0));
    return s;
}

// The largest difference, relative to the largest value.
static double difference(struct session *a, struct session *b, const char *slot)
{
    float *x = read_slot(a, slot), *y = read_slot(b, slot);
    int64_t n = shape_count(&slot_find(a->store, slot)->shape);
    double worst = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)x[i] - y[i]);
        if (!(d <= worst)) worst = d;  // a NaN sticks
        if (fabs((double)y[i]) > size) size = fabs((double)y[i]);
    }
    free(x);
    free(y);
    return worst / size;
}

static const char *const results[] = {"y", "dx", "dw"};

// The root mean square of the difference, relative to b's.
static double mean_difference(struct session *a, struct session *b, const char *slot)
{
    float *x = read_slot(a, slot), *y = read_slot(b, slot);
    double sum = 0, size = 0;
    for (int64_t i = 0, n = shape_count(&slot_find(a->store, slot)->shape); i < n; i++)
        sum += ((double)x[i] - y[i]) * ((double)x[i] - y[i]), size += (double)y[i] * y[i];
    free(x);
    free(y);
    return sqrt(sum / size);
}

TEST(test_convolutions_against_ref)
{
    for (int t = 0; t < (runs_bf16() ? 2 : 1); t++) {
        enum dtype type = t ? BF16 : F32;
        for (int i = 0; i < CONV_CASES; i++) {
            if (conv_cases[i].winograd) continue;
            struct session *ref = run_conv("ref", 1, &conv_cases[i], type);
            for (int threads = 1; threads <= 3; threads += 2) {
                struct session *s = run_conv("cpu", threads, &conv_cases[i], type);
                for (int r = 0; r < 3; r++) {
                    // One rounding of y and dx to bf16 is up to 1/256; dw is f32 in both types.
                    double limit = type == BF16 && r < 2 ? 1.0 / 200 : 2e-5, d = difference(s, ref, results[r]);
                    if (!(d < limit))
                        fail_msg("case %d, %s, %d threads: %s is off by %g of its largest", i, dtype_name(type),
                                 threads, results[r], d);
                }
                session_done(s);
            }
            session_done(ref);
        }
    }
}

static bool same_slot(struct session *a, struct session *b, const char *slot)
{
    float *x = read_slot(a, slot), *y = read_slot(b, slot);
    bool same = memcmp(x, y, slot_bytes(slot_find(a->store, slot))) == 0;
    free(x);
    free(y);
    return same;
}

// Both factors of a product are rounded to bf16 after their transforms: the error is larger than the direct kernels', but
// not by an order. Results do not depend on the number of threads; filter gradients are sums of the threads'.
TEST(test_winograd)
{
    if (!runs_bf16()) skip();
    setenv("DAWN_ISA", "avx512", 1);  // tiles would be chosen before
    for (int i = 0; i < CONV_CASES; i++) {
        struct conv_case c = conv_cases[i], direct = c;
        if (!c.winograd) continue;
        direct.winograd = WINOGRAD_NONE;
        struct session *ref = run_conv("ref", 1, &c, BF16), *plain = run_conv("cpu", 1, &direct, BF16);
        struct session *one = run_conv("cpu", 1, &c, BF16), *three = run_conv("cpu", 3, &c, BF16);
        for (int r = 0; r < 3; r++) {
            bool used = c.winograd == WINOGRAD_ALL || r < 2;
            if (r == 1 && c.c % 64) used = false;  // the kernel computes blocks of 64
            if (r > 0 && c.n < 12) used = false;
            double d = mean_difference(one, ref, results[r]), largest = difference(one, ref, results[r]);
            if (!(d < 0.006 && largest < 0.012)) fail_msg("case %d: %s is off by %g, at most by %g", i, results[r], d, largest);
            if (same_slot(one, plain, results[r]) == used) fail_msg("case %d: the wrong kernel computed %s", i, results[r]);
            if (r < 2 && !same_slot(one, three, results[r])) fail_msg("case %d: %s depends on the threads", i, results[r]);
            assert_true(mean_difference(three, one, results[r]) < 1e-6);
        }
        session_done(three);
        session_done(one);
        session_done(plain);
        session_done(ref);
    }
    unsetenv("DAWN_ISA");
}

// On every instruction set, with the error of a direct convolution. No result depends on the number of threads. kept: the kernel
// of kept filters, which computes y alone.
static void check_winograd4(const struct conv_case *cases, size_t count, bool kept)
{
    static const char *const isa[] = {"base", "avx2", "avx512"};
    char *before = getenv("DAWN_ISA") ? strdup(getenv("DAWN_ISA")) : NULL;
    for (int level = 0; level <= (int)isa_most(); level++)
        for (size_t i = 0; i < count; i++) {
            const struct conv_case *c = &cases[i];
            setenv("DAWN_ISA", isa[level], 1);
            struct dnnl_conv shape = {.pass = DNNL_FORWARD, .dtype = F32, .n = c->n, .h = c->h, .w = c->w, .c = c->c, .k = c->k,
                                      .r = 3, .s = 3, .groups = 1, .stride = {1, 1}};
            shape.p = side(c, c->h, 3), shape.q = side(c, c->w, 3);
            assert_true(winograd4_fits(loops_choose(), &shape, false) != kept && winograd4_fits(loops_choose(), &shape, true));
            assert_true(kept || winograd4_wgrad_fits(loops_choose(), &shape));
            struct session *ref = run_conv("ref", 1, c, F32);
            struct session *one = run_conv("cpu", 1, c, F32), *three = run_conv("cpu", 3, c, F32);
            for (int r = 0; r < (kept ? 1 : 3); r++) {
                double d = fmax(difference(one, ref, results[r]), difference(three, ref, results[r]));
                if (!(d < 2e-5)) fail_msg("case %zu, %s: %s is off by %g of its largest", i, isa[level], results[r], d);
                if (!same_slot(one, three, results[r])) fail_msg("case %zu: %s depends on the threads", i, results[r]);
            }
            session_done(three);
            session_done(one);
            session_done(ref);
        }
    if (before) setenv("DAWN_ISA", before, 1);
    else unsetenv("DAWN_ISA");
    free(before);
}

TEST(test_winograd4)
{
    static const struct conv_case cases[] = {
        {17, 7, 7, 24, 64, 3, 3, 1, 1, 0, 1, ACT_NONE, false, WINOGRAD_NONE},   // half a panel of channels
        {17, 7, 6, 64, 128, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_NONE},   // odd sides, two blocks of k
        {17, 10, 8, 128, 64, 3, 3, 1, 0, 0, 1, ACT_NONE, true, WINOGRAD_NONE},  // no padding; pitches are skewed
        {5, 17, 16, 48, 80, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_NONE},   // a block of 64 k and one of 16
        {65, 3, 4, 32, 32, 3, 3, 1, 1, 1, 1, ACT_RELU, false, WINOGRAD_NONE},   // one tile per image, an odd number
        {100, 7, 7, 64, 64, 3, 3, 1, 1, 1, 1, ACT_NONE, false, WINOGRAD_NONE},  // several bands
    };
    check_winograd4(cases, sizeof cases / sizeof *cases, false);
}

// Kept filters serve fewer tiles. Threads take blocks of filters where there are enough, which changes no byte.
TEST(test_winograd4_of_one_image)
{
    static const struct conv_case cases[] = {
        {1, 7, 7, 64, 256, 3, 3, 1, 1, 1, 1, ACT_SILU, true, WINOGRAD_NONE},   // four tiles, four blocks
        {1, 6, 7, 128, 208, 3, 3, 1, 1, 1, 1, ACT_NONE, true, WINOGRAD_NONE},  // the last block is short
        {1, 15, 15, 64, 64, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_NONE},  // one block: bands for three threads
        {5, 7, 6, 32, 192, 3, 3, 1, 1, 1, 1, ACT_NONE, false, WINOGRAD_NONE},
    };
    check_winograd4(cases, sizeof cases / sizeof *cases, true);
}

// Tiles multiply the same numbers as the vector kernels and add them up in another order. y and dx do not depend on the threads.
TEST(test_tiles)
{
    static const struct conv_case cases[] = {
        {35, 7, 6, 64, 128, 3, 3, 1, 1, 1, 1, ACT_GELU, true, WINOGRAD_ALL},
        {48, 8, 5, 24, 64, 3, 3, 1, 1, 0, 1, ACT_NONE, false, WINOGRAD_NONE},
        {40, 9, 9, 32, 96, 5, 5, 1, 2, 2, 1, ACT_NONE, true, WINOGRAD_NONE},
        {16, 1, 20, 128, 112, 3, 3, 1, 1, 1, 1, ACT_NONE, true, WINOGRAD_NONE},  // fewer bands than threads
    };
    if (!tiles_exist()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session *one = run_conv("cpu", 1, &cases[i], BF16), *three = run_conv("cpu", 3, &cases[i], BF16);
        setenv("DAWN_ISA", "avx512", 1);
        struct conv_case plain = cases[i];
        plain.winograd = WINOGRAD_NONE;
        struct session *vectors = run_conv("cpu", 1, &plain, BF16);
        unsetenv("DAWN_ISA");
        for (int r = 0; r < 3; r++) {
            double d = mean_difference(one, vectors, results[r]);
            if (!(d < (r < 2 ? 1e-4 : 1e-6))) fail_msg("case %d: %s is off by %g", (int)i, results[r], d);
            if (same_slot(one, vectors, results[r])) fail_msg("case %d: %s was not computed by tiles", (int)i, results[r]);
            if (r < 2 && !same_slot(one, three, results[r])) fail_msg("case %d: %s depends on the threads", (int)i, results[r]);
            assert_true(mean_difference(three, one, results[r]) < 1e-6);
        }
        session_done(vectors);
        session_done(three);
        session_done(one);
    }
}

// y and positions of a convolution and its 2x2 max pool, dx and dw, in one node each or with the pool as a node of its own.
static struct graph *pool_graph(struct slot_store *store, const struct conv_case *c, bool fused)
{
    struct graph *g = graph_new(store, "pool");
    int64_t p = side(c, c->h, c->r), q = side(c, c->w, c->s);
    struct shape half = SHAPE(c->n, p / 2, q / 2, c->k);
    int x = g_cast(g, input(g, "x", SHAPE(c->n, c->h, c->w, c->c)), BF16), w = weight(g, "w", SHAPE(c->k, c->r, c->s, c->c));
    int bias = c->bias ? weight(g, "bias", SHAPE(c->k)) : NONE, dy = g_cast(g, input(g, "dy", half), BF16);
    int over[2] = {NONE, graph_state(g, "at", half, U8, MEMORY_STATE, (struct init){INIT_ZERO, 0})}, out[2];
    union attr conv = attr_of(c), pool = {.pool = {.k = {2, 2}, .stride = {2, 2}, .x_h = p, .x_w = q}};
    conv.conv.pool = fused;
    if (fused) {
        graph_node_over(g, OP_CONV, (int[]){x, w, bias}, 3, &conv, over, out);
    } else {
        int y = graph_node(g, OP_CONV, (int[]){x, w, bias}, 3, &conv, NULL);
        graph_node_over(g, OP_MAXPOOL, &y, 1, &pool, over, out);
        dy = graph_node(g, OP_MAXPOOL_GRAD, (int[]){out[1], dy}, 2, &pool, NULL);
    }
    int at = fused ? out[1] : NONE;
    keep(g, "y", g_cast(g, out[0], F32));
    if (c->c % 64 == 0) keep(g, "dx", g_cast(g, graph_node(g, OP_CONV_DGRAD, (int[]){w, dy, at}, 3, &conv, NULL), F32));
    keep(g, "dw", graph_node(g, OP_CONV_WGRAD, (int[]){x, dy, at}, 3, &conv, NULL));
    return g;
}

static struct session *run_pool(int threads, const struct conv_case *c, bool fused)
{
    struct device *d;
    struct session *s;
    OK(device_open("cpu", threads, &d));
    OK(session_new(d, &s));
    OK(session_add(s, pool_graph(s->store, c, fused)));
    start(s);
    OK(session_run(s, 0));
    return s;
}

// A pool inside the convolution changes no byte: results are rounded before they are compared, the first of equal ones wins, and
// backward multiplies the same numbers.
TEST(test_pooled_convolutions)
{
    static const struct conv_case cases[] = {
        {14, 7, 7, 24, 64, 3, 3, 1, 1, 0, 1, ACT_NONE, false, WINOGRAD_ALL},
        {13, 7, 5, 64, 128, 3, 3, 1, 1, 0, 1, ACT_NONE, true, WINOGRAD_ALL},  // an odd batch, two blocks of k
        {17, 10, 8, 128, 64, 3, 3, 1, 0, 0, 1, ACT_NONE, false, WINOGRAD_ALL},  // tiles of dx begin at windows of dy
        {12, 6, 6, 64, 64, 3, 3, 1, 1, 1, 1, ACT_NONE, false, WINOGRAD_ALL},
        {32, 20, 20, 64, 64, 3, 3, 1, 1, 1, 1, ACT_NONE, false, WINOGRAD_ALL},  // bands of rows, by tiles
    };
    if (!runs_bf16()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            struct session *plain = run_pool(threads, &cases[i], false), *fused = run_pool(threads, &cases[i], true);
            static const char *const slots[] = {"y", "at", "dx", "dw"};
            for (int r = 0; r < 4; r++) {
                if (r == 2 && cases[i].c % 64) continue;
                if (!same_slot(plain, fused, slots[r])) fail_msg("case %d, %d threads: another %s", (int)i, threads, slots[r]);
            }
            session_done(plain);
            session_done(fused);
        }
}

// Activations of the pooled results of one image.
static float *infer_pooled(int threads, int side, bool fused)
{
    struct device *d;
    struct session *s;
    OK(device_open("cpu", threads, &d));
    OK(session_new(d, &s));
    struct graph *g = graph_new(s->store, "infer");
    int x = g_cast(g, input(g, "x", SHAPE(1, side, side, 64)), BF16), w = input(g, "w", SHAPE(128, 3, 3, 64));
    int bias = input(g, "bias", SHAPE(128));
    struct conv_attr a = {.stride = {1, 1}, .before = {1, 1}, .after = {1, 1}, .groups = 1, .winograd = WINOGRAD_DATA};
    keep(g, "y", g_cast(g, g_act(g, g_maxpool(g, g_conv_full(g, x, w, bias, &a), 2, 2), ACT_SILU), F32));
    OK(fuse_graph(g, FUSE_CROP));
    OK(fuse_device(g, fused ? FUSE_ALL : FUSE_ALL & ~FUSE_CONV_POOL, s->device));
    assert_int_equal(count_op(g, OP_MAXPOOL), !fused);
    assert_int_equal(count_acts(g), !fused);
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    float *y = read_slot(s, "y");
    session_done(s);
    return y;
}

// Few images, whose filters are kept; positions are not wanted. All threads transform the inputs of the small one.
TEST(test_pooled_inference)
{
    if (!runs_bf16()) skip();
    static const struct {
        int threads, side;
    } cases[] = {{1, 13}, {3, 13}, {1, 7}, {3, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *plain = infer_pooled(cases[i].threads, cases[i].side, false);
        float *fused = infer_pooled(cases[i].threads, cases[i].side, true);
        size_t side = (size_t)cases[i].side / 2;
        assert_memory_equal(plain, fused, side * side * 128 * sizeof(float));
        free(plain);
        free(fused);
    }
}

// A bias that trains needs dy of every result, summed in one order: its convolution keeps the pool behind it.
TEST(test_pool_behind_a_bias)
{
    if (!runs_bf16()) skip();
    for (int trains = 0; trains < 2; trains++) {
        struct session *s = session_on("cpu");
        struct graph *g = graph_new(s->store, "bias");
        int x = g_cast(g, input(g, "x", SHAPE(12, 6, 6, 64)), BF16), w = weight(g, "w", SHAPE(64, 3, 3, 64));
        int bias = trains ? weight(g, "bias", SHAPE(64)) : input(g, "bias", SHAPE(64));
        struct conv_attr a = {.stride = {1, 1}, .before = {1, 1}, .after = {1, 1}, .groups = 1, .winograd = WINOGRAD_ALL};
        keep(g, "y", g_cast(g, g_maxpool(g, g_conv_full(g, x, w, bias, &a), 2, 2), F32));
        OK(fuse_device(g, FUSE_ALL, s->device));
        assert_int_equal(count_op(g, OP_MAXPOOL), trains);
        graph_free(g);
        session_done(s);
    }
}

TEST(test_same_bytes)
{
    for (int i = 0; i < CONV_CASES; i++) {
        enum dtype type = conv_cases[i].winograd && runs_bf16() ? BF16 : F32;
        struct session *a = run_conv("cpu", 2, &conv_cases[i], type), *b = run_conv("cpu", 2, &conv_cases[i], type);
        memset(b->slab, 0x5a, b->slab_bytes);  // nothing may depend on what lay in the slab
        OK(session_run(b, 0));
        for (int r = 0; r < 3; r++) {
            float *x = read_slot(a, results[r]), *y = read_slot(b, results[r]);
            assert_memory_equal(x, y, slot_bytes(slot_find(a->store, results[r])));
            free(x);
            free(y);
        }
        session_done(a);
        session_done(b);
    }
}

// oneDNN computes 4 images, DAWN's kernel 28: the results of the first images agree.
TEST(test_batches_cut_otherwise)
{
    struct conv_case many = {28, 6, 6, 24, 64, 3, 3, 1, 1, 0, 1, ACT_GELU, true, WINOGRAD_NONE}, few = many;
    few.n = 4;
    struct session *a = run_conv("cpu", 2, &many, F32), *b = run_conv("cpu", 2, &few, F32);
    for (int r = 0; r < 2; r++) {
        float *x = read_slot(a, results[r]), *y = read_slot(b, results[r]);
        int64_t n = shape_count(&slot_find(b->store, results[r])->shape);
        for (int64_t i = 0; i < n; i++)
            if (!(fabsf(x[i] - y[i]) < 1e-3f))
                fail_msg("%s[%lld]: %g in a batch of 28, %g in one of 4", results[r], (long long)i, x[i], y[i]);
        free(x);
        free(y);
    }
    session_done(a);
    session_done(b);
}

// ---- scratch

static const struct cpu_op *entry_of(enum op op)
{
    switch (op) {
    case OP_CONV: return &cpu_conv;
    case OP_CONV_DGRAD: return &cpu_conv_dgrad;
    case OP_CONV_WGRAD: return &cpu_conv_wgrad;
    default: return &cpu_matmul;
    }
}

// Runs one node between guard bytes: those after its workspace and after its result must not change.
static void run_guarded(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    enum { GUARD = 256 };
    const struct cpu_op *op = entry_of(n->op);
    struct cpu_step step = {.cpu = cpu, .graph = g, .node = n};
    OK(op->supports(cpu, g, n));
    step.work_bytes = op->workspace(cpu, g, n);
    assert_int_equal(step.work_bytes, op->workspace(cpu, g, n));
    size_t capacity = (step.work_bytes + 63) / 64 * 64 + GUARD, out = value_bytes(node_out(g, n, 0));
    unsigned char *work = aligned_alloc(64, capacity), *y = aligned_alloc(64, (out + 63) / 64 * 64 + GUARD);
    assert_true(work && y);
    memset(work, 0xa5, capacity);
    memset(y, 0xa5, (out + 63) / 64 * 64 + GUARD);
    size_t kept = op->kept ? op->kept(cpu, g, n) : 0;
    unsigned char *keeps = aligned_alloc(64, (kept + 63) / 64 * 64 + GUARD);
    assert_non_null(keeps);
    memset(keeps, 0xa5, (kept + 63) / 64 * 64 + GUARD);
    step.work = work, step.out[0] = y, step.kept = keeps;
    for (int i = 0; i < 3; i++) {
        if (n->in[i] == NONE) continue;
        size_t bytes = (value_bytes(&g->value[n->in[i]]) + 63) / 64 * 64;
        step.in[i] = aligned_alloc(64, bytes);
        assert_non_null(step.in[i]);
        memset(step.in[i], 0x3c, bytes);  // a small number in every type
    }
    OK(op->prepare(&step));
    for (int again = 0; again < 2; again++) OK(step.run(&step));
    for (int i = 0; i < GUARD; i++) {
        assert_int_equal(work[step.work_bytes + (size_t)i], 0xa5);
        assert_int_equal(y[out + (size_t)i], 0xa5);
        assert_int_equal(keeps[kept + (size_t)i], 0xa5);
    }
    free(keeps);
    if (step.release) step.release(&step);
    for (int i = 0; i < 3; i++) free(step.in[i]);
    free(work);
    free(y);
}

TEST(test_workspace_is_what_is_used)
{
    struct device *d;
    OK(device_open("cpu", 2, &d));
    for (int i = 0; i < CONV_CASES; i++) {
        struct slot_store *store = slot_store_new();
        enum dtype type = runs_bf16() && (i % 2 || conv_cases[i].winograd) ? BF16 : F32;
        struct graph *g = conv_graph(store, &conv_cases[i], type, conv_cases[i].n);
        OK(graph_check(g));
        for (int n = 0; n < g->nodes; n++)
            if (g->node[n].op <= OP_CONV_WGRAD) run_guarded((struct cpu_device *)d, g, &g->node[n]);
        graph_free(g);
        slot_store_free(store);
    }
    device_close(d);
}

TEST(test_matmul_workspace)
{
    struct device *d;
    OK(device_open("cpu", 2, &d));
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "products");
    int a = input(g, "a", SHAPE(17, 33)), b = input(g, "b", SHAPE(33, 9)), c = input(g, "c", SHAPE(17, 9));
    g_matmul_full(g, a, b, c, &(struct matmul_attr){.alpha = 0.5f, .beta = 2, .out = F32});
    if (runs_bf16()) g_matmul(g, g_cast(g, b, BF16), true, a, true, F32);
    OK(graph_check(g));
    for (int n = 0; n < g->nodes; n++)
        if (g->node[n].op == OP_MATMUL) run_guarded((struct cpu_device *)d, g, &g->node[n]);
    graph_free(g);
    slot_store_free(store);
    device_close(d);
}

int main(void)
{
    // Those whose convolutions are chosen differently where there are no tiles.
    const struct CMUnitTest vectors[] = {
        cmocka_unit_test(test_convolutions_against_ref), cmocka_unit_test(test_pooled_convolutions),
        cmocka_unit_test(test_pooled_inference),         cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_workspace_is_what_is_used),
    };
    int failed = run_listed();
    if (!tiles_exist()) return failed;
    setenv("DAWN_ISA", "avx512", 1);
    return failed + cmocka_run_group_tests_name("convolutions without tiles", vectors, NULL, NULL);
}
