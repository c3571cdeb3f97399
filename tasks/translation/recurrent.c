// SPDX-License-Identifier: Apache-2.0
// Translators of LSTM layers with additive attention. No decoder here reads the attention of the word before (input feeding), so
// a training reads whole targets with one call per layer. Encoder and decoder have as many layers. Inputs of layers have dropout,
// and from the third layer on an input is added to its layer's result. One table of symbols serves both languages. Slots have the
// names of MLPerf's GNMT in PyTorch.
#include "tasks/common/layers/net_additive.h"
#include "tasks/translation/keys.h"
#include "tasks/translation/translation.h"

struct recurrent {
    struct decoding decoder;
    const char *first, *attention;  // names of the first layer of the decoder, and of the attention
    bool bidirectional;  // the first layer of the encoder
    bool normalised;     // attention
    // The attention's query is the output of the last layer of the decoder, and a linear layer joins both for the output layer,
    // which has no bias. Else the first layer asks, and all later layers read the answer.
    bool asks_late;
    bool passes;         // the decoder begins with the final states of the encoder, layer by layer; else with zeros
};

enum { RESIDUAL_FROM = 2 };
#define RANGE 0.1f  // all parameters begin uniform within it, as in MLPerf's GNMT and TBD's Seq2Seq

struct writing {  // a network into a graph
    struct net net;
    const struct recurrent *how;
    struct net_additive attention;
    struct lstm_states *states;  // of the decoder's layers; NULL: zeros, and nobody reads the final ones
    int64_t layers, width;
};

static struct writing writing_of(struct step *s)
{
    const struct translation_keys *k = translation_keys(s->setting->recipe);
    const struct recurrent *how = s->setting->model->own;
    struct writing w = {.net = net_of(s), .how = how, .layers = k->layers, .width = k->width};
    net_dropout_at(&w.net, (float)k->dropout);
    w.attention = (struct net_additive){how->attention, k->width, how->normalised, RANGE};
    return w;
}

static struct lstm_states *states_new(struct writing *w)
{
    struct lstm_states *states = arena_alloc(&w->net.g->arena, (size_t)w->layers * sizeof *states);
    for (int i = 0; i < w->layers; i++) states[i] = (struct lstm_states){NONE, NONE};
    return states;
}

static int embed(struct writing *w, int index)
{
    struct graph *g = w->net.g;
    struct net_table table = {decoding_symbols(w->net.step->setting), w->width, 0, {INIT_UNIFORM, RANGE}};
    graph_scope(g, "embedding");
    return g_cast(g, net_embedding(&w->net, "encoder.embedder.weight", index, &table), w->net.step->setting->dtype);
}

// Layer `number` of a stack. A residual adds x[0]; the layer reads x[1], which may hold more.
static int run_layer(struct writing *w, const char *name, int number, const int x[2], struct lstm how)
{
    struct graph *g = w->net.g;
    graph_scope(g, "%s", name);
    how.hidden = w->width, how.range = RANGE;
    int y = g_lstm_layer(g, name, 0, net_dropout(&w->net, x[1]), &how);
    return number < RESIDUAL_FROM ? y : g_add(g, y, x[0]);
}

// Leaves the final states in the decoder's, if it begins with them.
static int encode_source(struct writing *w, int source, int lengths)
{
    int x = embed(w, source);
    for (int i = 0; i < w->layers; i++) {
        char *name = arena_text(&w->net.g->arena, "encoder.rnn_layers.%d", i);
        struct lstm how = {.lengths = lengths, .directions = i == 0 && w->how->bidirectional ? 2 : 1,
                           .states = w->how->passes ? &w->states[i] : NULL};
        x = run_layer(w, name, i, (int[]){x, x}, how);
    }
    return x;
}

// x[B,T,width] -> [B,T,width]. Queries of one sample are adjacent, so all hypotheses of a sample are queries of one sequence.
static int attend(struct writing *w, int x, const struct net_additive_source *source, int *weights)
{
    struct graph *g = w->net.g;
    if (g->error) return NONE;
    struct shape is = g->value[x].shape;
    int64_t samples = g->value[source->memory].shape.dim[0], queries = is.dim[0] * is.dim[1] / samples;
    int q = g_reshape(g, x, SHAPE(samples, queries, w->width));
    return g_reshape(g, net_additive_attend(&w->net, &w->attention, q, source, weights), is);
}

// Words x[B,T,width] -> the states for the output layer, and the attention's weights.
static int run_decoder(struct writing *w, int x, const struct net_additive_source *source, int *weights)
{
    struct graph *g = w->net.g;
    int context = NONE;
    for (int i = 0; i < w->layers; i++) {
        char *name = arena_text(&g->arena, "decoder.rnn_layers.%d", w->how->asks_late ? i : i - 1);
        int read = context == NONE ? x : g_concat(g, (int[]){x, context}, 2, 2);
        struct lstm how = {.lengths = NONE, .directions = 1, .states = w->states ? &w->states[i] : NULL};
        x = run_layer(w, i == 0 ? w->how->first : name, i, (int[]){x, read}, how);
        if (i == (w->how->asks_late ? w->layers - 1 : 0)) context = attend(w, x, source, weights);
    }
    if (!w->how->asks_late) return x;
    struct net_dense dense = {w->width, w->net.step->setting->dtype, {INIT_UNIFORM, RANGE}, {0}, .unbiased = true};
    graph_scope(g, "decoder.attention_layer");
    return net_dense(&w->net, "decoder.attention_layer", g_concat(g, (int[]){x, context}, 2, 2), &dense);
}

