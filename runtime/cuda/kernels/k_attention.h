// SPDX-License-Identifier: Apache-2.0
// Attention over packed qkv[B,T,3,H,D]. A warp owns one query (or, for the gradients of keys and values, one key) and meets
// the other side 32 at a time, so that scores exist in registers only. No sum uses atomics: gradients of queries and those of
// keys and values are two kernels, each of which computes the scores again.
#ifndef DAWN_K_ATTENTION_H
#define DAWN_K_ATTENTION_H

#include "runtime/cuda/kernel.h"

enum { K_ATTENTION_CHANNELS = 128 };  // most channels a head

struct k_attention {
    const void *qkv, *y, *dy;        // y and dy: backward
    const int32_t *length;           // [B], or NULL
    const int32_t *key, *step;       // of the dropout, or NULL
    void *to;                        // y, or dqkv
    float *lse;                      // [B,H,T]; written forward (or NULL), read backward
    float *delta;                    // scratch [B,H,T]: sums of dy y; backward
    int samples, tokens, heads, channels;
    float p, scale;
    uint32_t site;
    enum dtype type;
};
K_LAUNCHER(k_attention);
K_LAUNCHER(k_attention_grad);

#endif
