// SPDX-License-Identifier: Apache-2.0
// Patterns that fuse.c rewrites, and some that it must not rewrite. Results, gradients and running statistics must agree with
// and without fusing. No activation here has a kink, so that roundings stay small.
#include "runtime/cases/cases.h"

#include <stdio.h>

static int pattern_x(struct case_build *b, int64_t n, int64_t h, int64_t w, int64_t c)
{
    return case_param(b, "x", SHAPE(n, h, w, c), b->options.type, DRAW_NORMAL, 1.0);
}

static int pattern_conv(struct case_build *b, const char *name, int x, int64_t c, int64_t k, int r, int pad)
{
    return g_conv(b->g, x, case_param(b, name, SHAPE(k, r, r, c), F32, DRAW_NORMAL, 0.15), 1, pad);
}

// g_norm with its values drawn at random; its running statistics are compared.
static int pattern_norm_lengths(struct case_build *b, const char *name, int x, int lengths, const struct norm_layer *l)
{
    char slot[64];
    bool training = l->training, scale = l->scale;
    b->g->trains = b->options.gradient;
    int y = g_norm(b->g, name, x, lengths, l);
    snprintf(slot, sizeof slot, "%s.bias", name);
    case_adopt(b, slot, DRAW_NORMAL, 0.3, true);
    snprintf(slot, sizeof slot, "%s.weight", name);
    if (scale) case_adopt(b, slot, DRAW_NORMAL, 1.0, true);  // of either sign
    snprintf(slot, sizeof slot, "%s.running_mean", name);
    case_adopt(b, slot, DRAW_NORMAL, 0.5, false);
    if (training) case_watch(b, slot);
    snprintf(slot, sizeof slot, "%s.running_var", name);
    case_adopt(b, slot, DRAW_POSITIVE, 1.0, false);
    if (training) case_watch(b, slot);
    return y;
}

static int pattern_norm(struct case_build *b, const char *name, int x, bool training, bool scale)
{
    return pattern_norm_lengths(b, name, x, NONE, &(struct norm_layer){training, scale, true, 1e-5f, 0.6f});
}

// p: 0 an activation that is not 0 at 0, 1 a sum, 2 a max pool before it, 3 a convolution before it, to be folded. None may
// become part of a norm whose padding is zeros.
static void build_norm_lengths(struct case_build *b)
{
    const int kind = b->row->p[0];
    int x = pattern_x(b, 5, 6, 4, 8), lengths = case_input(b, "lengths", SHAPE(5), I32, DRAW_INDEX, 4), from = x;
    if (kind == 2) from = g_maxpool(b->g, x, 2, 2);
    if (kind == 3) from = pattern_conv(b, "w", x, 8, 8, 3, 1);
    int y = pattern_norm_lengths(b, "norm", from, lengths, &(struct norm_layer){kind != 3, false, true, 1e-5f, 0.6f});
    case_result(b, kind == 0 ? g_act(b->g, y, ACT_SIGMOID) : kind == 1 ? g_add(b->g, y, x) : y);
}

// p: side. The group of airbench: the odd last row of the first convolution need not be computed.
static void build_group(struct case_build *b)
{
    int side = b->row->p[0];
    int x = pattern_x(b, 2, side, side, 5);
    x = g_maxpool(b->g, pattern_conv(b, "w1", x, 5, 16, 3, 1), 2, 2);
    x = g_act(b->g, pattern_norm(b, "norm1", x, true, false), ACT_GELU);
    x = pattern_conv(b, "w2", x, 16, 10, 3, 1);
    case_result(b, g_act(b->g, pattern_norm(b, "norm2", x, true, true), ACT_SILU));
}

static void build_norm_act(struct case_build *b)
{
    int x = pattern_norm(b, "norm", pattern_x(b, 3, 4, 5, 17), true, true);
    case_result(b, g_act(b->g, x, ACT_GELU));
}

// The norm has two readers, its activation and the sum: nothing may be fused.
static void build_shared(struct case_build *b)
{
    int x = pattern_norm(b, "norm", pattern_x(b, 3, 4, 5, 17), true, true);
    case_result(b, g_add(b->g, g_act(b->g, x, ACT_SILU), x));
}

static void build_bias_act(struct case_build *b)
{
    int x = pattern_x(b, 2, 3, 3, 24), bias = case_param(b, "bias", SHAPE(24), F32, DRAW_NORMAL, 0.5);
    case_result(b, g_act(b->g, g_bias(b->g, x, bias), ACT_GELU));
}

