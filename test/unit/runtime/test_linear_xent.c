// SPDX-License-Identifier: Apache-2.0
// linear_xent against g_linear and g_xent_full on the CPU, in several pieces of rows of the usual size; what its plan holds; and
// what infer refuses.
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#include "runtime/grad.h"

// 3 pieces of logits in bf16, 6 in f32.
enum { ROWS = 2500, CHANNELS = 8, CLASSES = 24001 };

struct results {
    float loss, count;
    float *rows, *dx, *dw, *dbias;
    size_t slab_bytes;
};

static struct graph *build(struct slot_store *store, bool one, enum dtype type)
{
    struct graph *g = graph_new(store, "layer");
    g->trains = 1;
    struct init normal = {INIT_NORMAL, 0.5f};
    int in[3] = {graph_param(g, "x", SHAPE(ROWS, CHANNELS), normal, ROLE_MATRIX),
                 graph_param(g, "w", SHAPE(CLASSES, CHANNELS), normal, ROLE_MATRIX),
                 graph_param(g, "bias", SHAPE(CLASSES), normal, ROLE_BIAS)};
    int labels = graph_state(g, "labels", SHAPE(ROWS), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0}), grad[3], out[3], loss;
    int x = g_cast(g, in[0], type);
    if (one) {
        struct linear_xent l = {.x = x, .w = in[1], .bias = in[2], .labels = labels, .weights = NONE, .smoothing = 0.1f,
                                .mean = true};
        loss = g_linear_xent(g, &l, out);
    } else {
        loss = g_xent_full(g, (int[]){g_linear(g, x, in[1], in[2], type), labels, NONE}, 0.1f, true, out);
    }
    assert_int_equal(grad_of(g, loss, in, 3, grad), 0);
    keep(g, "loss", out[0]), keep(g, "rows", out[1]), keep(g, "count", out[2]);
    keep(g, "dx", grad[0]), keep(g, "dw", grad[1]), keep(g, "dbias", grad[2]);
    assert_int_equal(graph_check(g), 0);
    return g;
}

static float *read_floats(struct session *s, const char *name, int64_t n)
{
    float *into = zalloc((size_t)n * sizeof *into);
    assert_int_equal(session_get(s, name, into, (size_t)n * sizeof *into), 0);
    return into;
}

static struct results run(struct device *device, bool one, enum dtype type)
{
    struct session *s;
    struct results r;
    int32_t labels[ROWS];
    assert_int_equal(session_new(device, &s), 0);
    assert_int_equal(session_add(s, build(s->store, one, type)), 0);
    assert_int_equal(session_ready(s), 0);
    assert_int_equal(session_reset(s, 1), 0);
    for (int i = 0; i < ROWS; i++) labels[i] = i % 9 == 4 ? -1 : (int32_t)((int64_t)i * 7919 % CLASSES);
    assert_int_equal(session_put(s, "labels", labels, 0, sizeof labels), 0);
    assert_int_equal(session_run(s, 0), 0);
    assert_int_equal(session_sync(s), 0);
    assert_int_equal(session_get(s, "loss", &r.loss, sizeof r.loss), 0);
    assert_int_equal(session_get(s, "count", &r.count, sizeof r.count), 0);
    r.rows = read_floats(s, "rows", ROWS), r.dx = read_floats(s, "dx", ROWS * CHANNELS);
    r.dw = read_floats(s, "dw", CLASSES * CHANNELS), r.dbias = read_floats(s, "dbias", CLASSES);
    r.slab_bytes = s->slab_bytes;
    session_free(s);
    return r;
}

static void free_results(struct results *r)
{
    free(r->rows), free(r->dx), free(r->dw), free(r->dbias);
}

static void near(const char *what, const float *a, const float *b, int64_t n, double allowed)
{
    double most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)b[i]));
    for (int64_t i = 0; i < n; i++) worst = fmax(worst, isnan(a[i]) ? INFINITY : fabs((double)a[i] - (double)b[i]));
    assert_true(most > 0);
    if (!(worst <= allowed * most)) fail_msg("%s differs by %g of %g", what, worst, most);
}

