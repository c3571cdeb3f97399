// SPDX-License-Identifier: Apache-2.0
// Attention over packed qkv[B,T,3,H,D]; scores exist in registers only. In f32, or with many channels, a warp owns one query
// (or, for the gradients of keys and values, one key) and meets the other side 32 at a time. In 16 bits per block owns 64 of them
// and multiplies on tensor cores. No sum uses atomics: gradients of queries and those of keys and values are two kernels, each
// of which computes the scores again.
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
K_LAUNCHER(k_attention_delta);
// On tensor cores: 16 bits, rows of whole 16 bytes, few channels.
enum { K_ATTENTION_HALF = 64 };
K_LAUNCHER(k_attention_half);
K_LAUNCHER(k_attention_half_grad);

#endif
