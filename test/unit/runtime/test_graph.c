// SPDX-License-Identifier: Apache-2.0
// Building graphs: shapes, the first error that sticks, slots shared by name, and gradients of whole expressions.
#include "runtime/grad.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

struct bench {
    struct slot_store *store;
    struct graph *g;
};

static struct bench bench_new(void)
{
    struct bench b = {.store = slot_store_new()};
    b.g = graph_new(b.store, "test");
    return b;
}

static void bench_free(struct bench *b)
{
    graph_free(b->g);
    slot_store_free(b->store);
}

// ---- shapes

static void is_shape(const struct graph *g, int v, const char *wanted)
{
    char text[SHAPE_TEXT];
    OK(graph_check(g));
    assert_string_equal(shape_text(text, &g->value[v].shape), wanted);
}

TEST(test_shapes)
{
    struct bench b = bench_new();
    struct graph *g = b.g;
    int x = input(g, "x", SHAPE(2, 7, 9, 4)), w = input(g, "w", SHAPE(6, 3, 3, 4)), half = input(g, "half", SHAPE(6, 3, 3, 2));
    is_shape(g, g_conv(g, x, w, 1, 1), "2x7x9x6");
    is_shape(g, g_conv(g, x, w, 2, 1), "2x4x5x6");
    struct conv_attr skew = {.stride = {1, 2}, .before = {2, 0}, .after = {0, 1}, .groups = 1};
    is_shape(g, g_conv_full(g, x, w, NONE, &skew), "2x7x4x6");
    skew.groups = 2;
    is_shape(g, g_conv_full(g, x, half, NONE, &skew), "2x7x4x6");
    is_shape(g, g_maxpool(g, x, 2, 2), "2x3x4x4");  // what does not fit whole is dropped
    is_shape(g, g_maxpool(g, x, 3, 1), "2x5x7x4");
    is_shape(g, g_avgpool_global(g, x), "2x1x1x4");
    is_shape(g, g_resize(g, x, 14, 5), "2x14x5x4");
    assert_int_equal(g_resize(g, x, 7, 9), x);  // nothing to do, no node
    is_shape(g, g_transpose(g, x, (int[]){3, 0, 2, 1}), "4x2x9x7");
    is_shape(g, g_concat(g, (int[]){x, x, x}, 3, 2), "2x7x27x4");
    is_shape(g, g_slice(g, x, 1, 2, 6), "2x4x9x4");
    is_shape(g, g_reduce(g, x, 1u << 0 | 1u << 2, true, F32), "1x7x1x4");
    int a = g_reshape(g, x, SHAPE(14, 36)), c = input(g, "c", SHAPE(5, 14));
    is_shape(g, g_matmul(g, a, true, c, true, BF16), "36x5");
    is_shape(g, g_linear(g, a, input(g, "fc", SHAPE(10, 36)), NONE, F32), "14x10");
    assert_int_equal(g->value[g_cast(g, x, F16)].dtype, F16);
    assert_int_equal(g_cast(g, x, F32), x);
    bench_free(&b);
}

// ---- refusals

