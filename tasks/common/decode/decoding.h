// SPDX-License-Identifier: Apache-2.0
// The contract between networks that write a sequence for another sequence, their training and their search (search_graph.h).
//
// A batch has the fields "source" i32[B,S], "source.length" i32[B], "target" i32[B,T] and "target.length" i32[B]: ids of a joint
// vocabulary, each sequence with a BPE_EOS at the end, padded with BPE_PAD. S and T are the limits of the batch's bucket.
// s->is.length is T; in a decoding the most words of an answer of this bucket, its end included.
//
// A decoding has B samples with `beam` hypotheses each, N = B x beam; a sample's hypotheses are adjacent. Hypotheses grow
// together, from BPE_BOS. A network keeps its state per sample and per hypothesis in slots (step_slot, step_keep).
#pragma once

#include "data/text/bpe.h"
#include "tasks/common/step/step.h"

// The words that hypotheses have so far. All have the same number.
struct decoder_prefix {
    int token;   // i32[N]: the last word of each, at first BPE_BOS
    int at;      // i32[1]: its position, from 0
    int count;   // i32[N]: at + 1 in each row
    int64_t beam;
    bool seen;   // the attention of the word is read: decoding_attention
};

struct decoding {
    // Teacher forcing: the decoder reads `input`, i32[B,T] with BPE_BOS first -> [B,T,C], before the output layer.
    int (*states)(struct step *, int source, int lengths, int input);
    // Writes the inputs of `next` that depend on the source into slots, and resets the caches.
    void (*encode)(struct step *, int source, int lengths, int64_t beam);
    // Computes one more word of each hypothesis -> [N,C]. Reads decoding_lengths, the slots of `encode` and the caches; updates
    // the caches.
    int (*next)(struct step *, const struct decoder_prefix *);
    // The output layer: its weights f32[V,C]; *bias, NONE before, may become f32[V]. V is decoding_symbols.
    int (*output)(struct step *, int *bias);
    // Slot `number`, [B,..], that `encode` writes; NONE: there are no more.
    int (*memory)(struct step *, int number);
    // Slot `number`, [N,..], whose rows move with their hypotheses when the beam is reordered; NONE: there are no more.
    int (*cache)(struct step *, int64_t hypotheses, int number);
};
// The `own` of a model is its decoder, or a struct that begins with it.
static inline const struct decoding *decoding_of(const struct setting *c)
{
    return c->model->own;
}
static inline int64_t decoding_symbols(const struct setting *c)  // of the joint vocabulary, the special ones included
{
    return c->data->field[0].classes;
}
static inline int decoding_logits(struct step *s, int states)  // [..,C] -> [..,V], of the activations' type
{
    int bias = NONE, w = decoding_of(s->setting)->output(s, &bias);
    graph_scope(s->g, "output");
    return g_linear(s->g, states, w, bias, s->setting->dtype);
}
// S of the batch's bucket, and the slot i32[B] with the lengths of the sources. A decoding may have fewer samples than the batch
// of the feed.
static inline int64_t decoding_source(const struct step *s)
{
    return s->setting->feed[s->program->feed]->field[0].shape[s->is.bucket].dim[0];
}
static inline int decoding_lengths(struct step *s)
{
    return step_slot(s, "source.length", SHAPE(s->is.batch), I32);
}
// The slot f32[N,S] with the attention of the last word; `next` writes it only if a program reads it. Each beam has its own.
static inline int decoding_attention(struct step *s, int64_t beam)
{
    char *name = arena_text(&s->g->arena, "attention.%lld", (long long)beam);
    return step_slot(s, name, SHAPE(s->is.batch * beam, decoding_source(s)), F32);
}
