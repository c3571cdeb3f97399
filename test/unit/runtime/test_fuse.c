// SPDX-License-Identifier: Apache-2.0
// Rewrites: which nodes remain, what stops a pattern, and that a fused graph computes what the unfused one does.
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "runtime/optim.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

struct bench {
    struct slot_store *store;
    struct graph *g;
    int x;
};

static struct bench bench_new(int64_t side, int64_t c)
{
    struct bench b = {.store = slot_store_new()};
    b.g = graph_new(b.store, "test");
    b.x = input(b.g, "x", SHAPE(2, side, side, c));
    return b;
}

static void bench_free(struct bench *b)
{
    graph_free(b->g);
    slot_store_free(b->store);
}

static int filter(struct graph *g, const char *name, struct shape shape)
{
    return graph_param(g, name, shape, (struct init){INIT_UPLOAD, 0}, ROLE_FILTER);
}

static int conv(struct graph *g, const char *name, int x, int64_t k, int pad, bool trains)
{
    int64_t c = shape_last(&g->value[x].shape);
    g->trains = trains;
    return g_conv(g, x, filter(g, name, SHAPE(k, 3, 3, c)), 1, pad);
}

static int norm(struct graph *g, const char *name, int x, bool training)
{
    g->trains = training;
    return g_norm(g, name, x, NONE, &(struct norm_layer){.training = training, .bias = true, .eps = 1e-5f, .momentum = 0.7f});
}

// ---- structure

