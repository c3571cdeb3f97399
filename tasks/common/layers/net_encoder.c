// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values are one product with the three weights side by side.
#include "tasks/common/layers/net.h"

static int attention(struct net *n, const char *layer, int x, const struct net_encoder *e)
{
    static const char *const part[] = {"query", "key", "value"};
    struct graph *g = n->g;
    const struct init zero = {INIT_ZERO, 0};
    enum dtype to = n->step->setting->dtype;
    int64_t width = net_channels(n, x);
    int weight[3], bias[3];
    graph_scope(g, "%s.attention", layer);
    for (int i = 0; i < 3; i++) {
        char *name = arena_text(&g->arena, "%s.attention.self.%s", layer, part[i]);
        weight[i] = graph_param(g, net_join(n, name, "weight"), SHAPE(width, width), e->weight, ROLE_MATRIX);
        bias[i] = graph_param(g, net_join(n, name, "bias"), SHAPE(width), zero, ROLE_BIAS);
    }
    int qkv = g_linear(g, x, g_concat(g, weight, 3, 0), g_concat(g, bias, 3, 0), to);
    float p = n->key == NONE ? 0 : n->p;
    struct attention a = {.q = qkv, .kv = NONE, .lengths = e->lengths, .q_lengths = NONE, .key = n->key, .step = n->counter,
                          .attr = {.heads = e->heads, .p = p, .site = step_site(n->step)}};
    int y = g_attention(g, &a);
    return net_dense(n, net_join(n, layer, "attention.output.dense"), y, &(struct net_dense){width, to, e->weight, zero, false});
}

static int feed_forward(struct net *n, const char *layer, int x, const struct net_encoder *e)
{
    const struct net_dense in = {e->feed_forward, n->step->setting->dtype, e->weight, {INIT_ZERO, 0}, false};
    struct net_dense out = in;
    out.out = net_channels(n, x);
    graph_scope(n->g, "%s.feed_forward", layer);
    x = net_dense(n, net_join(n, layer, "intermediate.dense"), x, &in);
    return net_dense(n, net_join(n, layer, "output.dense"), g_act(n->g, x, ACT_GELU), &out);
}

int net_encoder_layer(struct net *n, const char *name, int x, const struct net_encoder *e)
{
    struct graph *g = n->g;
    char *norm = net_join(n, name, "attention.output.LayerNorm");
    x = g_layer_norm(g, norm, g_add(g, x, net_dropout(n, attention(n, name, x, e))), n->eps);
    norm = net_join(n, name, "output.LayerNorm");
    return g_layer_norm(g, norm, g_add(g, x, net_dropout(n, feed_forward(n, name, x, e))), n->eps);
}

int net_encoder_input(struct net *n, const struct net_texts *t)
{
    struct graph *g = n->g;
    struct net_table table = {t->symbols, t->width, n->step->is.length, t->weight};
    graph_scope(g, "embeddings");
    int x = net_embedding(n, NET_ENCODER_WORDS, t->tokens, &table);
    table.rows = 2;
    x = g_add(g, x, net_embedding(n, "embeddings.token_type_embeddings.weight", t->segments, &table));
    table.rows = t->positions;
    x = g_add(g, x, net_embedding(n, "embeddings.position_embeddings.weight", NONE, &table));
    return net_dropout(n, g_layer_norm(g, "embeddings.LayerNorm", g_cast(g, x, n->step->setting->dtype), n->eps));
}
