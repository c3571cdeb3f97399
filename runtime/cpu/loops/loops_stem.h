// SPDX-License-Identifier: Apache-2.0
// Vector loops for convolutions: the first layer, whose few input channels do not fill the registers of a general kernel, and
// the activation behind a convolution. Compiled once per instruction set, like loops.c.
#pragma once

#include "runtime/graph.h"

enum { STEM_CHANNELS = 4, STEM_SIDE = 3, STEM_LANES = 32 };  // limits of the stem kernel; k is rounded up to 32

struct stem {
    int64_t h, w, c, k, r, s, p, q;
    int stride[2], before[2];
    bool bf16;           // x and y, else f32
    enum act act;
    const void *x;
    void *y;
    float *filters;      // [r][s][c][k rounded up], f32
    float *bias;         // [k rounded up]
};

struct stem_loops {
    void (*run)(const struct stem *, int64_t begin, int64_t end);     // rows of outputs: image * p + row
    void (*activate)(float *, int64_t count, enum act);               // in place
};

const struct stem_loops *stem_loops(void);  // for this CPU
