// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. A hidden unit of an SRU is a thread that goes through all words: neighbours read adjacent elements. Four
// samples of one direction of an LSTM are a block that goes through all words; states stay in shared memory, and each word reads
// the recurrent weights from the L2 cache. Nothing is summed by atomics.
#pragma once

#include "runtime/cuda/kernels/k_reduce.h"

struct k_sru {
    const void *u, *x;               // x: skip input, or NULL for the fourth part of u
    const float *bias;
    const int32_t *length;           // or NULL
    const int32_t *key, *step;       // of the dropout, or NULL
    const void *dh, *states;         // backward: states is c
    void *h, *c;                     // forward; or NULL
    void *du, *dx;                   // backward; or NULL
    float *dbias;                    // or NULL
    float *partial;                  // backward, if dbias is computed: [B,D*2*H]
    int samples, words, directions, units;
    float p, factor;                 // factor: element_factor(p)
    uint32_t site;
    enum act act;
    enum dtype type;
};
K_LAUNCHER(k_sru);
K_LAUNCHER(k_sru_grad);

enum { K_LSTM_UNITS = 384 };  // most hidden units a direction with weights (shared memory)

struct k_lstm {
    const float *w;                  // [D,4H,H]; NULL: one word, and no state is multiplied
    const int32_t *length;           // or NULL
    const void *h0;                  // states, [B,D,H]: initial; or NULL for zeros
    const float *c0;
    const void *x;                   // forward
    void *h, *c, *gates, *h_last;    // forward; or NULL
    float *c_last;
    const void *dh_last;             // backward: of the final states; or NULL for zeros
    const float *dc_last;
    void *dh0;                       // or NULL
    float *dc0;
    const void *dh, *outputs, *states, *activations;  // backward: dh may be NULL; h, c and gates
    void *dx, *before;               // backward; or NULL
    void *packed;                    // k_lstm_bytes: the weights in the type of the activations
    int samples, words, directions, units;
    enum dtype type;
};
K_LAUNCHER(k_lstm);
K_LAUNCHER(k_lstm_grad);

// Forward the weights are packed as [D,H,4H], so that neighbours read adjacent ones; backward they keep their order.
static inline size_t k_lstm_bytes(int64_t directions, int64_t units)
{
    return (size_t)(directions * 4 * units * units) * sizeof(float);
}
