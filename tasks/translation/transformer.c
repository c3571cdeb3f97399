// SPDX-License-Identifier: Apache-2.0
// The Transformer (Vaswani et al. 2017): one table of symbols for source, target and output layer, sinusoidal positions, as many
// layers in the decoder as in the encoder. Slots have the names of torch.nn.Transformer.
#include "tasks/common/layers/net_transformer.h"
#include "tasks/translation/keys.h"
#include "tasks/translation/translation.h"

#include <math.h>
#include <stdlib.h>

#define NORM_EPS 1e-5f
static const char POSITIONS[] = "positions";

struct writing {  // a network into a graph
    struct net net;
    const struct translation_keys *keys;
    struct net_transformer layer;
    const struct setting *setting;
};

static struct writing writing_of(struct step *s)
{
    const struct translation_keys *keys = translation_keys(s->setting->recipe);
    struct writing w = {.net = net_of(s), .keys = keys, .setting = s->setting};
    w.net.eps = NORM_EPS;
    net_dropout_at(&w.net, (float)keys->dropout);
    w.layer = (struct net_transformer){.feed_forward = keys->feed_forward, .heads = (int)keys->heads, .pre_norm = keys->norm,
                                       .attention_p = (float)keys->attention_dropout, .act_p = (float)keys->act_dropout,
                                       .lengths = NONE, .source = NONE, .source_lengths = NONE};
    return w;
}

static int symbols(struct writing *w)
{
    int64_t width = w->keys->width;
    struct init init = {INIT_NORMAL, (float)(1 / sqrt((double)width))};
    return graph_param(w->net.g, "embedding.weight", SHAPE(decoding_symbols(w->setting), width), init, ROLE_EMBEDDING);
}

// Symbols [..] and their positions: rows `at` of the table, or its first rows.
static int embed(struct writing *w, int index, int at)
{
    struct graph *g = w->net.g;
    if (g->error) return NONE;
    const struct translation_keys *k = w->keys;
    graph_scope(g, "embedding");
    int places = graph_state(g, POSITIONS, SHAPE(k->positions, k->width), F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    int x = g_scale(g, g_gather(g, symbols(w), index), (float)sqrt((double)k->width));
    if (at == NONE) places = g_slice(g, places, 0, 0, g->value[index].shape.dim[1]);
    else places = g_reshape(g, g_gather(g, places, at), SHAPE(k->width));
    return net_dropout(&w->net, g_cast(g, g_add(g, x, places), w->setting->dtype));
}

static int run_layers(struct writing *w, const char *stack, int x, const int *source)
{
    struct graph *g = w->net.g;
    for (int i = 0; i < w->keys->layers; i++) {
        w->layer.source = source ? source[i] : NONE;
        x = net_transformer_layer(&w->net, arena_text(&g->arena, "%s.layers.%d", stack, i), x, &w->layer);
    }
    return w->keys->norm ? g_layer_norm(g, arena_text(&g->arena, "%s.norm", stack), x, NORM_EPS) : x;
}

static int encode_source(struct writing *w, int source, int lengths)
{
    w->layer.decoder = false, w->layer.lengths = lengths;
    return run_layers(w, "encoder", embed(w, source, NONE), NULL);
}

// Keys and values of the source for every layer of the decoder.
static int *read_source(struct writing *w, int memory)
{
    struct graph *g = w->net.g;
    int *source = arena_alloc(&g->arena, (size_t)w->keys->layers * sizeof *source);
    for (int i = 0; i < w->keys->layers; i++)
        source[i] = net_source(&w->net, arena_text(&g->arena, "decoder.layers.%d", i), memory);
    return source;
}

static int transformer_states(struct step *s, int source, int lengths, int input)
{
    struct writing w = writing_of(s);
    const int *read = read_source(&w, encode_source(&w, source, lengths));
    w.layer.decoder = true, w.layer.lengths = step_input(s, "target.length"), w.layer.source_lengths = lengths;
    return run_layers(&w, "decoder", embed(&w, input, NONE), read);
}

// ---- decoding

static int transformer_memory(struct step *s, int number)
{
    const struct translation_keys *k = translation_keys(s->setting->recipe);
    char *name = arena_text(&s->g->arena, "source.%d", number);
    struct shape shape = SHAPE(s->is.batch, decoding_source(s), 2 * k->width);
    return number < k->layers ? step_slot(s, name, shape, s->setting->dtype) : NONE;
}

static int transformer_cache(struct step *s, int64_t hypotheses, int number)
{
    const struct translation_keys *k = translation_keys(s->setting->recipe);
    char *name = arena_text(&s->g->arena, "cache.%d.%lld", number, (long long)hypotheses);
    return number < k->layers ? step_slot(s, name, SHAPE(hypotheses, s->is.length, 2 * k->width), s->setting->dtype) : NONE;
}

static void transformer_encode(struct step *s, int source, int lengths, int64_t beam)
{
    (void)beam;  // hypotheses of a sample read the same source, and nothing of a cache before they wrote it
    struct writing w = writing_of(s);
    const int *read = read_source(&w, encode_source(&w, source, lengths));
    for (int i = 0; i < w.keys->layers; i++) step_keep(s, transformer_memory(s, i), read[i]);
}

static int transformer_next(struct step *s, const struct decoder_prefix *p)
{
    struct writing w = writing_of(s);
    struct graph *g = s->g;
    int64_t hypotheses = s->is.batch * p->beam, width = w.keys->width;
    int x = g_reshape(g, embed(&w, p->token, p->at), SHAPE(hypotheses, 1, width)), seen = NONE;
    struct net_decoding d = {.at = p->at, .count = p->count};
    w.layer.decoder = true, w.layer.decoding = &d, w.layer.source_lengths = decoding_lengths(s);
    for (int i = 0; i < w.keys->layers && !g->error; i++) {
        d.cache = transformer_cache(s, hypotheses, i);
        w.layer.source = transformer_memory(s, i);
        w.layer.seen = p->seen && i == w.keys->layers - 1 ? &seen : NULL;
        x = net_transformer_layer(&w.net, arena_text(&g->arena, "decoder.layers.%d", i), x, &w.layer);
    }
    if (seen != NONE) step_keep(s, decoding_attention(s, p->beam), seen);
    if (w.keys->norm) x = g_layer_norm(g, "decoder.norm", x, NORM_EPS);
    return g_reshape(g, x, SHAPE(hypotheses, width));
}

static int transformer_output(struct step *s, int *bias)
{
    (void)bias;
    struct writing w = writing_of(s);
    return symbols(&w);
}

int transformer_begin(const struct setting *c, struct session *session, struct dataset *view)
{
    (void)view;
    const struct translation_keys *k = translation_keys(c->recipe);
    size_t bytes = (size_t)(k->positions * k->width) * sizeof(float);
    float *table = zalloc(bytes);
    net_positions(k->positions, k->width, table);
    int rc = session_put(session, POSITIONS, table, 0, bytes);
    free(table);
    return rc;
}

const struct decoding transformer_decoder = {.states = transformer_states, .encode = transformer_encode,
                                                  .next = transformer_next, .output = transformer_output,
                                                  .memory = transformer_memory, .cache = transformer_cache};
