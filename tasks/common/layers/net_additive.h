// SPDX-License-Identifier: Apache-2.0
// Additive attention (Bahdanau et al. 2015): the score of a query and a key is v . tanh(Wq q + Wk k), the weights are a softmax
// over the keys below the length. Normalised: (g v / |v|) . tanh(Wq q + Wk k + b) (Salimans and Kingma 2016). Parameters have the
// names of MLPerf's BahdanauAttention below NAME.
//
// Cost: one tensor [T,B,S,units] of the activations' type, and its gradient.
#pragma once

#include "tasks/common/layers/net.h"

struct net_additive {
    const char *name;
    int64_t units;
    bool normalised;
    float range;  // parameters begin uniform in +-range
};
struct net_additive_source {
    int memory, keys, lengths;  // [B,S,C]; net_additive_keys of it, [B,S,units]; i32[B]
};
int net_additive_keys(struct net *, const struct net_additive *, int memory);
// Queries q[B,T,..] -> the weighted means of the memory, [B,T,C], and the weights, f32[B,T,S].
int net_additive_attend(struct net *, const struct net_additive *, int q, const struct net_additive_source *, int *weights);