// p: rank of x, activation, which stays a node of its own, only the bias trains
static void build_linear(struct case_build *b)
{
    const int *p = b->row->p;
    int (*const make)(struct case_build *, const char *, struct shape, enum dtype, enum draw, double) =
        p[2] ? case_input : case_param;
    int x = make(b, "x", p[0] == 2 ? SHAPE(12, 20) : SHAPE(3, 4, 20), b->options.type, DRAW_NORMAL, 1.0);
    int w = make(b, "w", SHAPE(24, 20), F32, DRAW_NORMAL, 0.3);
    int bias = case_param(b, "bias", SHAPE(24), F32, DRAW_NORMAL, 0.5);
    int y = g_linear(b->g, x, w, bias, b->options.type);
    case_result(b, p[1] ? g_act(b->g, y, (enum act)p[1]) : g_add(b->g, y, y));
}

// p: shortcut (0: x, 1: a convolution of x, 2: a norm of that, 3: a norm made before the other), activation behind the sum.
// The sum stays away from the kink of its activation at zero: one addend is a norm near zero, the other is far from it.
static int pattern_branch(struct case_build *b, int x)
{
    return pattern_norm(b, "norm0", pattern_conv(b, "w0", x, 16, 16, 1, 0), true, true);
}

static void build_residual(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_param(b, "x", SHAPE(3, 5, 4, 16), b->options.type, p[0] ? DRAW_NORMAL : DRAW_AWAY, p[0] ? 1.0 : 16.0);
    int other = x;
    if (p[0]) other = case_param(b, "other", SHAPE(3, 5, 4, 16), b->options.type, DRAW_AWAY, 16.0);
    int before = p[0] == 3 ? g_add(b->g, other, pattern_branch(b, x)) : NONE;
    int y = pattern_norm(b, "norm", pattern_conv(b, "w", x, 16, 16, 3, 1), true, true);
    if (p[0] == 1) other = g_add(b->g, pattern_conv(b, "w0", x, 16, 16, 1, 0), other);
    if (p[0] == 2) other = g_add(b->g, pattern_branch(b, x), other);
    if (before != NONE) other = before;
    case_result(b, g_act(b->g, p[0] % 2 ? g_add(b->g, other, y) : g_add(b->g, y, other), (enum act)p[1]));
}

// p: maximum (else mean), window, stride. A convolution of stride 1 before a pool that drops incomplete windows.
static void build_crop(struct case_build *b)
{
    const int *p = b->row->p;
    int x = pattern_conv(b, "w", pattern_x(b, 2, 8, 8, 3), 3, 9, 3, 1);
    union attr a = {.pool = {.k = {p[1], p[1]}, .stride = {p[2], p[2]}}};
    case_result(b, graph_node(b->g, p[0] ? OP_MAXPOOL : OP_AVGPOOL, &x, 1, &a, NULL));
}

// A frozen first layer: convolution, bias and activation in one.
static void build_frozen(struct case_build *b)
{
    int x = case_input(b, "x", SHAPE(2, 7, 7, 3), b->options.type, DRAW_NORMAL, 1.0);
    int w = case_input(b, "w", SHAPE(24, 2, 2, 3), F32, DRAW_NORMAL, 0.3);
    int bias = case_input(b, "bias", SHAPE(24), F32, DRAW_NORMAL, 0.5);
    case_result(b, g_act(b->g, g_bias(b->g, g_conv(b->g, x, w, 1, 0), bias), ACT_GELU));
}

// The same, but the bias trains: backward needs the sum before the activation.
static void build_half_frozen(struct case_build *b)
{
    int x = case_input(b, "x", SHAPE(2, 7, 7, 3), b->options.type, DRAW_NORMAL, 1.0);
    int w = case_input(b, "w", SHAPE(24, 2, 2, 3), F32, DRAW_NORMAL, 0.3);
    int bias = case_param(b, "bias", SHAPE(24), F32, DRAW_NORMAL, 0.5);
    case_result(b, g_act(b->g, g_bias(b->g, g_conv(b->g, x, w, 1, 0), bias), ACT_GELU));
}

