// SPDX-License-Identifier: Apache-2.0
// BERT for pre-training (Devlin et al. 2019). Slots have Hugging Face's tensor names without "bert.".
//
//   encoder      net_encoder.c
//   masked       x = norm(gelu(W x)) at the masked places alone; logits = x times the table of words, with a bias
//   next         tanh(W x) of the first position; two scores
//
// bert-modern has the layers of gpt-modern (net_transformer.h: struct net_rotary), which see all places of a sample.
//
// Matrices begin with a deviation of 0.02.
#include "tasks/bert/bert_network.h"

#include "tasks/bert/bert_keys.h"

#define NORM_EPS 1e-12f
static const struct init WEIGHT = {INIT_NORMAL, 0.02f}, ZERO = {INIT_ZERO, 0};

static int encode(struct step *s, struct net *n, int64_t symbols)
{
    const struct bert_keys *k = bert_keys(s->setting->recipe);
    const struct net_texts in = {step_input(s, "tokens"), step_input(s, "segments"), symbols, k->width, k->positions, WEIGHT};
    const struct net_encoder layer = {k->feed_forward, (int)k->heads, step_input(s, "tokens.length"), WEIGHT};
    int x = net_encoder_input(n, &in);
    for (int i = 0; i < k->layers; i++) x = net_encoder_layer(n, arena_text(&s->g->arena, "encoder.layer.%d", i), x, &layer);
    return x;
}

static bool is_modern(const struct step *s)
{
    return s->setting->model->parts & PART_ROTARY;
}

static void choose_group(struct step *s, int group)
{
    graph_group(s->g, is_modern(s) ? group : BERT_BODY);
}

static int embed_modern(struct step *s, struct net *n, int64_t symbols)
{
    struct graph *g = s->g;
    int64_t width = bert_keys(s->setting->recipe)->width;
    struct net_table table = {symbols, width, s->is.length, WEIGHT};
    graph_scope(g, "embeddings");
    int x = net_embedding(n, NET_ENCODER_WORDS, step_input(s, "tokens"), &table);
    table.rows = 2;
    x = g_add(g, x, net_embedding(n, "embeddings.token_type_embeddings.weight", step_input(s, "segments"), &table));
    return net_dropout(n, g_cast(g, g_rms_norm(g, x, NONE, n->eps), s->setting->dtype));
}

static int encode_modern(struct step *s, struct net *n, int64_t symbols)
{
    struct graph *g = s->g;
    const struct bert_keys *k = bert_keys(s->setting->recipe);
    struct net_modern modern;
    struct net_transformer layer = {.feed_forward = k->feed_forward, .heads = (int)k->heads, .attention_p = (float)k->dropout,
                                    .lengths = step_input(s, "tokens.length"), .source = NONE, .source_lengths = NONE};
    net_modern_layer(&k->modern, k->width, &modern, &layer);
    int x = embed_modern(s, n, symbols);
    choose_group(s, BERT_BODY);
    for (int i = 0; i < k->layers; i++) x = net_transformer_layer(n, arena_text(&g->arena, "layers.%d", i), x, &layer);
    choose_group(s, BERT_HEAD);
    graph_scope(g, "norm");
    return g_rms_norm(g, x, NONE, n->eps);
}

// The output layer is as wide as the vocabulary: it sees the masked places, 15% of all.
static int predict_words(struct step *s, struct net *n, int x, int64_t symbols)
{
    struct graph *g = s->g;
    enum dtype to = s->setting->dtype;
    int64_t width = net_channels(n, x);
    graph_scope(g, "cls.predictions");
    x = g_gather(g, g_reshape(g, x, SHAPE(s->is.batch * s->is.length, width)), step_input(s, "places"));
    x = g_act(g, net_dense(n, "cls.predictions.transform.dense", x, &(struct net_dense){width, to, WEIGHT, ZERO, false}),
              ACT_GELU);
    x = g_layer_norm(g, "cls.predictions.transform.LayerNorm", x, n->eps);
    int words = graph_param(g, NET_ENCODER_WORDS, SHAPE(symbols, width), WEIGHT, ROLE_EMBEDDING);
    return g_linear(g, x, words, graph_param(g, "cls.predictions.bias", SHAPE(symbols), ZERO, ROLE_BIAS), to);
}

static int predict_next(struct step *s, struct net *n, int x)
{
    struct graph *g = s->g;
    int64_t width = net_channels(n, x);
    graph_scope(g, "cls.seq_relationship");
    x = g_reshape(g, g_slice(g, x, 1, 0, 1), SHAPE(s->is.batch, width));
    x = g_act(g, net_dense(n, "pooler.dense", x, &(struct net_dense){width, s->setting->dtype, WEIGHT, ZERO, false}), ACT_TANH);
    return net_dense(n, "cls.seq_relationship", x, &(struct net_dense){2, F32, WEIGHT, ZERO, false});
}

void bert_network(struct step *s, struct bert_answers *into)
{
    struct net n = net_of(s);
    int64_t symbols = s->setting->data->field[0].classes;
    n.eps = is_modern(s) ? NET_MODERN_EPS : NORM_EPS;
    net_dropout_at(&n, (float)bert_keys(s->setting->recipe)->dropout);
    choose_group(s, BERT_HEAD);
    int x = is_modern(s) ? encode_modern(s, &n, symbols) : encode(s, &n, symbols);
    into->words = predict_words(s, &n, x, symbols);
    into->next = predict_next(s, &n, x);
    choose_group(s, BERT_BODY);
}
