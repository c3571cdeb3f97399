// SPDX-License-Identifier: Apache-2.0
// Attention and the operators around it in a graph: decoding with a cache, counters, refusals. The list of cases
// (test_ops, test_gradients) compares results.
#include "test/unit/test.h"
#include "test/unit/fixture_decode.h"

TEST(test_decoding)
{
    decode_on("ref");
    decode_on("cpu");
}

static int i32_input(struct graph *g, const char *name, struct shape shape)
{
    return graph_state(g, name, shape, I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
}

// ---- FLOPs: of the pairs of a query and a key that it sees

static double flops_of(int64_t queries, int64_t keys, bool causal)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "flops");
    int q = input(g, "q", SHAPE(3, queries, keys ? 8 : 24)), kv = keys ? input(g, "kv", SHAPE(3, keys, 16)) : NONE;
    decode_attention(g, q, kv, NONE, causal);
    OK(graph_check(g));
    double flops = node_cost(g, &g->node[g->nodes - 1]).flops;
    graph_free(g);
    slot_store_free(store);
    return flops / (2 * 2 * 3 * 8);  // two products of 8 channels for three samples
}

TEST(test_flops)
{
    assert_float_equal(flops_of(6, 0, false), 36, 0);
    assert_float_equal(flops_of(6, 0, true), 21, 0);
    assert_float_equal(flops_of(2, 9, false), 18, 0);
    assert_float_equal(flops_of(2, 9, true), 8 + 9, 0);
    assert_float_equal(flops_of(5, 3, true), 1 + 2 + 3, 0);
}

// A cache is as long as the longest sequence; a step writes one row of it.
TEST(test_bytes_of_append)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "bytes");
    g_append(g, input(g, "cache", SHAPE(3, 50, 8)), input(g, "x", SHAPE(3, 1, 8)), i32_input(g, "at", SHAPE(1)));
    OK(graph_check(g));
    struct cost c = node_cost(g, &g->node[0]);
    assert_float_equal(c.read, 3 * 8 * 4 + 4, 0);
    assert_float_equal(c.written, 3 * 8 * 4, 0);
    graph_free(g);
    slot_store_free(store);
}

// ---- refusals

