// SPDX-License-Identifier: Apache-2.0
// Layers that networks of several tasks share, as functions that write them into a graph. The caller names them: parameters are
// NAME.weight and NAME.bias. All return a value, NONE after an error of the graph.
#pragma once

#include "tasks/common/step/step.h"

// Settings that all layers of a network share. A network sets only the ones that its layers use.
struct net {
    struct step *step;
    struct graph *g;
    enum act act;           // after each norm
    enum winograd winograd; // of the convolutions
    bool unscaled;          // batch norms have a bias alone
    float eps, momentum;    // of the norms
    int key, counter;       // of dropout; key NONE: no dropout
    float p;                // its rate
};
struct net net_of(struct step *);
void net_dropout_at(struct net *, float p);  // sets key, counter and p: in a training, where p is above 0

// ---- pieces
int64_t net_channels(const struct net *, int x);  // 1 after an error
char *net_join(const struct net *, const char *name, const char *part);  // "NAME.PART"; an empty name: "PART"
int net_dropout(struct net *, int x);

// ---- matrices: x[..,C]
struct net_dense {
    int64_t out;
    enum dtype to;
    struct init weight, bias;
    bool unbiased;
};
int net_dense(struct net *, const char *name, int x, const struct net_dense *);
// Rows index[..] of a table SLOT[rows,width]; NONE: its first `length` rows.
struct net_table {
    int64_t rows, width, length;
    struct init init;
};
int net_embedding(struct net *, const char *slot, int index, const struct net_table *);
// Flattens x[N,..] and makes f32 logits of it.
int net_head(struct net *, const char *name, int x, const struct net_dense *);

// ---- images: x[N,H,W,C]
struct net_conv {
    int64_t k;
    int side, stride, pad;
};
int net_conv_by(struct net *, int x, int w, int stride, int pad);  // by filters w[K,R,S,C]
// Filters begin as N(0, 2 / (K R S)): a layer and its activation keep the variance of the gradient (He et al. 2015).
int net_conv(struct net *, const char *name, int x, struct net_conv how);
int net_norm(struct net *, const char *name, int x);
int net_act(struct net *, int x);
int net_norm_act(struct net *, const char *name, int x);
int net_conv_norm_act(struct net *, const char *filter, const char *norm, int x, struct net_conv how);
int net_double(struct net *, int x);  // twice as high and wide: each pixel four times

// Stages of residual blocks "layerS.B"; the first block of each stage but the first has stride 2.
enum { NET_STAGES = 4 };
struct net_block {
    const char *name;
    int64_t width;  // inner channels
    int stride;
    bool bottleneck;
};
struct net_stages {
    int count;
    int64_t width[NET_STAGES], blocks[NET_STAGES];
    bool bottleneck;
    int (*block)(struct net *, int x, const struct net_block *);
};
int net_stages(struct net *, int x, const struct net_stages *);
// Replaces numbers of a network by the numbers of a recipe key, if the key has any. Fails if the counts differ.
void net_take(struct net *, const char *key, const struct recipe_list *list, int64_t into[], int count);

// ---- texts: x[B,T,C]
// A layer of an encoder: x = norm(x + dropout(attention(x))); x = norm(x + dropout(W2 gelu(W1 x))) (Devlin et al. 2019), with
// Hugging Face's names of tensors below NAME.
struct net_encoder {
    int64_t feed_forward;
    int heads, lengths;  // lengths i32[B]: places of each sequence
    struct init weight;
};
int net_encoder_layer(struct net *, const char *name, int x, const struct net_encoder *);
// The input of the first layer: word + segment + position, layer norm, dropout, as "embeddings.*". `weight` initialises matrices.
struct net_texts {
    int tokens, segments;  // i32[B,T]
    int64_t symbols, width, positions;
    struct init weight;
};
#define NET_ENCODER_WORDS "embeddings.word_embeddings.weight"  // [symbols,width]
int net_encoder_input(struct net *, const struct net_texts *);