static int recurrent_states(struct step *s, int source, int lengths, int input)
{
    struct writing w = writing_of(s);
    if (w.how->passes) w.states = states_new(&w);
    struct net_additive_source read = {.memory = encode_source(&w, source, lengths), .lengths = lengths};
    read.keys = net_additive_keys(&w.net, &w.attention, read.memory);
    int weights;
    return run_decoder(&w, embed(&w, input), &read, &weights);
}

static int recurrent_output(struct step *s, int *bias)
{
    struct writing w = writing_of(s);
    struct init init = {INIT_UNIFORM, RANGE};
    int64_t rows = decoding_symbols(s->setting);
    int table = graph_param(s->g, "decoder.classifier.classifier.weight", SHAPE(rows, w.width), init, ROLE_MATRIX);
    if (!w.how->asks_late) *bias = graph_param(s->g, "decoder.classifier.classifier.bias", SHAPE(rows), init, ROLE_BIAS);
    return table;
}

// ---- decoding

enum { MEMORY, KEYS, MEMORIES };
static int recurrent_memory(struct step *s, int number)
{
    static const char *const names[] = {"source.memory", "source.keys"};
    struct shape shape = SHAPE(s->is.batch, decoding_source(s), translation_keys(s->setting->recipe)->width);
    return number < MEMORIES ? step_slot(s, names[number], shape, s->setting->dtype) : NONE;
}

// The output of layer i is number 2 i, its cell 2 i + 1.
static int recurrent_cache(struct step *s, int64_t hypotheses, int number)
{
    const struct translation_keys *k = translation_keys(s->setting->recipe);
    char *name = arena_text(&s->g->arena, "cache.%lld.%d", (long long)(hypotheses / s->is.batch), number);
    bool cell = number % 2;
    return number < 2 * k->layers ? step_slot(s, name, SHAPE(hypotheses, k->width), cell ? F32 : s->setting->dtype) : NONE;
}

// The state of each sample for each of its hypotheses; state NONE: zeros.
static int repeat_state(struct writing *w, int state, int64_t beam)
{
    struct graph *g = w->net.g;
    int64_t samples = w->net.step->is.batch;
    char *name = arena_text(&g->arena, "zeros.%lldx%lld", (long long)samples, (long long)w->width);
    if (state == NONE) state = graph_state(g, name, SHAPE(samples, w->width), F32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    int row = g_reshape(g, state, SHAPE(samples, 1, w->width));
    union attr spread = {.move = {.axes = 1u << 1, .shape = SHAPE(samples, beam, w->width), .factor = 1}};
    return g_reshape(g, graph_node(g, OP_BROADCAST, &row, 1, &spread, NULL), SHAPE(samples * beam, w->width));
}

static void recurrent_encode(struct step *s, int source, int lengths, int64_t beam)
{
    struct writing w = writing_of(s);
    w.states = states_new(&w);
    int memory = encode_source(&w, source, lengths);
    step_keep(s, recurrent_memory(s, MEMORY), memory);
    step_keep(s, recurrent_memory(s, KEYS), net_additive_keys(&w.net, &w.attention, memory));
    for (int i = 0; i < 2 * w.layers; i++) {
        int state = repeat_state(&w, i % 2 ? w.states[i / 2].c : w.states[i / 2].h, beam);
        step_keep(s, recurrent_cache(s, s->is.batch * beam, i), g_cast(s->g, state, i % 2 ? F32 : s->setting->dtype));
    }
}

static int recurrent_next(struct step *s, const struct decoder_prefix *p)
{
    struct writing w = writing_of(s);
    struct graph *g = s->g;
    int64_t hypotheses = s->is.batch * p->beam;
    int weights = NONE;
    struct net_additive_source read = {recurrent_memory(s, MEMORY), recurrent_memory(s, KEYS), decoding_lengths(s)};
    w.states = states_new(&w);
    for (int i = 0; i < w.layers; i++)
        w.states[i] = (struct lstm_states){recurrent_cache(s, hypotheses, 2 * i), recurrent_cache(s, hypotheses, 2 * i + 1)};
    int x = run_decoder(&w, g_reshape(g, embed(&w, p->token), SHAPE(hypotheses, 1, w.width)), &read, &weights);
    for (int i = 0; i < w.layers; i++) {
        step_keep(s, recurrent_cache(s, hypotheses, 2 * i), w.states[i].h);
        step_keep(s, recurrent_cache(s, hypotheses, 2 * i + 1), w.states[i].c);
    }
    step_keep(s, decoding_attention(s, p->beam), weights);
    return g_reshape(g, x, SHAPE(hypotheses, w.width));
}

#define DECODER                                                                                                        \
    {.states = recurrent_states, .encode = recurrent_encode, .next = recurrent_next, .output = recurrent_output,       \
     .memory = recurrent_memory, .cache = recurrent_cache}
const struct recurrent recurrent_gnmt = {.decoder = DECODER, .first = "decoder.att_rnn.rnn",
                                         .attention = "decoder.att_rnn.attn", .bidirectional = true, .normalised = true};
const struct recurrent recurrent_seq2seq = {.decoder = DECODER, .first = "decoder.rnn_layers.0",
                                            .attention = "decoder.attn", .asks_late = true, .passes = true};