static int bad_conv(struct graph *g, int x) { return g_conv(g, x, input(g, "w", SHAPE(6, 3, 3, 5)), 1, 1); }
static int bad_size(struct graph *g, int x) { return g_conv(g, x, input(g, "w", SHAPE(6, 9, 9, 4)), 1, 0); }
static int bad_groups(struct graph *g, int x)
{
    struct conv_attr a = {.stride = {1, 1}, .groups = 4};
    return g_conv_full(g, x, input(g, "w", SHAPE(6, 1, 1, 1)), NONE, &a);
}
static int bad_pool(struct graph *g, int x) { return g_maxpool(g, x, 8, 1); }
static int bad_padding(struct graph *g, int x) { return g_maxpool_pad(g, x, 3, 2, 3); }
static int bad_mean(struct graph *g, int x)
{
    return g_avgpool_full(g, x, &(struct pool_attr){.k = {3, 3}, .stride = {2, 2}, .pad = {3, 1}});
}
static int bad_formula(struct graph *g, int x) { return g_map(g, MAP_KINDS, x, 0, 0); }
static int bad_inputs(struct graph *g, int x) { return g_map_of(g, MAP_EXP, (int[]){x, x, NONE}); }
static int bad_third(struct graph *g, int x) { return g_map_of(g, MAP_SELECT, (int[]){x, x, NONE}); }
static int bad_spread(struct graph *g, int x) { return g_map_of(g, MAP_MAX, (int[]){x, input(g, "s", SHAPE(2)), NONE}); }
static int bad_top(struct graph *g, int x) { return g_top(g, x, 5, NULL); }
static int bad_maximum(struct graph *g, int x) { return g_reduce_max(g, x, 1u << 4); }
static int bad_random(struct graph *g, int x)
{
    (void)x;
    int key = graph_state(g, "key", SHAPE(4), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    int step = graph_state(g, "step", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    return g_random(g, &(struct random_attr){.shape = SHAPE(4), .to = I32}, key, step);
}
static int bad_key(struct graph *g, int x)
{
    struct init zero = {INIT_ZERO, 0};
    (void)x;
    int images = graph_state(g, "images", SHAPE(2, 4, 4, 3), U8, MEMORY_DATA, zero);
    int key = graph_state(g, "key", SHAPE(4), I32, MEMORY_STATE, zero);
    return g_augment(g, images, NONE, key, &(struct augment_attr){.std = {1, 1, 1}, .to = F32});
}
static int bad_add(struct graph *g, int x) { return g_add(g, x, g_cast(g, x, BF16)); }
static int bad_reshape(struct graph *g, int x) { return g_reshape(g, x, SHAPE(2, 7)); }
static int bad_transpose(struct graph *g, int x) { return g_transpose(g, x, (int[]){0, 1, 1, 3}); }
static int bad_concat(struct graph *g, int x) { return g_concat(g, (int[]){x, g_slice(g, x, 1, 0, 2)}, 2, 3); }
static int bad_many(struct graph *g, int x) { return g_concat(g, (int[]){x, x, x, x, x, x, x, x, x}, 9, 3); }
static int bad_slice(struct graph *g, int x) { return g_slice(g, x, 1, 3, 8); }
static int bad_matmul(struct graph *g, int x)
{
    int a = g_reshape(g, x, SHAPE(14, 36));
    return g_matmul(g, a, false, a, false, F32);
}
static int bad_bias(struct graph *g, int x) { return g_bias(g, x, input(g, "b", SHAPE(5))); }
static int bad_reduce(struct graph *g, int x) { return g_reduce(g, x, 1u << 4, false, F32); }
static int bad_labels(struct graph *g, int x)
{
    return g_xent(g, g_reshape(g, x, SHAPE(14, 36)), input(g, "l", SHAPE(14)), 0, true);
}
static int bad_window(struct graph *g, int x)
{
    struct init zero = {INIT_ZERO, 0};
    (void)x;
    int order = graph_state(g, "order", SHAPE(10), I32, MEMORY_DATA, zero);
    return g_window(g, order, graph_state(g, "cursor", SHAPE(1), I32, MEMORY_STATE, zero), 11);
}
static int bad_input(struct graph *g, int x)
{
    (void)x;
    return g_scale(g, NONE, 2);
}
static int bad_over(struct graph *g, int x)
{
    union attr neg = {.map = {.formula = MAP_NEG}};
    return graph_node_over(g, OP_MAP, &x, 1, &neg, (int[]){input(g, "small", SHAPE(2))}, NULL);
}

TEST(test_refusals)
{
    static const struct {
        int (*build)(struct graph *, int x);
        const char *word;
    } rows[] = {
        {bad_conv, "filters 6x3x3x5 do not fit input 2x7x9x4"},
        {bad_size, "larger than input"},
        {bad_groups, "in 4 groups"},
        {bad_pool, "8 x 8 is larger than 2x7x9x4"},
        {bad_padding, "smaller than its window"},
        {bad_mean, "smaller than its window"},
        {bad_formula, "without a formula"},
        {bad_inputs, "exp takes 1 inputs"},
        {bad_third, "select lacks an input"},
        {bad_spread, "max of 2x7x9x4 f32 and 2 f32"},
        {bad_top, "top 5 of 4"},
        {bad_maximum, "not there"},
        {bad_random, "random numbers are floats"},
        {bad_key, "a key requires an index"},
        {bad_add, "add of 2x7x9x4 f32 and 2x7x9x4 bf16"},
        {bad_reshape, "2x7x9x4 cannot be reshaped to 2x7"},
        {bad_transpose, "every dimension once"},
        {bad_concat, "concat of shapes"},
        {bad_many, "at most 8"},
        {bad_slice, "[3, 8) of dimension 1"},
        {bad_matmul, "matmul of 14x36 and 14x36"},
        {bad_bias, "f32 of 4 channels as input 1, not 5"},
        {bad_reduce, "not there"},
        {bad_labels, "one label"},
        {bad_window, "a batch of 11 from 10"},
        {bad_input, "no first input"},
        {bad_over, "cannot overwrite \"small\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b = bench_new();
        int x = input(b.g, "x", SHAPE(2, 7, 9, 4));
        graph_scope(b.g, "here.%d", (int)i);
        assert_int_equal(rows[i].build(b.g, x), NONE);
        REFUSED(graph_check(b.g), rows[i].word);
        char scope[64];
        snprintf(scope, sizeof scope, "graph \"test\", here.%d: ", (int)i);
        assert_non_null(strstr(error_text(), scope));
        bench_free(&b);
    }
}

TEST(test_first_error_sticks)
{
    struct bench b = bench_new();
    int x = input(b.g, "x", SHAPE(2, 7, 9, 4)), grads[1];
    int nodes = b.g->nodes, y = g_act(b.g, bad_conv(b.g, x), ACT_RELU);
    assert_int_equal(y, NONE);
    assert_int_equal(bad_slice(b.g, x), NONE);  // a second mistake, which is not reported
    assert_int_equal(g_norm(b.g, "norm", y, NONE, &(struct norm_layer){.training = true}), NONE);
    assert_int_equal(g_scale(b.g, x, 2), NONE);  // and even what would be right does nothing
    assert_int_equal(graph_state(b.g, "late", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0}), NONE);
    assert_int_equal(b.g->nodes, nodes);
    assert_null(slot_find(b.store, "late"));
    for (int i = 0; i < 2; i++) {
        assert_fails(graph_check(b.g), ERR_SHAPE, "filters 6x3x3x5");
    }
    REFUSED(grad_of(b.g, y, &x, 1, grads), "filters 6x3x3x5");
    bench_free(&b);
}

TEST(test_slots)
{
    struct bench b = bench_new();
    struct graph *other = graph_new(b.store, "other");
    int x = weight(b.g, "shared", SHAPE(3, 4));
    assert_int_equal(weight(b.g, "shared", SHAPE(3, 4)), x);
    int y = weight(other, "shared", SHAPE(3, 4));
    assert_ptr_equal(b.g->value[x].slot, other->value[y].slot);
    assert_int_equal(b.store->count, 1);
    weight(other, "shared", SHAPE(4, 3));
    REFUSED(graph_check(other), "\"shared\" is 3x4 f32 in one graph and 4x3 f32 in another");
    assert_int_equal(graph_state(b.g, "shared", SHAPE(3, 4), I32, MEMORY_WEIGHTS, (struct init){INIT_ZERO, 0}), NONE);
    REFUSED(graph_check(b.g), "3x4 i32");
    graph_free(other);
    bench_free(&b);
}

TEST(test_cost)
{
    struct bench b = bench_new();
    struct graph *g = b.g;
    int x = input(g, "x", SHAPE(2, 8, 8, 4));
    g_conv(g, x, input(g, "w", SHAPE(6, 3, 3, 4)), 1, 1);
    struct cost c = node_cost(g, &g->node[0]);
    assert_float_equal(c.flops, 2.0 * 2 * 8 * 8 * 6 * 3 * 3 * 4, 0);
    assert_float_equal(c.read, 4.0 * (2 * 8 * 8 * 4 + 6 * 3 * 3 * 4), 0);
    assert_float_equal(c.written, 4.0 * 2 * 8 * 8 * 6, 0);
    g_reshape(g, x, SHAPE(16, 32));
    c = node_cost(g, &g->node[1]);
    assert_float_equal(c.flops + c.read + c.written, 0, 0);  // the same bytes
    int index = graph_state(g, "index", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    g_gather(g, x, index);
    c = node_cost(g, &g->node[2]);
    assert_float_equal(c.read, 4.0 * 8 * 8 * 4 + 4, 0);  // one row of x, and its number
    g_norm(g, "norm", x, NONE, &(struct norm_layer){.training = true, .momentum = 0.1f, .eps = 1e-5f});
    c = node_cost(g, &g->node[3]);
    assert_float_equal(c.read, 4.0 * (2 * 2 * 8 * 8 * 4 + 2 * 4), 0);  // x twice, and the running statistics
    assert_float_equal(c.written, 4.0 * (2 * 8 * 8 * 4 + 4 * 4), 0);   // y, the batch's statistics, the running ones
    bench_free(&b);
}

// ---- gradients of expressions, against finite differences on `ref`

// Moving bytes, values used twice, and a product of two paths.
static int moved(struct graph *g, int x, int w)
{
    int a = g_transpose(g, g_reshape(g, x, SHAPE(3, 2, 4)), (int[]){1, 0, 2});          // 2 3 4
    int b = g_slice(g, g_concat(g, (int[]){a, g_scale(g, a, -0.5f)}, 2, 1), 1, 1, 5);    // 2 4 4
    int c = g_mul(g, b, g_act(g, b, ACT_GELU));
    struct matmul_attr product = {.tb = true, .alpha = 0.7f, .out = F32};
    int d = g_matmul_full(g, g_reshape(g, c, SHAPE(8, 4)), w, NONE, &product);  // 8 3
    int e = g_add(g, d, g_add(g, d, g_reshape(g, x, SHAPE(8, 3))));
    return g_softmax(g, e);
}

// Reductions, rows picked twice, resizing, an average pool and a bias.
static int reduced(struct graph *g, int x, int w)
{
    int index = graph_state(g, "index", SHAPE(4), I32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    int a = g_gather(g, g_reshape(g, x, SHAPE(2, 12)), index);                             // 4 12
    int b = g_resize(g, g_reshape(g, a, SHAPE(4, 2, 3, 2)), 4, 5);                           // 4 4 5 2
    int c = g_conv(g, b, g_reshape(g, w, SHAPE(1, 3, 2, 2)), 1, 1);                            // 4 4 6 1
    int d = g_maxpool(g, g_concat(g, (int[]){c, c}, 2, 3), 2, 2);                               // 4 2 3 2
    int e = g_bias(g, d, g_reshape(g, g_slice(g, g_reshape(g, w, SHAPE(12)), 0, 3, 5), SHAPE(2)));
    return g_mul(g, g_reduce(g, e, 3u, true, F32), g_reduce(g, g_act(g, e, ACT_SILU), 3u, false, F32));
}

static float loss_of(struct session *s, int program)
{
    OK(session_run(s, program));
    return read_one(s, "loss");
}

// Both parameters, every element.
static void gradients(int (*expression)(struct graph *, int, int))
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "gradients");
    int of[] = {weight(g, "x", SHAPE(6, 4)), weight(g, "w", SHAPE(3, 4))}, grads[2];
    int y = expression(g, of[0], of[1]);
    OK(graph_check(g));
    int weights = input(g, "weights", g->value[y].shape);
    unsigned all = (1u << g->value[y].shape.rank) - 1;
    int loss = g_reshape(g, g_reduce(g, g_mul(g, y, weights), all, false, F32), SHAPE(1));
    OK(grad_of(g, loss, of, 2, grads));
    keep(g, "loss", loss);
    keep(g, "dx", grads[0]);
    keep(g, "dw", grads[1]);
    int program = session_add(s, g);
    OK(program);
    start(s);
    static const char *const names[] = {"x", "w"}, *const gradient[] = {"dx", "dw"};
    for (int p = 0; p < 2; p++) {
        loss_of(s, program);
        float *x = read_slot(s, names[p]), *dx = read_slot(s, gradient[p]);
        for (int64_t i = 0; i < shape_count(&slot_find(s->store, names[p])->shape); i++) {
            float was = x[i], step = 0x1p-9f, side[2];
            for (int k = 0; k < 2; k++) {
                x[i] = was + (k ? step : -step);
                OK(session_put(s, names[p], x, 0, slot_bytes(slot_find(s->store, names[p]))));
                side[k] = loss_of(s, program);
            }
            x[i] = was;
            OK(session_put(s, names[p], x, 0, slot_bytes(slot_find(s->store, names[p]))));
            assert_float_equal(dx[i], (side[1] - side[0]) / (2 * step), 2e-3);
        }
        free(x);
        free(dx);
    }
    session_done(s);
}

TEST(test_gradients)
{
    gradients(moved);
    gradients(reduced);
}

// A frozen first layer costs nothing backward, and what the loss does not see has no gradient.
TEST(test_only_what_trains)
{
    struct bench b = bench_new();
    struct graph *g = b.g;
    int x = input(g, "x", SHAPE(2, 6, 6, 3)), frozen = input(g, "frozen", SHAPE(4, 3, 3, 3));
    int second = weight(g, "second", SHAPE(5, 3, 3, 4)), unseen = weight(g, "unseen", SHAPE(7));
    int y = g_conv(g, g_act(g, g_conv(g, x, frozen, 1, 1), ACT_RELU), second, 1, 1);
    g_scale(g, unseen, 2);
    int loss = g_reshape(g, g_reduce(g, y, 15u, false, F32), SHAPE(1)), grads[3];
    int forward = g->nodes;
    OK(grad_of(g, loss, (int[]){second, frozen, unseen}, 3, grads));
    assert_true(grads[0] != NONE);
    assert_int_equal(grads[1], NONE);
    assert_int_equal(grads[2], NONE);
    assert_int_equal(count_op(g, OP_CONV_WGRAD), 1);
    assert_int_equal(count_op(g, OP_CONV_DGRAD), 0);
    assert_int_equal(count_op(g, OP_ACT_GRAD), 0);
    for (int i = 0; i < g->nodes; i++) assert_int_equal(g->node[i].phase, i < forward ? PHASE_FORWARD : PHASE_BACKWARD);
    REFUSED(grad_of(g, y, &second, 1, grads), "single f32");
    bench_free(&b);
}