// p: pool between convolution and norm, learned scale, bias of the convolution
static void build_fold(struct case_build *b)
{
    const int *p = b->row->p;
    int x = case_input(b, "x", SHAPE(2, 8, 7, 5), b->options.type, DRAW_NORMAL, 1.0);
    int w = case_input(b, "w", SHAPE(16, 3, 3, 5), F32, DRAW_NORMAL, 0.15);
    int bias = p[2] ? case_input(b, "bias", SHAPE(16), F32, DRAW_NORMAL, 0.5) : NONE;
    struct conv_attr a = {.stride = {1, 1}, .before = {1, 1}, .after = {1, 1}, .groups = 1};
    x = g_conv_full(b->g, x, w, bias, &a);
    if (p[0]) x = g_maxpool(b->g, x, 2, 2);
    case_result(b, g_act(b->g, pattern_norm(b, "norm", x, false, p[1]), ACT_GELU));
}

// p: percent dropped, whether the dropped part is the second of the sum, whether the sum has another reader, RMS norm. The end of
// a layer of an encoder: dropout, residual, layer norm.
static void build_post_norm(struct case_build *b)
{
    const int *p = b->row->p;
    struct graph *g = b->g;
    struct shape shape = SHAPE(2, 9, 24);
    int x = case_param(b, "x", shape, b->options.type, DRAW_NORMAL, 1.0);
    int residual = case_param(b, "residual", shape, b->options.type, DRAW_NORMAL, 1.0);
    if (p[0]) {
        int key, step;
        case_dropout(b, &key, &step);
        x = g_dropout(g, x, key, step, (float)p[0] / 100.0f, 5);
    }
    int sum = p[1] ? g_add(g, residual, x) : g_add(g, x, residual);
    g->trains = b->options.gradient;
    int y = p[3] ? g_rms_norm(g, sum, NONE, 1e-5f) : g_layer_norm(g, "norm", sum, 1e-5f);
    if (!p[3]) case_adopt(b, "norm.weight", DRAW_POSITIVE, 1.0, true);
    if (!p[3]) case_adopt(b, "norm.bias", DRAW_NORMAL, 0.5, true);
    case_result(b, p[2] ? g_add(g, y, sum) : y);
}

// One layer of a Transformer encoder: attention whose heads lie in one matrix, then two products, the first of them with bias and
// activation.
static void build_encoder(struct case_build *b)
{
    struct graph *g = b->g;
    int x = case_param(b, "x", SHAPE(2, 6, 12), b->options.type, DRAW_NORMAL, 1.0);
    int lengths = case_input(b, "lengths", SHAPE(2), I32, DRAW_CONSTANT, 5);
    int part[3];
    static const char *const name[] = {"q", "k", "v"};
    for (int i = 0; i < 3; i++)
        part[i] = g_linear(g, x, case_param(b, name[i], SHAPE(12, 12), F32, DRAW_NORMAL, 0.2), NONE, b->options.type);
    struct attention a = {.q = g_concat(g, part, 3, 2), .kv = NONE, .lengths = lengths, .q_lengths = NONE, .key = NONE,
                          .step = NONE, .attr = {.heads = 3}};
    int y = g_attention(g, &a);
    int bias = case_param(b, "bias", SHAPE(20), F32, DRAW_NORMAL, 0.5);
    y = g_linear(g, g_add(g, x, y), case_param(b, "up", SHAPE(20, 12), F32, DRAW_NORMAL, 0.2), bias, b->options.type);
    case_result(b, g_act(g, y, ACT_GELU_TANH));
}

// A recurrent layer with its parameters, of a sample with all words and one that is shorter.
static void build_lstm_layer(struct case_build *b)
{
    static const char *const name[] = {"weight_ih_l1", "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"};
    struct graph *g = b->g;
    int x = case_param(b, "x", SHAPE(2, 4, 6), b->options.type, DRAW_NORMAL, 1.0);
    int lengths = case_input(b, "lengths", SHAPE(2), I32, DRAW_INDEX, 5);
    g->trains = b->options.gradient;
    int y = g_lstm_layer(g, "rnn", 1, x, &(struct lstm){.lengths = lengths, .directions = 2, .hidden = 3});
    for (int i = 0; i < 8; i++)
        case_adopt(b, arena_text(&g->arena, "rnn.%s%s", name[i / 2], i % 2 ? "_reverse" : ""), DRAW_NORMAL, 0.5, true);
    case_result(b, y);
}

