// SPDX-License-Identifier: Apache-2.0
// Losses and metrics on the device. A power of two of adjacent threads, at most a warp, works on a row.
#pragma once

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernel.h"

enum { K_LOSS_THREADS = 256 };

struct k_loss_rows {
    int64_t rows, k;
    int per;    // adjacent elements per load
    int shift;  // 2^shift threads per row
    int64_t blocks;
};

static inline struct k_loss_rows k_loss_rows_of(int64_t rows, int64_t k, int per)
{
    struct k_loss_rows r = {rows, k, per, 0, 0};
    while (r.shift < 5 && (int64_t)per << r.shift < k) r.shift++;
    int64_t at_once = K_LOSS_THREADS >> r.shift;
    r.blocks = k_divide_up(rows, at_once);
    return r;
}

// Two numbers per block.
static inline size_t k_loss_scratch(const struct k_loss_rows *r) { return 2 * sizeof(float) * (size_t)r->blocks; }

struct k_softmax {
    const void *x;
    void *y;
    enum dtype type;
    struct k_loss_rows rows;
};
K_LAUNCHER(k_softmax);

struct k_softmax_grad {
    const void *y, *dy;
    void *dx;
    enum dtype type;
    struct k_loss_rows rows;
};
K_LAUNCHER(k_softmax_grad);

// Kept of a row: its largest logit, 1 / (sum of exponentials), sum of its targets.
enum { K_XENT_KEPT = 3 };
struct k_xent {
    const void *x, *labels;          // labels or targets
    const float *targets, *weights;  // weights: may be NULL
    float *loss, *losses, *count, *kept;  // may be NULL
    float *partial;                  // scratch: the sum of each block, then what its rows count
    enum dtype type, label;
    float smoothing;
    bool mean;
    struct k_loss_rows rows;
};
K_LAUNCHER(k_xent);

struct k_xent_grad {
    const void *x, *labels;
    const float *targets, *weights, *count, *kept, *dloss, *drows;  // dloss, drows: may be NULL; count: of a mean
    void *dx;
    enum dtype type, label;
    float smoothing;
    struct k_loss_rows rows;
};
K_LAUNCHER(k_xent_grad);

struct k_correct {
    const void *x, *labels;
    const int32_t *before;
    int32_t *after;    // may be `before`
    int32_t *partial;  // scratch: hits per block
    enum dtype type, label;
    int top;
    struct k_loss_rows rows;
};
K_LAUNCHER(k_correct);

struct k_accumulate {
    const void *before, *x;
    void *after;  // may be `before`
    enum dtype type, more;
};
K_LAUNCHER(k_accumulate);
