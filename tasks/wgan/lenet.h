// SPDX-License-Identifier: Apache-2.0
// The network in whose features digits are compared: LeNet-5 (LeCun et al. 1998) as gan-metrics-pytorch trained it on MNIST, with
// tanh, largest values of 2 x 2, and 84 features before the last layer. A picture of 28 x 28 is resized to 32 x 32 bilinearly,
// with values from 0 to 1: so it names 98.79% of the test digits, padded with zeros 98.21%, which the origin does not say.
//
// Cost: 0.4 million multiplications per picture, on all threads.
#pragma once

#include "runtime/common/base/error.h"

enum { LENET_SIDE = 28, LENET_PICTURE = LENET_SIDE * LENET_SIDE, LENET_FEATURES = 84, LENET_LABELS = 10 };
#define LENET_FILE "lenet.pth"

struct lenet;
// The published file, which its SHA-256 identifies; no other is read.
int lenet_open(const char *path, struct lenet **) MUST_CHECK;
struct lenet *lenet_draw(void);  // random weights of a fixed seed, for digits that are drawn
void lenet_free(struct lenet *);

// pictures[count, 28, 28] -> features[count, 84]
void lenet_features(const struct lenet *, const uint8_t *pictures, int64_t count, float *features);
int lenet_label(const struct lenet *, const float features[LENET_FEATURES]);  // what the last layer takes them for
