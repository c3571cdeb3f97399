// SPDX-License-Identifier: Apache-2.0
// Element-wise operators besides formulas: activations with their bias, casts, dropout, random numbers. One pass each, with
// 16-byte loads and stores for any number of channels; results may overwrite x. Only the gradient of a bias needs two passes and
// scratch: k_reduce.h describes how columns are summed.
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

struct k_act {          // y = act(x + bias)
    const void *x;
    const float *bias;  // [channels]
    void *y;
    int64_t count, channels;
    enum dtype type;    // of x and y
    enum act act;
};
K_LAUNCHER(k_act);

struct k_act_grad {     // dx = dy act'(x + bias), dbias = sums of dx over rows
    const void *dy, *x;
    const float *bias;
    void *dx;           // or NULL
    float *dbias;       // or NULL
    float *partial;     // k_columns_bytes(k_columns_of(type, 1, rows, channels)) if dbias is computed
    int64_t rows, channels;
    enum dtype type;
    enum act act;
};
K_LAUNCHER(k_act_grad);

struct k_cast {         // from and to differ
    const void *x;
    void *y;
    int64_t count;
    enum dtype from, to;
};
K_LAUNCHER(k_cast);

struct k_dropout {
    const void *x;
    const int32_t *key, *step;
    void *y;
    int64_t count;
    int64_t last, each; // shared: a mask[B,last] for samples of `each` elements; else each is 0
    float p, factor;    // factor: element_factor(p)
    uint32_t site;
    enum dtype type;
};
K_LAUNCHER(k_dropout);

struct k_random {
    const int32_t *key, *step;
    void *y;
    int64_t count;
    float a, b;         // y = a + b * a number of the distribution
    uint32_t site;
    bool normal;
    enum dtype type;
};
K_LAUNCHER(k_random);

struct k_mask {             // rows of `row` elements, `below` per position, `each` per sample: `fill` outside [first, length)
    const void *x;
    const int32_t *first, *length;  // first: or NULL
    void *y;
    int64_t count, row, below, each;
    float fill;
    enum dtype type;
};
K_LAUNCHER(k_mask);
