// SPDX-License-Identifier: Apache-2.0
// Layer norm and RMS norm over the last dimension: one warp per row, or per several short rows. A row is read from memory once
// and from the cache again. The gradients of scale and bias are sums down the columns (k_reduce.h).
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

struct k_layer_norm {
    const void *x, *residual;     // residual: or NULL
    const float *scale, *bias;    // RMS norm: or NULL, NULL
    const int32_t *key, *step;    // of the dropout of x, or NULL
    void *y, *sum;                // or NULL; sum: with a residual
    float *mean, *rstd;           // or NULL
    int64_t rows, channels;
    float eps, p, factor;         // factor: element_factor(p)
    uint32_t site;
    bool rms;
    enum dtype type;
};
K_LAUNCHER(k_layer_norm);

struct k_layer_norm_grad {
    const void *dy, *x;           // x: what was normalised
    const float *mean, *rstd, *scale;  // RMS norm: mean NULL; scale: or NULL
    const int32_t *key, *step;
    void *dsum, *dx;              // or NULL; dx: with a dropout
    float *dscale, *dbias;        // or NULL
    float *partial[2];            // k_columns_bytes(k_columns_of(type, 1, rows, channels)) each
    int64_t rows, channels;
    float p, factor;
    uint32_t site;
    enum dtype type;
};
K_LAUNCHER(k_layer_norm_grad);
