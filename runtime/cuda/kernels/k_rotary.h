// SPDX-License-Identifier: Apache-2.0
// Rotary positions. A block takes some tokens: their angles are computed once, into shared memory, and serve all heads.
#pragma once

#include "runtime/cuda/kernel.h"

struct k_rotary {          // x[tokens, heads, 2 half] -> y; y may be x
    const void *x;
    const int32_t *at;     // or NULL
    void *y;
    int64_t tokens, t;     // t: tokens of a sample
    int heads, half;
    int each;              // one `at` per sample
    float sign;            // of the sines
    enum dtype type;
    uint64_t turn[ROTARY_MOST / 2];
};
K_LAUNCHER(k_rotary);
