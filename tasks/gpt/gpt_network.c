// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): learned positions, layer norms before each part, GELU in its tanh form, and the table of tokens as
// output layer, too. Slots of a layer have the names of torch.nn.TransformerEncoderLayer.
#include "tasks/gpt/gpt_network.h"

#include "tasks/common/layers/net_transformer.h"
#include "tasks/gpt/gpt_keys.h"

#include <math.h>

#define NORM_EPS 1e-5f

struct writing {  // a network into a graph
    struct net net;
    const struct gpt_keys *keys;
    const struct setting *setting;
    struct net_begin begin;
    struct net_transformer layer;
};

// Products that end a part begin with less, because each adds to the sum of all before (GPT-2).
static void begin_writing(struct writing *w, struct step *s)
{
    const struct gpt_keys *keys = gpt_keys(s->setting->recipe);
    *w = (struct writing){.net = net_of(s), .keys = keys, .setting = s->setting};
    w->net.eps = NORM_EPS;
    net_dropout_at(&w->net, (float)keys->dropout);
    w->begin.weight = (struct init){INIT_NORMAL, 0.02f};
    w->begin.last = (struct init){INIT_NORMAL, (float)(0.02 / sqrt(2 * (double)keys->layers))};
    w->layer = (struct net_transformer){.feed_forward = keys->feed_forward, .heads = (int)keys->heads, .causal = true,
                                        .pre_norm = true, .act = ACT_GELU_TANH, .begin = &w->begin,
                                        .attention_p = (float)keys->attention_dropout, .lengths = NONE, .source = NONE,
                                        .source_lengths = NONE};
}

static int table(struct writing *w)
{
    struct shape shape = SHAPE(gpt_tokens(w->setting), w->keys->width);
    return graph_param(w->net.g, "embedding.weight", shape, (struct init){INIT_NORMAL, 0.02f}, ROLE_EMBEDDING);
}

// Tokens [..] at the places `at`, or, NONE, at the first ones of the block.
static int embed(struct writing *w, int tokens, int at)
{
    struct graph *g = w->net.g;
    if (g->error) return NONE;
    graph_scope(g, "embedding");
    int64_t rows = gpt_block(w->setting), length = shape_last(&g->value[tokens].shape);
    struct net_table places = {rows, w->keys->width, length, {INIT_NORMAL, 0.02f}};
    int x = g_add(g, g_gather(g, table(w), tokens), net_embedding(&w->net, "positions.weight", at, &places));
    return net_dropout(&w->net, g_cast(g, x, w->setting->dtype));
}

static int run_layers(struct writing *w, int x, struct net_decoding *d)
{
    struct graph *g = w->net.g;
    struct step *s = w->net.step;
    struct shape shape = SHAPE(1, gpt_block(w->setting), 2 * w->keys->width);
    w->layer.decoding = d;
    for (int i = 0; i < w->keys->layers; i++) {
        if (d) d->cache = step_slot(s, arena_text(&g->arena, "cache.%d", i), shape, w->setting->dtype);
        x = net_transformer_layer(&w->net, arena_text(&g->arena, "layers.%d", i), x, &w->layer);
    }
    graph_scope(g, "norm");
    return g_layer_norm(g, "norm", x, NORM_EPS);
}

int gpt_states(struct step *s, int tokens)
{
    struct writing w;
    begin_writing(&w, s);
    return run_layers(&w, embed(&w, tokens, NONE), NULL);
}

int gpt_next(struct step *s, int token, int at)
{
    struct writing w;
    struct graph *g = s->g;
    begin_writing(&w, s);
    int64_t width = w.keys->width;
    struct net_decoding d = {.at = at, .count = g_cast(g, g_map(g, MAP_SHIFT, g_cast(g, at, F32), 1, 0), I32)};
    int x = g_reshape(g, embed(&w, token, at), SHAPE(1, 1, width));
    return g_reshape(g, run_layers(&w, x, &d), SHAPE(1, width));
}

int gpt_logits(struct step *s, int states)
{
    struct writing w;
    begin_writing(&w, s);
    graph_scope(s->g, "output");
    return g_linear(s->g, states, table(&w), NONE, s->setting->dtype);
}