// Results and final states of layers with initial states, whose gradients all count: of several words (p[0]) or one.
static void build_lstm_states(struct case_build *b)
{
    struct graph *g = b->g;
    int words = b->row->p[0], lengths = NONE;
    enum dtype t = b->options.type;
    int x = case_param(b, "x", SHAPE(5, words, 12), t, DRAW_NORMAL, 1.0);
    int w = case_param(b, "w", SHAPE(12, 3), F32, DRAW_NORMAL, 0.5);
    if (words > 1) lengths = case_input(b, "lengths", SHAPE(5), I32, DRAW_INDEX, words + 1);
    struct lstm_states s = {case_param(b, "h0", SHAPE(5, 3), t, DRAW_NORMAL, 0.5),
                            case_param(b, "c0", SHAPE(5, 3), F32, DRAW_NORMAL, 0.5)};
    int h = g_lstm(g, x, w, &(struct lstm){.lengths = lengths, .directions = 1, .states = &s});
    if (g->error) return;
    int all[] = {g_reshape(g, h, SHAPE(5, words * 3)), s.h, g_cast(g, s.c, t)};
    case_result(b, g_concat(g, all, 3, 1));
}

// p: width of x, 6 units. Dropout of what the product reads, one mask per sample.
static void build_sru_layer(struct case_build *b)
{
    struct graph *g = b->g;
    int x = case_param(b, "x", SHAPE(3, 4, b->row->p[0]), b->options.type, DRAW_NORMAL, 1.0), key, step;
    struct sru_layer how = {.lengths = case_input(b, "lengths", SHAPE(3), I32, DRAW_INDEX, 6), .hidden = 3,
                      .attr = {.directions = 2, .act = ACT_TANH, .p = 0.3f, .site = 2}};
    case_dropout(b, &key, &step);
    how.key = key, how.step = step;
    g->trains = b->options.gradient;
    int y = g_sru_layer(g, "rnn", x, g_dropout_shared(g, x, key, step, 0.3f, 1), &how);
    case_adopt(b, "rnn.weight", DRAW_NORMAL, 0.5, true);
    case_adopt(b, "rnn.bias", DRAW_NORMAL, 0.5, true);
    case_result(b, y);
}

static void build_gru_cell(struct case_build *b)
{
    int x = case_param(b, "x", SHAPE(3, 5), b->options.type, DRAW_NORMAL, 1.0);
    int h = case_param(b, "h", SHAPE(3, 4), b->options.type, DRAW_NORMAL, 1.0);
    static const char *const name[] = {"w_ih", "w_hh", "b_ih", "b_hh"};
    const struct shape shape[] = {SHAPE(12, 5), SHAPE(12, 4), SHAPE(12), SHAPE(12)};
    int p[4];
    for (int i = 0; i < 4; i++) p[i] = case_param(b, name[i], shape[i], F32, DRAW_NORMAL, 0.5);
    case_result(b, g_gru_cell(b->g, x, h, p));
}

// p: the shortcut has a convolution and a norm. A residual block as it is evaluated: two convolutions and a sum remain.
static void build_fold_block(struct case_build *b)
{
    int x = case_input(b, "x", SHAPE(2, 7, 6, 16), b->options.type, DRAW_NORMAL, 1.0), other = x;
    int y = g_act(b->g, pattern_norm(b, "norm1", pattern_conv(b, "w1", x, 16, 24, 3, 1), false, true), ACT_RELU);
    y = pattern_norm(b, "norm2", pattern_conv(b, "w2", y, 24, 16, 1, 0), false, true);
    if (b->row->p[0]) other = pattern_norm(b, "norm0", pattern_conv(b, "w0", x, 16, 16, 1, 0), false, true);
    case_result(b, g_act(b->g, g_add(b->g, y, other), ACT_RELU));
}

