// SPDX-License-Identifier: Apache-2.0
// Layers of a Transformer (Vaswani et al. 2017), with the names of torch.nn.TransformerEncoderLayer and DecoderLayer below NAME:
// self-attention, in a decoder attention to the source, two products with ReLU between; each with a residual and a norm after or
// before it. Causal: a position attends only to itself and earlier positions, as in a decoder, but there is no source.
#pragma once

#include "tasks/common/layers/net.h"

// Word by word: x[N,1,C] is the word at position `at` of each hypothesis.
struct net_decoding {
    int cache;      // slot [N,T,2C]: keys and values of the words before it
    int at, count;  // i32[1]; i32[N]: at + 1
};

// What the speedruns of GPT-2 changed: RMS norms without a scale, also of queries and keys by head, rotary positions, no biases,
// and weights q_proj, k_proj and v_proj apart, because Muon makes each matrix orthogonal.
struct net_rotary {
    float base;
};

struct net_transformer {
    int64_t feed_forward;
    int heads;
    bool decoder, causal, pre_norm;
    enum act act;                // between the two products; ACT_NONE: ReLU
    // Instead of `act`: the square of ReLU, or gated (Shazeer 2020), where the first product is twice as wide and SiLU of its
    // first half is multiplied by its second half.
    enum net_between { NET_PLAIN, NET_SQUARED, NET_GATED } between;
    const struct net_rotary *rotary;  // NULL: as published in 2017
    const struct net_begin {     // initial weights: of all products, and of those that end a part; NULL: as fairseq's
        struct init weight, last;
    } *begin;
    float attention_p, act_p;    // dropout of probabilities, and after the activation; of residuals: of the net
    int lengths;                 // i32[B]: places of each sequence; of a decoding NONE
    int source, source_lengths;  // decoder: net_source of this layer [B,S,2C], i32[B]. Of x[N,..] B divides N
    const struct net_decoding *decoding;  // NULL: the whole sequence
    int *seen;  // of a decoding: receives the attention to the source, f32[N,S], the mean over heads; NULL: not needed
};
int net_transformer_layer(struct net *, const char *name, int x, const struct net_transformer *);
// Keys and values of the source for a decoder's layer: memory[B,S,C] -> [B,S,2C].
int net_source(struct net *, const char *name, int memory);
// Sinusoidal positions, f32[rows,width]: sines, then cosines, of wave lengths from 2 pi to 10^4 2 pi (tensor2tensor's order).
void net_positions(int64_t rows, int64_t width, float *into);
