// SPDX-License-Identifier: Apache-2.0
// GRU. Some samples of one direction are a block that goes through all words, as of an LSTM (k_recurrent.h), but states and sums
// are in global memory, which the L1 cache serves: so any number of units fits.
#pragma once

#include "runtime/cuda/kernel.h"

struct k_gru {
    const float *w, *bias;             // [D,3H,H]; bias[D,3H] or NULL
    const int32_t *length;             // or NULL
    const void *x;                     // forward
    void *h, *kept;                    // forward; or NULL
    const void *gates, *outputs, *dh;  // backward: kept and h
    void *dx, *before, *du;            // backward; or NULL
    void *packed;                      // the weights in the type of the activations; forward as [D,H,3H]
    float *rows;                       // K_GRU_ROWS parts of [H,K_GRU_SAMPLES] for each block
    int samples, words, directions, units;
    bool original;
    enum dtype type;
};
K_LAUNCHER(k_gru);
K_LAUNCHER(k_gru_grad);

enum { K_GRU_ROWS = 8, K_GRU_SAMPLES = 4 };  // parts of rows; samples of a block
static inline size_t k_gru_packed_bytes(int64_t directions, int64_t units)
{
    return ((size_t)(directions * 3 * units * units) * sizeof(float) + 63) & ~(size_t)63;
}
static inline size_t k_gru_rows_bytes(int64_t samples, int64_t directions, int64_t units)
{
    return (size_t)((samples + K_GRU_SAMPLES - 1) / K_GRU_SAMPLES * directions * K_GRU_ROWS * units * K_GRU_SAMPLES) *
           sizeof(float);
}