#define TRAINS (CASE_PATTERN | CASE_GRADIENT)
const struct op_case cases_pattern[] = {
    {"group of an odd side", OP_COUNT, build_group, TRAINS, {9}, 0},
    {"group of an even side", OP_COUNT, build_group, TRAINS, {8}, 0},
    {"norm, activation", OP_COUNT, build_norm_act, TRAINS, {0}, 0},
    {"norm with lengths, activation", OP_COUNT, build_norm_lengths, TRAINS, {0}, 0},
    {"norm with lengths, sum", OP_COUNT, build_norm_lengths, TRAINS, {1}, 0},
    {"max pool, norm with lengths", OP_COUNT, build_norm_lengths, TRAINS, {2}, 0},
    {"convolution, norm with lengths: not to be folded", OP_COUNT, build_norm_lengths, CASE_PATTERN | CASE_FOLD, {3}, 0},
    {"norm that is read twice", OP_COUNT, build_shared, TRAINS, {0}, 0},
    {"bias, activation", OP_COUNT, build_bias_act, TRAINS, {0}, 0},
    {"product, bias", OP_COUNT, build_linear, TRAINS, {2, 0}, 0},
    {"product, shape, bias", OP_COUNT, build_linear, TRAINS, {3, 0}, 0},
    {"frozen product, bias", OP_COUNT, build_linear, TRAINS, {2, 0, 1}, 0},
    {"frozen product, shape, bias", OP_COUNT, build_linear, TRAINS, {3, 0, 1}, 0},
    {"product, shape, bias, activation", OP_COUNT, build_linear, TRAINS, {3, ACT_SILU}, 0},
    {"norm, sum, relu", OP_COUNT, build_residual, TRAINS, {0, ACT_RELU}, 0},
    {"norm, sum of what comes later, relu", OP_COUNT, build_residual, TRAINS, {1, ACT_RELU}, 0},
    {"two norms, sum, relu", OP_COUNT, build_residual, TRAINS, {2, ACT_RELU}, 0},
    {"two norms, the other first, sum, relu", OP_COUNT, build_residual, TRAINS, {3, ACT_RELU}, 0},
    {"norm, sum", OP_COUNT, build_residual, TRAINS, {1, ACT_NONE}, 0},
    {"norm, sum, silu", OP_COUNT, build_residual, TRAINS, {1, ACT_SILU}, 0},
    {"residual, layer norm", OP_COUNT, build_post_norm, TRAINS, {0, 0, 0}, 0},
    {"dropout, residual, layer norm", OP_COUNT, build_post_norm, TRAINS, {30, 0, 0}, 0},
    {"residual, dropout, layer norm", OP_COUNT, build_post_norm, TRAINS, {30, 1, 0}, 0},
    {"residual that is read twice, layer norm", OP_COUNT, build_post_norm, TRAINS, {30, 0, 1}, 0},
    {"dropout, residual that is read twice, rms norm", OP_COUNT, build_post_norm, TRAINS, {30, 0, 1, 1}, 0},
    {"layer of an encoder", OP_COUNT, build_encoder, TRAINS, {0}, 0},
    {"layer of lstm", OP_COUNT, build_lstm_layer, TRAINS, {0}, 0},
    {"lstm, final states", OP_COUNT, build_lstm_states, TRAINS, {4}, 0},
    {"lstm, final states of one word", OP_COUNT, build_lstm_states, TRAINS, {1}, 0},
    {"layer of sru", OP_COUNT, build_sru_layer, TRAINS, {5}, 0},
    {"layer of sru with a skip input", OP_COUNT, build_sru_layer, TRAINS, {6}, 0},
    {"gru cell", OP_COUNT, build_gru_cell, TRAINS, {0}, 0},
    {"convolution, 3x3 max pool", OP_COUNT, build_crop, TRAINS, {1, 3, 3}, 0},
    {"convolution, 3x3 mean pool", OP_COUNT, build_crop, TRAINS, {0, 3, 3}, 0},
    {"convolution, overlapping max pool", OP_COUNT, build_crop, TRAINS, {1, 3, 2}, 0},
    {"frozen convolution, bias, activation", OP_COUNT, build_frozen, CASE_PATTERN, {0}, 0},
    {"frozen convolution, bias that trains, activation", OP_COUNT, build_half_frozen, TRAINS, {0}, 0},
    {"fold convolution, norm", OP_COUNT, build_fold, CASE_PATTERN | CASE_FOLD, {0, 0, 0}, 0},
    {"fold convolution, scaled norm", OP_COUNT, build_fold, CASE_PATTERN | CASE_FOLD, {0, 1, 0}, 0},
    {"fold convolution with a bias, norm", OP_COUNT, build_fold, CASE_PATTERN | CASE_FOLD, {0, 1, 1}, 0},
    {"fold convolution, max pool, norm", OP_COUNT, build_fold, CASE_PATTERN | CASE_FOLD, {1, 0, 0}, 0},
    {"fold a residual block", OP_COUNT, build_fold_block, CASE_PATTERN | CASE_FOLD, {0}, 0},
    {"fold a residual block with two norms", OP_COUNT, build_fold_block, CASE_PATTERN | CASE_FOLD, {1}, 0},
    {"convolution, max pool, scaled norm: not to be folded", OP_COUNT, build_fold, CASE_PATTERN | CASE_FOLD,
     {1, 1, 0}, 0},
    {0},
};