// Both round logits and their gradients to the type of x; sums have another order.
static void agrees(enum dtype type, double allowed)
{
    struct device *device;
    assert_int_equal(device_open("cpu", 2, &device), 0);
    struct results one = run(device, true, type), two = run(device, false, type);
    assert_float_equal(one.count, two.count, 0);
    assert_float_equal(one.count, ROWS - ROWS / 9 - (ROWS % 9 > 4), 0);
    near("loss", &one.loss, &two.loss, 1, allowed);
    near("rows", one.rows, two.rows, ROWS, allowed);
    near("dx", one.dx, two.dx, ROWS * CHANNELS, allowed);
    near("dw", one.dw, two.dw, CLASSES * CHANNELS, allowed);
    near("dbias", one.dbias, two.dbias, CLASSES, allowed);
    const size_t logits = (size_t)ROWS * CLASSES * dtype_size(type);
    assert_true(two.slab_bytes >= 2 * logits);  // logits and their gradient
    assert_true(one.slab_bytes < 2 * logits);
    free_results(&one);
    free_results(&two);
    device_close(device);
}

TEST(test_agrees_with_two_nodes)
{
    agrees(F32, 1e-5);
    if (runs_bf16()) agrees(BF16, 3 * 0x1p-9);  // dx is rounded twice by one and once by the other, by at most 2^-9 each
}

// The bytes by hand: logits do not lie among inputs and outputs, and pieces of rows read and write matrices again.
TEST(test_traffic_counts_the_logits)
{
    enum { R = 10, V = 32, C = 4 };  // rows, classes, channels
    enum { Z2 = R * V * 2, Z4 = 2 * Z2, X2 = R * C * 2, X4 = 2 * X2, W2 = V * C * 2, W4 = 2 * W2, SUMS = 4 + R * 4 + 4 + R * 4 };
    static const struct {
        enum dtype type;
        bool trains;
        int64_t bytes;
        double read, written;
    } rows[] = {
        {F32, false, LINEAR_XENT_BYTES, X4 + W4 + R * 4 + Z4, SUMS + Z4},
        {BF16, false, LINEAR_XENT_BYTES, X2 + W4 + R * 4 + Z2 + W2, SUMS + Z2 + W2},
        {F32, true, LINEAR_XENT_BYTES, 2 * X4 + 2 * W4 + R * 4 + 3 * Z4, SUMS + X4 + W4 + 2 * Z4},
        // 4 pieces of at most 3 rows: the copy of w for the logits and for dx, and three sums of dw
        {BF16, true, 3 * V * 2, 2 * X2 + W4 + R * 4 + 3 * Z2 + 8 * W2 + 3 * W4, SUMS + X2 + 2 * Z2 + W2 + 4 * W4},
    };
    struct slot_store *store = slot_store_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph *g = graph_new(store, "traffic");
        int x = g_cast(g, input(g, "x", SHAPE(R, C)), rows[i].type), w = input(g, "w", SHAPE(V, C));
        int labels = graph_state(g, "labels", SHAPE(R), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
        union attr a = {.linear_xent = {.bytes = rows[i].bytes}};
        g->value[x].trains = g->value[w].trains = rows[i].trains;
        graph_node(g, OP_LINEAR_XENT, (int[]){x, w, labels, NONE, NONE}, 5, &a, NULL);
        OK(graph_check(g));
        struct cost c = node_cost(g, &g->node[g->nodes - 1]);
        assert_float_equal(c.read, rows[i].read, 0);
        assert_float_equal(c.written, rows[i].written, 0);
        graph_free(g);
    }
    slot_store_free(store);
}

TEST(test_refusals)
{
    struct slot_store *store = slot_store_new();
    static const char *const want[] = {"requires w[V,C] in f32", "one label", "cap of logits", "label smoothing"};
    for (int i = 0; i < 4; i++) {
        struct graph *g = graph_new(store, "refused");
        struct init zero = {INIT_ZERO, 0};
        int x = graph_state(g, "x", SHAPE(4, 8), F32, MEMORY_DATA, zero), out[3];
        int w = graph_state(g, i ? "w" : "w7", i ? SHAPE(5, 8) : SHAPE(5, 7), F32, MEMORY_DATA, zero);
        int labels = graph_state(g, i == 1 ? "l3" : "l", i == 1 ? SHAPE(3) : SHAPE(4), I32, MEMORY_DATA, zero);
        struct linear_xent l = {.x = x, .w = w, .bias = NONE, .labels = labels, .weights = NONE, .cap = i == 2 ? -1 : 0,
                                .smoothing = i == 3 ? 1 : 0};
        assert_int_equal(g_linear_xent(g, &l, out), NONE);
        REFUSED(graph_check(g), want[i]);
        graph_free(g);
    }
    slot_store_free(store);
}