TEST(test_crop)
{
    static const struct {
        int side, pad, window, stride, after, columns;
    } rows[] = {
        {5, 1, 2, 2, 0, 4},  // five columns, of which the pool reads four
        {6, 1, 2, 2, 1, 6},  // nothing is dropped
        {8, 1, 3, 3, 0, 7},  // two are dropped, one of them comes from padding: all or nothing
        {5, 2, 3, 3, 1, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b = bench_new(rows[i].side, 3);
        int y = conv(b.g, "w", b.x, 4, rows[i].pad, true);
        keep(b.g, "out", g_maxpool(b.g, y, rows[i].window, rows[i].stride));
        int64_t have = b.g->value[y].shape.dim[1];
        OK(fuse_graph(b.g, FUSE_CROP));
        int64_t k = rows[i].window, s = rows[i].stride, drop = (have - k) % s;
        const struct conv_attr *a = &find_op(b.g, OP_CONV)->attr.conv;
        int64_t less = drop <= rows[i].pad ? drop : 0;
        assert_int_equal(a->after[0], rows[i].pad - less);
        assert_int_equal(a->after[1], rows[i].pad - less);
        assert_int_equal(a->before[0], rows[i].pad);
        assert_int_equal(b.g->value[y].shape.dim[2], have - less);
        if (i != 2) assert_int_equal(a->after[1], rows[i].after);
        if (i != 2) assert_int_equal(b.g->value[y].shape.dim[2], rows[i].columns);
        bench_free(&b);
    }
    // The convolution has another reader: it stays whole.
    struct bench b = bench_new(5, 3);
    int y = conv(b.g, "w", b.x, 4, 1, true);
    keep(b.g, "out", g_maxpool(b.g, y, 2, 2));
    keep(b.g, "whole", y);
    OK(fuse_graph(b.g, FUSE_ALL));
    assert_int_equal(b.g->value[y].shape.dim[1], 5);
    bench_free(&b);
}

TEST(test_norms)
{
    static const struct {
        unsigned patterns;
        int norms, pool_norms, pools, acts;
    } rows[] = {
        {0, 2, 0, 1, 2},
        {FUSE_NORM_ACT, 2, 0, 1, 0},
        {FUSE_POOL_NORM, 1, 1, 0, 2},
        {FUSE_NORM_ACT | FUSE_POOL_NORM, 1, 1, 0, 0},
        {FUSE_ALL, 1, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b = bench_new(9, 3);
        int x = g_maxpool(b.g, conv(b.g, "w1", b.x, 4, 1, true), 2, 2);
        x = g_act(b.g, norm(b.g, "norm1", x, true), ACT_SILU);
        x = g_act(b.g, norm(b.g, "norm2", conv(b.g, "w2", x, 4, 1, true), true), ACT_GELU);
        keep(b.g, "out", x);
        OK(fuse_graph(b.g, rows[i].patterns));
        assert_int_equal(count_op(b.g, OP_NORM), rows[i].norms);
        assert_int_equal(count_op(b.g, OP_POOL_NORM), rows[i].pool_norms);
        assert_int_equal(count_op(b.g, OP_MAXPOOL), rows[i].pools);
        assert_int_equal(count_acts(b.g), rows[i].acts);
        if (rows[i].acts == 0) {  // the first of them carries silu, also after fusion
            const struct node *first = find_op(b.g, rows[i].pool_norms ? OP_POOL_NORM : OP_NORM);
            assert_int_equal(first->attr.norm.act, ACT_SILU);
            if (rows[i].pool_norms) assert_int_equal(find_op(b.g, OP_NORM)->attr.norm.act, ACT_GELU);
        }
        for (int n = 0; n < b.g->nodes; n++)  // every value still knows who makes it
            for (int o = 0; o < MAX_OUT; o++) {
                int v = b.g->node[n].out[o];
                if (v != NONE && !b.g->value[v].slot) assert_int_equal(b.g->value[v].producer, n);
            }
        bench_free(&b);
    }
}

TEST(test_what_stops_a_pattern)
{
    // The norm has another reader, the pool is not 2x2, the pooled values are wanted.
    struct bench b = bench_new(9, 3);
    int pooled = g_maxpool(b.g, b.x, 3, 2), other = g_maxpool(b.g, b.x, 2, 2);
    int y = norm(b.g, "norm1", pooled, true), z = norm(b.g, "norm2", other, true);
    keep(b.g, "a", g_act(b.g, y, ACT_RELU));
    keep(b.g, "b", y);
    keep(b.g, "c", z);
    keep(b.g, "d", other);
    int nodes = b.g->nodes;
    OK(fuse_graph(b.g, FUSE_ALL));
    assert_int_equal(b.g->nodes, nodes);
    assert_int_equal(find_op(b.g, OP_NORM)->attr.norm.act, ACT_NONE);
    bench_free(&b);
}

TEST(test_bias_and_convolution)
{
    for (int trains = 0; trains < 3; trains++) {  // nothing; the bias; the filters
        struct bench b = bench_new(6, 3);
        b.g->trains = trains == 1;
        int bias = graph_param(b.g, "b", SHAPE(4), (struct init){INIT_UPLOAD, 0}, ROLE_BIAS);
        keep(b.g, "out", g_act(b.g, g_bias(b.g, conv(b.g, "w", b.x, 4, 1, trains == 2), bias), ACT_GELU));
        OK(fuse_graph(b.g, FUSE_BIAS_ACT | FUSE_CONV_ACT));
        const struct node *n = find_op(b.g, OP_CONV), *act = find_op(b.g, OP_ACT);
        if (trains == 0) {
            assert_null(act);
            assert_int_equal(n->in[2], bias);
            assert_int_equal(n->attr.conv.act, ACT_GELU);
        } else {
            assert_int_equal(count_acts(b.g), 1);
            assert_int_equal(act->in[1], bias);
            assert_int_equal(act->attr.act.act, ACT_GELU);
            assert_int_equal(n->attr.conv.act, ACT_NONE);
        }
        bench_free(&b);
    }
}

// A bias that is computed after the convolution cannot be pulled in front of its own computation.
TEST(test_bias_of_a_node)
{
    struct bench b = bench_new(6, 3);
    int y = conv(b.g, "w", b.x, 4, 1, false);
    keep(b.g, "out", g_bias(b.g, y, g_scale(b.g, input(b.g, "b", SHAPE(4)), 2)));
    OK(fuse_graph(b.g, FUSE_ALL));
    bool made[64] = {false};
    for (int i = 0; i < b.g->nodes; i++) {
        for (int j = 0; j < MAX_IN; j++) {
            int v = b.g->node[i].in[j];
            if (v != NONE && !b.g->value[v].slot) assert_true(made[v]);
        }
        for (int j = 0; j < MAX_OUT; j++)
            if (b.g->node[i].out[j] != NONE) made[b.g->node[i].out[j]] = true;
    }
    bench_free(&b);
}

// A residual block: its shortcut is the input, a convolution, or a norm of that; made before the block's norm or after it.
TEST(test_residual_block)
{
    static const struct {
        int shortcut, swapped;
        unsigned patterns;
        int norms, sums, fused_sums, acts;
    } rows[] = {
        {0, 0, 0, 1, 1, 0, 1},
        {0, 0, FUSE_ADD_ACT, 1, 0, 1, 0},
        {0, 0, FUSE_NORM_ADD, 1, 0, 0, 1},
        {0, 1, FUSE_ALL, 1, 0, 0, 0},
        {1, 0, FUSE_ALL, 1, 0, 0, 0},
        {1, 1, FUSE_ALL, 1, 0, 0, 0},
        {2, 0, FUSE_ALL, 2, 0, 0, 0},
        {2, 1, FUSE_ALL, 2, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b = bench_new(6, 4);
        int y = norm(b.g, "norm", conv(b.g, "w", b.x, 4, 1, true), true), other = b.x;
        if (rows[i].shortcut) other = conv(b.g, "w0", b.x, 4, 1, true);
        if (rows[i].shortcut == 2) other = norm(b.g, "norm0", other, true);
        keep(b.g, "out", g_act(b.g, rows[i].swapped ? g_add(b.g, other, y) : g_add(b.g, y, other), ACT_RELU));
        OK(fuse_graph(b.g, rows[i].patterns));
        assert_int_equal(count_op(b.g, OP_NORM), rows[i].norms);
        assert_int_equal(count_map(b.g, MAP_ADD, MAP_ADD_RELU), rows[i].sums);
        assert_int_equal(count_map(b.g, MAP_ADD_RELU, MAP_SUB), rows[i].fused_sums);
        assert_int_equal(count_acts(b.g), rows[i].acts);
        bool made[64] = {false};
        for (int n = 0; n < b.g->nodes; n++) {
            for (int j = 0; j < MAX_IN; j++) {
                int v = b.g->node[n].in[j];
                if (v != NONE && !b.g->value[v].slot) assert_true(made[v]);
            }
            for (int o = 0; o < MAX_OUT; o++)
                if (b.g->node[n].out[o] != NONE) made[b.g->node[n].out[o]] = true;
        }
        const struct node *last = &b.g->node[b.g->nodes - 2];  // before the copy into the slot
        if (rows[i].patterns == FUSE_ALL) {
            assert_int_equal(last->op, OP_NORM);
            assert_int_equal(last->attr.norm.act, ACT_RELU);
            assert_true(last->in[5] != NONE);
        }
        bench_free(&b);
    }
}

// These must not become a block: the norm is read twice, silu needs the sum, a sum with itself, a norm whose running values
// are updated again before the sum.
TEST(test_what_stops_a_block)
{
    struct bench b = bench_new(6, 4);
    int y = norm(b.g, "norm", conv(b.g, "w", b.x, 4, 1, true), true);
    keep(b.g, "a", g_act(b.g, g_add(b.g, y, b.x), ACT_RELU));
    keep(b.g, "b", g_add(b.g, y, y));
    int z = norm(b.g, "again", conv(b.g, "w", b.x, 4, 1, true), true);
    int twice = norm(b.g, "again", conv(b.g, "w2", b.x, 4, 1, true), true);
    keep(b.g, "c", g_act(b.g, g_add(b.g, z, b.x), ACT_SILU));
    keep(b.g, "d", twice);
    OK(fuse_graph(b.g, FUSE_ALL));
    assert_int_equal(count_op(b.g, OP_NORM), 3);
    assert_int_equal(count_map(b.g, MAP_ADD, MAP_ADD_RELU), 2);
    assert_int_equal(count_map(b.g, MAP_ADD_RELU, MAP_SUB), 1);
    assert_int_equal(count_acts(b.g), 1);
    for (int n = 0; n < b.g->nodes; n++)
        if (b.g->node[n].op == OP_NORM) assert_int_equal(b.g->node[n].in[5], NONE);
    bench_free(&b);
}

// ---- products with a bias
enum stop { NOTHING, TWO_READERS, OTHER_COLUMNS, MADE_LATER, WRITTEN_BETWEEN, SCALED, HAS_C };

static int product_with(struct bench *b, enum stop stop)
{
    struct graph *g = b->g;
    g->trains = true;
    int x = g_reshape(g, b->x, SHAPE(8, 4)), w = weight(g, "w", SHAPE(6, 4)), bias = weight(g, "bias", SHAPE(6));
    if (stop == OTHER_COLUMNS) bias = weight(g, "wide", SHAPE(12));
    struct matmul_attr a = {.tb = true, .alpha = stop == SCALED ? 0.5f : 1, .beta = 1, .out = F32};
    int y = g_matmul_full(g, x, w, stop == HAS_C ? weight(g, "c", SHAPE(8, 6)) : NONE, &a);
    if (stop == TWO_READERS) keep(g, "product", y);
    if (stop == MADE_LATER) bias = g_scale(g, bias, 2);
    if (stop == WRITTEN_BETWEEN) graph_node_over(g, OP_ASSIGN, (int[]){bias, weight(g, "new", SHAPE(6))}, 2, NULL, &bias, NULL);
    y = g_reshape(g, y, stop == OTHER_COLUMNS ? SHAPE(2, 2, 12) : SHAPE(2, 4, 6));
    return g_bias(g, y, bias);
}

TEST(test_product_bias)
{
    for (enum stop stop = NOTHING; stop <= HAS_C; stop++) {
        struct bench b = bench_new(2, 4);
        keep(b.g, "out", product_with(&b, stop));
        OK(fuse_graph(b.g, FUSE_MATMUL_BIAS));
        assert_int_equal(count_acts(b.g), stop != NOTHING);
        assert_int_equal(find_op(b.g, OP_MATMUL)->in[3] != NONE, stop == NOTHING);
        bench_free(&b);
    }
}

TEST(test_prune)
{
    struct bench b = bench_new(8, 3);
    int y = norm(b.g, "norm", conv(b.g, "w", b.x, 4, 1, true), true);
    g_scale(b.g, y, 3);                                          // without a reader
    g_maxpool(b.g, g_act(b.g, y, ACT_RELU), 2, 2);               // nor this
    fuse_prune(b.g);
    // The norm stays for its running statistics, and only for these.
    assert_int_equal(b.g->nodes, 2);
    const struct node *n = find_op(b.g, OP_NORM);
    assert_int_equal(n->out[0], NONE);
    assert_int_equal(n->out[1], NONE);
    assert_int_equal(n->out[2], NONE);
    assert_true(b.g->value[n->out[3]].slot && b.g->value[n->out[4]].slot);
    fuse_prune(b.g);
    assert_int_equal(b.g->nodes, 2);
    bench_free(&b);
    b = bench_new(8, 3);
    conv(b.g, "w", b.x, 4, 1, true);
    fuse_prune(b.g);
    assert_int_equal(b.g->nodes, 0);
    bench_free(&b);
}

// ---- the same figures

// A small airbench: two groups, whitening bias, head, a step of SGD.
static int train_graph(struct session *s, unsigned patterns, int n)
{
    struct graph *g = graph_new(s->store, "train");
    int x = input(g, "x", SHAPE(n, 9, 9, 3)), params[6], grads[6];
    int labels = graph_state(g, "labels", SHAPE(n), U8, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    g->trains = 1;
    params[0] = graph_param(g, "bias", SHAPE(6), (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    x = g_act(g, g_bias(g, conv(g, "frozen", x, 6, 0, false), params[0]), ACT_GELU);  // 7 x 7
    x = g_maxpool(g, conv(g, "w1", x, 8, 1, true), 2, 2);
    x = g_act(g, norm(g, "norm1", x, true), ACT_SILU);
    int y = norm(g, "norm2", conv(g, "w2", x, 8, 1, true), true);
    x = g_act(g, g_add(g, y, norm(g, "norm3", x, true)), ACT_RELU);
    params[1] = filter(g, "w1", SHAPE(8, 3, 3, 6)), params[2] = filter(g, "w2", SHAPE(8, 3, 3, 8));
    params[3] = graph_param(g, "norm1.bias", SHAPE(8), (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    params[4] = graph_param(g, "norm2.bias", SHAPE(8), (struct init){INIT_ZERO, 0}, ROLE_BIAS);
    params[5] = weight(g, "head", SHAPE(5, 8));
    x = g_reshape(g, g_maxpool_global(g, x), SHAPE(n, 8));
    int loss = g_xent(g, g_linear(g, x, params[5], NONE, F32), labels, 0.1f, true);
    OK(fuse_graph(g, patterns));
    OK(grad_of(g, loss, params, 6, grads));
    keep(g, "loss", loss);
    g->phase = PHASE_UPDATE;
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 0.05f});
    struct optim_settings o = {.momentum = 0.8f, .nesterov = true, .clip = NONE};
    for (int i = 0; i < 6; i++) optim_sgd(g, params[i], grads[i], lr, &o);
    return session_add(s, g);
}

TEST(test_fused_step_is_the_unfused)
{
    struct session *s[2] = {session_on("ref"), session_on("ref")};
    int program[2], nodes[2];
    for (int i = 0; i < 2; i++) {
        program[i] = train_graph(s[i], i ? FUSE_ALL : 0, 4);
        OK(program[i]);
        nodes[i] = s[i]->graph[program[i]]->nodes;
        start(s[i]);
        for (int step = 0; step < 3; step++) OK(session_run(s[i], program[i]));
    }
    assert_true(nodes[1] < nodes[0]);
    assert_true(s[1]->slab_bytes < s[0]->slab_bytes);
    assert_int_equal(s[0]->store->count, s[1]->store->count);
    for (int i = 0; i < s[0]->store->count; i++) {
        const struct slot *slot = s[0]->store->slot[i];
        if (slot->dtype != F32) continue;
        float *a = read_slot(s[0], slot->name), *b = read_slot(s[1], slot->name);
        for (int64_t j = 0; j < shape_count(&slot->shape); j++)
            if (!(fabsf(a[j] - b[j]) <= 1e-5f * (1 + fabsf(a[j]))))
                fail_msg("%s[%d]: %g unfused, %g fused", slot->name, (int)j, (double)a[j], (double)b[j]);
        free(a);
        free(b);
    }
    session_done(s[0]);
    session_done(s[1]);
}

static int infer_graph(struct session *s, const char *out, bool fold, int *prepare)
{
    struct graph *g = graph_new(s->store, out), *p = graph_new(s->store, "prepare");
    int x = input(g, "x", SHAPE(2, 9, 9, 3));
    x = g_maxpool(g, conv(g, "w1", x, 4, 1, false), 2, 2);
    x = g_act(g, norm(g, "norm1", x, false), ACT_SILU);
    int c = conv(g, "w2", x, 4, 1, false);
    struct norm_layer scaled = {.scale = true, .bias = true, .eps = 1e-3f}, bare = {.scale = true, .eps = 1e-3f};
    x = g_act(g, g_norm(g, "norm2", c, NONE, &scaled), ACT_RELU);
    int d = g_maxpool(g, conv(g, "w3", x, 4, 1, false), 2, 2);
    x = g_norm(g, "norm3", d, NONE, &bare);  // a scale behind a pool: stays
    keep(g, out, x);
    OK(fuse_graph(g, FUSE_ALL));
    if (fold) {
        OK(fuse_fold(g, p));
        assert_int_equal(count_op(g, OP_NORM_INFER), 1);
        assert_int_equal(count_op(g, OP_MAXPOOL), 2);
        assert_int_equal(count_acts(g), 1);  // behind the first pool
        assert_int_equal(count_op(p, OP_NORM_FOLD), 2);
        assert_non_null(slot_find(s->store, "folded.w1"));
        assert_non_null(slot_find(s->store, "folded.w2.bias"));
        assert_null(slot_find(s->store, "folded.w3"));
        assert_int_equal(find_op(g, OP_CONV)->attr.conv.act, ACT_NONE);
    }
    *prepare = session_add(s, p);
    OK(*prepare);
    return session_add(s, g);
}

TEST(test_fold)
{
    struct session *s = session_on("ref");
    int prepare, none, plain = infer_graph(s, "plain", false, &none), folded = infer_graph(s, "folded", true, &prepare);
    OK(plain);
    OK(folded);
    start(s);
    static const char *const names[] = {"norm1.running_mean", "norm1.running_var", "norm1.bias", "norm2.running_mean",
                                        "norm2.running_var", "norm2.weight", "norm2.bias", "norm3.weight"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        float x[4];
        for (int j = 0; j < 4; j++) x[j] = draw(i, j) + (strstr(names[i], "var") ? 1.5f : 0);  // scales of either sign
        OK(session_put(s, names[i], x, 0, sizeof x));
    }
    OK(session_run(s, plain));
    OK(session_run(s, prepare));
    OK(session_run(s, folded));
    float *a = read_slot(s, "plain"), *b = read_slot(s, "folded"), most = 0;
    for (int i = 0; i < 2 * 2 * 2 * 4; i++) {
        assert_float_equal(a[i], b[i], 1e-4 * (1 + fabs((double)a[i])));
        most = fmaxf(most, fabsf(a[i]));
    }
    assert_true(most > 0.1f);
    free(a);
    free(b);
    session_done(s);
}

// Layers that share a filter may have norms of their own: one of them is folded. The same norm is folded in both places.
TEST(test_fold_of_a_shared_filter)
{
    for (int shared = 0; shared < 2; shared++) {
        struct bench b = bench_new(6, 3);
        struct graph *p = graph_new(b.store, "prepare");
        struct conv_attr a = {.stride = {1, 1}, .groups = 1};
        int w = input(b.g, "w", SHAPE(3, 1, 1, 3));
        int y = norm(b.g, "norm1", g_conv_full(b.g, b.x, w, NONE, &a), false);
        keep(b.g, "out", norm(b.g, shared ? "norm1" : "norm2", g_conv_full(b.g, y, w, NONE, &a), false));
        OK(fuse_fold(b.g, p));
        assert_int_equal(count_op(b.g, OP_NORM_INFER), !shared);
        assert_int_equal(count_op(p, OP_NORM_FOLD), 1 + shared);
        graph_free(p);
        bench_free(&b);
    }
}

// Running statistics can be folded into slots only: a convolution whose bias some node makes stays as it is.
TEST(test_fold_leaves_made_values)
{
    for (int made = 0; made < 2; made++) {
        struct bench b = bench_new(6, 3);
        struct graph *p = graph_new(b.store, "prepare");
        struct conv_attr a = {.stride = {1, 1}, .groups = 1};
        int w = input(b.g, "w", SHAPE(4, 3, 3, 3)), bias = input(b.g, "b", SHAPE(4));
        int y = g_conv_full(b.g, b.x, w, made ? g_scale(b.g, bias, 2) : bias, &a);
        keep(b.g, "out", norm(b.g, "norm", y, false));
        OK(fuse_fold(b.g, p));
        assert_int_equal(count_op(b.g, OP_NORM_INFER), made);
        assert_int_equal(count_op(p, OP_NORM_FOLD), !made);
        graph_free(p);
        bench_free(&b);
    }
}
