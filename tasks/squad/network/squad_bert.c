// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019) with a head for answers. Slots have Hugging Face's tensor names without "bert.".
//
//   embeddings   word + position + segment, layer norm, dropout
//   layers       x = norm(x + dropout(attention(x))); x = norm(x + dropout(W2 gelu(W1 x)))
//   head         two scores for each position: beginning and end of the answer
//
// Matrices begin with a deviation of 0.02.
// tokens[B,T] -> x[B,T,C] -> two of f32[B,T]
#include "tasks/common/layers/net.h"
#include "tasks/squad/squad_keys.h"
#include "tasks/squad/network/squad_networks.h"

#define NORM_EPS 1e-12f
static const struct init WEIGHT = {INIT_NORMAL, 0.02f}, ZERO = {INIT_ZERO, 0};

void bert_forward(struct step *s, const int none[MODEL_VALUES], int out[MODEL_VALUES])
{
    (void)none;
    struct graph *g = s->g;
    struct net n = net_of(s);
    const struct squad_keys *own = squad_keys(s->setting->recipe);
    struct net_encoder layer = {own->feed_forward, (int)own->heads, step_input(s, "tokens.length"), WEIGHT};
    n.eps = NORM_EPS;
    net_dropout_at(&n, (float)own->dropout);
    graph_group(g, GROUP_ENCODER);
    const struct net_texts in = {step_input(s, "tokens"), step_input(s, "segments"), s->setting->data->field[0].classes,
                                 own->width,
                                 own->positions, WEIGHT};
    int x = net_encoder_input(&n, &in);
    for (int i = 0; i < own->layers; i++) x = net_encoder_layer(&n, arena_text(&g->arena, "encoder.layer.%d", i), x, &layer);
    graph_group(g, GROUP_HEAD);
    graph_scope(g, "qa_outputs");
    x = net_dense(&n, "qa_outputs", x, &(struct net_dense){2, F32, WEIGHT, ZERO, false});
    for (int i = 0; i < 2; i++) out[i] = g_reshape(g, g_slice(g, x, 2, i, i + 1), SHAPE(s->is.batch, s->is.length));
    graph_group(g, GROUP_ENCODER);
}
