// SPDX-License-Identifier: Apache-2.0
// Networks: each is one function that writes itself into a graph. Listed in one table (model.c).
#ifndef DAWN_MODEL_H
#define DAWN_MODEL_H

#include "runtime/graph.h"
#include "tasks/train/recipe.h"

struct model_build {
    const struct recipe *recipe;
    bool training;       // batch statistics and gradients; else running statistics
    bool first_trains;   // the bias of the whitening layer is trained in this graph
    int classes;
};

struct model {
    const char *name, *about;
    // x[N,H,W,3] normalised -> logits[N,classes] in f32
    int (*logits)(struct graph *, int x, const struct model_build *);
    const char *recipe;  // its own default; NULL: the data set's
    bool whitens;        // its first layer, "whiten.weight", is computed from the training images
    int64_t whiten_side; // side of its filters
};

extern const struct model model_table[];  // ends with name NULL
int model_find(const char *name, const struct model **) MUST_CHECK;

int model_record(struct graph *, int x, const struct model_build *);
int model_resnet9(struct graph *, int x, const struct model_build *);
int model_resnet56(struct graph *, int x, const struct model_build *);
int model_resnet164(struct graph *, int x, const struct model_build *);

// The first layer of a record network from n images[n,H,W,C] (u8): the eigenvectors of the covariance of its patches,
// each divided by the root of its eigenvalue, and their negatives. weight[2*s*s*C, s, s, C].
void model_whiten(const uint8_t *images, int64_t n, int64_t h, int64_t w, int64_t c, const float *mean, const float *std,
                  int64_t side, float *weight);

#endif
