// SPDX-License-Identifier: Apache-2.0
// The document reader of DrQA (Chen et al. 2017).
//
//   words     vectors of both texts; to each word of the context also the aligned question and its features
//   encoders  three layers of BiLSTM for each text; all layers' outputs side by side
//   question  one vector: a weighted sum with weights from the words themselves
//   answer    two bilinear products of that vector and each word of the context
//
// tokens[B,T], question[B,Q] -> two of f32[B,T]
#include "tasks/squad/network/layers.h"

static int encode_text(struct reading *r, const char *name, int x, int lengths)
{
    int layer[LAYERS_MOST];
    layers_encode(r, layers_lstm, name, x, lengths, layer);
    return layers_dropout(r, layers_join(r, layer, (int)r->layers), r->p);
}

void drqa_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    (void)in;
    struct reading r = layers_reading(s);
    int x = layers_words(&r, "tokens"), y = layers_words(&r, "question");
    int read[] = {x, layers_align(&r, x, y), layers_features(&r)};
    x = encode_text(&r, "doc_rnn", layers_join(&r, read, 3), r.lengths);
    y = encode_text(&r, "question_rnn", y, r.asked);
    graph_group(s->g, GROUP_HEAD);
    graph_scope(s->g, "pointer");
    y = layers_summary(&r, "self_attn.linear", y, y);
    out[0] = layers_point(&r, "start_attn.linear", x, y);
    out[1] = layers_point(&r, "end_attn.linear", x, y);
    graph_group(s->g, GROUP_ENCODER);
}
