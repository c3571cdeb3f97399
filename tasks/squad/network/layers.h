// SPDX-License-Identifier: Apache-2.0
// Layers that the models of words share (docs/squad.md names the publications). Parameters have the names of the authors'
// programs. Shapes: contexts x[B,T,C], questions y[B,Q,C].
#pragma once

#include "tasks/squad/network/squad_networks.h"

enum { LAYERS_MOST = 3 };  // recurrent layers of one encoder

// Values that all parts of one forward pass need.
struct reading {
    struct step *step;
    struct graph *g;
    enum dtype dtype;          // of activations
    int64_t hidden, layers;    // units of each direction of a recurrent layer; layers of an encoder
    int lengths, asked;        // i32[B]: words of each context and of each question
    int key, counter;          // of dropouts; key NONE: no dropout
    float p, word_p;
};
struct reading layers_reading(struct step *);
int layers_begin(const struct setting *, struct session *, struct dataset *view);  // hook of struct model: uploads vectors

// ---- words
int layers_words(struct reading *, const char *field);  // the field's words as vectors, with dropout
int layers_features(struct reading *);                  // [B,T,FEATURES]
// Aligns y with each word of x: attention with relu(W x) and relu(W y).
int layers_align(struct reading *, int x, int y);

// ---- sequences
typedef int layers_cell(struct reading *, const char *name, int x, int lengths);  // one layer: both directions side by side
layers_cell layers_lstm, layers_sru;
// out[i] is the output of layer i for x[B,T,C].
void layers_encode(struct reading *, layers_cell *, const char *name, int x, int lengths, int out[LAYERS_MOST]);

// ---- pieces
int layers_dropout(struct reading *, int x, float p);   // one draw per sample and channel
int layers_matrix(struct reading *, const char *name, int64_t out, int64_t in);
int layers_join(struct reading *, const int x[], int count);  // side by side
// softmax(q k') v over the first `lengths` places of k and v.
int layers_attend(struct reading *, int q, int k, int v, int lengths);
// softmax(scores) x over the first `lengths` places; scores f32[B,T], x[B,T,C] -> [B,C]
int layers_average(struct reading *, int scores, int x, int lengths);
int layers_summary(struct reading *, const char *name, int weighed, int y);  // summary of a question with weights from `weighed`
// x W y: scores f32[B,T] of the places of x[B,T,C] with respect to y[B,D].
int layers_point(struct reading *, const char *name, int x, int y);