static void of_other_samples(struct graph *g)
{
    decode_attention(g, input(g, "q", SHAPE(3, 2, 8)), input(g, "kv", SHAPE(2, 2, 16)), NONE, false);
}
static void of_other_widths(struct graph *g)
{
    decode_attention(g, input(g, "q", SHAPE(3, 2, 8)), input(g, "kv", SHAPE(3, 2, 24)), NONE, false);
}
static void two_lengths_of_one_sequence(struct graph *g)
{
    int n = i32_input(g, "n", SHAPE(3));
    struct attention a = {.q = input(g, "q", SHAPE(3, 2, 24)), .kv = NONE, .lengths = n, .q_lengths = n, .key = NONE,
                          .step = NONE, .attr = {.heads = 2}};
    g_attention(g, &a);
}
static void append_of_another_type(struct graph *g)
{
    int cache = graph_state(g, "cache", SHAPE(3, 4, 8), BF16, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    g_append(g, cache, input(g, "x", SHAPE(3, 1, 8)), i32_input(g, "at", SHAPE(1)));
}
static void append_at_two_of_three(struct graph *g)
{
    g_append(g, input(g, "cache", SHAPE(3, 4, 8)), input(g, "x", SHAPE(3, 1, 8)), i32_input(g, "at", SHAPE(2)));
}
static void norm_of_images_with_lengths(struct graph *g)
{
    g_norm(g, "n", input(g, "x", SHAPE(3, 8)), i32_input(g, "n", SHAPE(3)), &(struct norm_layer){.training = true});
}
static void rotary_of_odd_channels(struct graph *g) { g_rotary(g, input(g, "x", SHAPE(3, 2, 2, 5)), NONE, 10000); }
static void rotary_of_many_channels(struct graph *g) { g_rotary(g, input(g, "x", SHAPE(3, 2, 2, 258)), NONE, 10000); }
static void rotary_of_small_base(struct graph *g) { g_rotary(g, input(g, "x", SHAPE(3, 2, 2, 4)), NONE, 0.5f); }
static void rotary_at_two_of_three(struct graph *g)
{
    g_rotary(g, input(g, "x", SHAPE(3, 2, 2, 4)), i32_input(g, "at", SHAPE(2)), 10000);
}
static void rms_norm_of_another_scale(struct graph *g)
{
    g_rms_norm(g, input(g, "x", SHAPE(3, 8)), input(g, "scale", SHAPE(3)), 1e-5f);
}
static void rms_norm_with_a_bias(struct graph *g)
{
    int c = input(g, "c", SHAPE(8)), in[] = {input(g, "x", SHAPE(3, 8)), NONE, c, c};
    graph_node(g, OP_LAYER_NORM, in, 4, &(union attr){.layer_norm = {.rms = true}}, NULL);
}
static void layer_norm_without_a_scale(struct graph *g)
{
    int in[] = {input(g, "x", SHAPE(3, 8)), NONE, NONE, input(g, "c", SHAPE(8))};
    graph_node(g, OP_LAYER_NORM, in, 4, &(union attr){.layer_norm = {.eps = 1}}, NULL);
}
static void weights_of_other_rows(struct graph *g)
{
    int out[3], x = input(g, "x", SHAPE(3, 8));
    g_xent_full(g, (int[]){x, i32_input(g, "labels", SHAPE(3)), input(g, "weights", SHAPE(4))}, 0, true, out);
}

TEST(test_refusals)
{
    static const struct {
        void (*build)(struct graph *);
        const char *word;
    } rows[] = {
        {of_other_samples, "kv[B,S,2*H*D]"},      {of_other_widths, "kv[B,S,2*H*D]"},
        {two_lengths_of_one_sequence, "one length"}, {append_of_another_type, "of one type"},
        {append_at_two_of_three, "one per sample"}, {norm_of_images_with_lengths, "x[B,T,..,C]"},
        {weights_of_other_rows, "input 2"},       {rotary_of_odd_channels, "with D even"},
        {rotary_of_many_channels, "at most 256"}, {rotary_of_small_base, "a base of at least 1"},
        {rotary_at_two_of_three, "one per sample"}, {rms_norm_of_another_scale, "input 2"},
        {rms_norm_with_a_bias, "has no bias"},    {layer_norm_without_a_scale, "a scale and a bias"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slot_store *store = slot_store_new();
        struct graph *g = graph_new(store, "refused");
        rows[i].build(g);
        REFUSED(graph_check(g), rows[i].word);
        graph_free(g);
        slot_store_free(store);
    }
}

// A mean over valid rows, formed of two parts, equals the mean of the whole, though the parts have different numbers of them.
TEST(test_mean_of_parts)
{
    struct session *s = session_on("cpu");
    struct graph *g = graph_new(s->store, "parts");
    int x = input(g, "x", SHAPE(6, 5)), labels = i32_input(g, "labels", SHAPE(6)), out[2][3], whole[3];
    for (int i = 0; i < 2; i++) {
        int part[] = {g_slice(g, x, 0, 3 * i, 3 * i + 3), g_slice(g, labels, 0, 3 * i, 3 * i + 3), NONE};
        g_xent_full(g, part, 0, false, out[i]);
    }
    keep(g, "sum", g_add(g, out[0][0], out[1][0]));
    keep(g, "count", g_add(g, out[0][2], out[1][2]));
    keep(g, "mean", g_xent_full(g, (int[]){x, labels, NONE}, 0, true, whole));
    int program = session_add(s, g);
    OK(program);
    start(s);
    OK(session_put(s, "labels", (int32_t[]){1, -1, 7, 4, 0, 2}, 0, 6 * sizeof(int32_t)));  // one and three of three count
    OK(session_run(s, program));
    assert_float_equal(read_one(s, "count"), 4, 0);
    assert_float_equal(read_one(s, "sum") / 4, read_one(s, "mean"), 1e-6);
    session_done(s);
}
