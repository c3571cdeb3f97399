// SPDX-License-Identifier: Apache-2.0
// The networks of CIFAR10. Each is a function that writes the network into a graph. in[0]: x[N,H,W,3], normalised; out[0]:
// logits[N,classes] in f32.
#pragma once

#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/common/layers/net.h"

// Groups of parameters. The bias of the whitening layer trains at first and is frozen early.
enum { GROUP_REST, GROUP_WHITENING };

extern const struct model cifar10_models[];  // ends with name NULL

void airbench_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
int airbench_begin(const struct setting *, struct session *, struct dataset *);  // uploads the whitening filters
void resnet9_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void resnet56_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
void resnet164_forward(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
struct net cifar10_net(struct step *, float eps);  // activation, norms and products of the recipe

struct whiten_images {
    const uint8_t *at;  // [n,h,w,c]
    int64_t n, h, w, c;
    const float *mean, *std;  // [c]
};
// Computes the first layer of the network airbench: the eigenvectors of the covariance of the images' patches of `side` x `side`
// pixels, each divided by the root of its eigenvalue, and their negatives. weight[2*side*side*c, side, side, c].
void whiten(const struct whiten_images *, int64_t side, float *weight);
