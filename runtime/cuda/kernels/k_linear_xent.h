// SPDX-License-Identifier: Apache-2.0
// An output layer's logits of some rows: to losses and, in their place, to gradients. A block works on a row.
#pragma once

#include "runtime/cuda/kernel.h"

// Rows [first, first + rows) of all. Arrays of one number per row begin at row 0 of all.
struct k_linear_xent {
    void *z;                         // [rows][width]; afterwards the gradient, if `back`. What follows the classes stays
    const void *labels;
    const float *bias, *weights;     // may be NULL
    float *losses, *counted, *hits;  // hits: may be NULL
    float *dbias;                    // may be NULL: += the sum over the rows; written by the first piece
    enum dtype type, label;
    float smoothing, cap;            // cap: 0 is none
    bool back;
    int64_t first, rows, classes, width;
};
K_LAUNCHER(k_linear_xent);

struct k_linear_xent_sum {
    const float *losses, *counted;
    float *loss, *rows, *count;      // may be NULL
    int64_t all;
    bool mean;
};
K_LAUNCHER(k_linear_xent_sum);

struct k_linear_xent_grad {
    const void *d;
    const float *dloss, *count;      // count: the divisor of a mean; NULL: no mean
    void *to;                        // may be `d`
    enum dtype type;
    int64_t elements;
};
K_LAUNCHER(k_linear_xent_grad);
