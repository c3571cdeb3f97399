// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): learned positions, layer norms before each part, GELU in its tanh form, and the table of tokens as
// output layer, too. And the network of its speedruns (Jordan et al. 2024): struct net_rotary. Slots of a layer have the names of
// torch.nn.TransformerEncoderLayer.
#include "tasks/gpt/gpt_network.h"

#include "tasks/gpt/gpt_keys.h"

#include <math.h>

#define NORM_EPS 1e-5f

struct writing {  // a network into a graph
    struct net net;
    const struct gpt_keys *keys;
    const struct setting *setting;
    struct net_begin begin;
    struct net_modern modern;
    struct net_transformer layer;
    bool rotates;
};

// Products that end a part begin with less, because each adds to the sum of all before.
static void begin_writing(struct writing *w, struct step *s)
{
    const struct gpt_keys *keys = gpt_keys(s->setting->recipe);
    *w = (struct writing){.net = net_of(s), .keys = keys, .setting = s->setting};
    w->rotates = s->setting->model->parts & PART_ROTARY;
    w->net.eps = w->rotates ? NET_MODERN_EPS : NORM_EPS;
    net_dropout_at(&w->net, (float)keys->dropout);
    w->begin.weight = (struct init){INIT_NORMAL, 0.02f};
    w->begin.last = (struct init){INIT_NORMAL, (float)(0.02 / sqrt(2 * (double)keys->layers))};
    w->layer = (struct net_transformer){.feed_forward = keys->feed_forward, .heads = (int)keys->heads, .causal = true,
                                        .pre_norm = true, .act = ACT_GELU_TANH, .begin = &w->begin,
                                        .attention_p = (float)keys->attention_dropout, .lengths = NONE, .source = NONE,
                                        .source_lengths = NONE};
    if (w->rotates) net_modern_layer(&keys->modern, keys->width, &w->modern, &w->layer);
}

static int norm(struct writing *w, int x)
{
    struct graph *g = w->net.g;
    return w->rotates ? g_rms_norm(g, x, NONE, NET_MODERN_EPS) : g_layer_norm(g, "norm", x, NORM_EPS);
}

static int table(struct writing *w)
{
    struct graph *g = w->net.g;
    struct init init = {INIT_NORMAL, w->rotates ? 1 : 0.02f};
    graph_group(g, w->rotates ? GPT_EMBEDDING : GPT_HEAD);
    int v = graph_param(g, "embedding.weight", SHAPE(gpt_tokens(w->setting), w->keys->width), init, ROLE_EMBEDDING);
    graph_group(g, GPT_BODY);
    return v;
}

static int head(struct writing *w)
{
    struct graph *g = w->net.g;
    if (!w->rotates) return table(w);
    graph_group(g, GPT_HEAD);
    struct shape shape = SHAPE(gpt_tokens(w->setting), w->keys->width);
    int v = graph_param(g, "head.weight", shape, (struct init){INIT_ZERO, 0}, ROLE_MATRIX);
    graph_group(g, GPT_BODY);
    return v;
}

// Learned ones: rows `at` of a table, or, NONE, its first ones.
static int positions(struct writing *w, int at, int64_t length)
{
    struct graph *g = w->net.g;
    struct net_table places = {gpt_block(w->setting), w->keys->width, length, {INIT_NORMAL, 0.02f}};
    graph_group(g, GPT_HEAD);
    int x = net_embedding(&w->net, "positions.weight", at, &places);
    graph_group(g, GPT_BODY);
    return x;
}

// Tokens [..] at the places `at`, or, NONE, at the first ones of the block.
static int embed(struct writing *w, int tokens, int at)
{
    struct graph *g = w->net.g;
    if (g->error) return NONE;
    graph_scope(g, "embedding");
    int x = g_gather(g, table(w), tokens);
    x = w->rotates ? norm(w, x) : g_add(g, x, positions(w, at, shape_last(&g->value[tokens].shape)));
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
    return norm(w, x);
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
    int z = g_linear(s->g, states, head(&w), NONE, s->setting->dtype);
    float cap = (float)w.keys->cap;
    return cap > 0 ? g_scale(s->g, g_act(s->g, g_scale(s->g, z, 1 / cap), ACT_TANH), cap) : z;
}

// Logits exist for some rows at a time, for any number of tokens: 65,536 rows of 50,257 would be 6.6 GB in 16 bits.
int gpt_loss(struct step *s, int states, int labels, int out[3])
{
    struct writing w;
    begin_writing(&w, s);
    graph_scope(s->g, "output");
    struct linear_xent l = {.x = states, .w = head(&w), .bias = NONE, .labels = labels, .weights = NONE,
                            .smoothing = step_trains(s) ? (float)s->setting->recipe->label_smoothing : 0,
                            .cap = (float)w.keys->cap};
    return g_linear_xent(s->g, &l, out);
}
