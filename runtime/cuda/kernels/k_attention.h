// SPDX-License-Identifier: Apache-2.0
// Attention of queries to keys and values in strided rows; scores exist in registers only. In f32, or with many channels, a warp
// owns one query (or, for the gradients of keys and values, one key) and meets the other side 32 at a time. In 16 bits per block
// owns 64 of them and multiplies on tensor cores. No sum uses atomics: one kernel computes the gradients of queries, another one
// the gradients of keys and values, and each computes the scores again.
#pragma once

#include "runtime/cuda/kernel.h"

enum { K_ATTENTION_CHANNELS = 128 };  // most channels a head

struct k_attention {
    const void *q, *kv[2], *y, *dy;  // the first row of queries, of keys, of values; y and dy: backward
    int64_t pitch, kv_pitch;         // from token to token
    const int32_t *length, *q_length;  // [B], or NULL
    const int32_t *key, *step;       // of the dropout, or NULL
    void *to;                        // y
    void *dq, *dkv[2];               // laid out as q and kv; any may be NULL
    float *lse;                      // [B,H,T]; written forward (or NULL), read backward
    float *delta;                    // scratch [B,H,T]: sums of dy y; backward
    int samples, tokens, keys, heads, channels;  // tokens: queries
    bool causal;
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
