// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: a warp makes the probabilities of a frame, then a block takes a sample, frame by frame.
#pragma once

#include "runtime/cuda/kernel.h"

enum { K_CTC_GUARD = 2 };  // states before the first, which are 0

struct k_ctc_numbers {           // of ctc.h
    float *m;
    int32_t *e;
};

struct k_ctc {
    const void *x;               // [B,T,K]
    const int32_t *length, *count;  // or NULL
    const void *labels;          // [B,L]
    float *loss, *losses, *skipped;  // or NULL
    void *d;                     // or NULL
    struct k_ctc_numbers y;      // [B,T,K]
    struct k_ctc_numbers before; // [B,T,S] with S = 2 L + 1, if d is computed
    struct k_ctc_numbers with;   // [B,2,K_CTC_GUARD + S]
    float *share;                // [B,S], if d is computed
    float *each;                 // [B]: losses
    int samples, frames, classes, most;  // most: L
    bool bytes;                  // labels are u8
    enum dtype type;
};
K_LAUNCHER(k_ctc);
