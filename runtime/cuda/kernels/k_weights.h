// SPDX-License-Identifier: Apache-2.0
// Casts many f32 tensors to one 16-bit type in one launch: a network has tens of weights, most too small to fill a GPU.
#pragma once

#include "runtime/cuda/kernel.h"

// Tensors per launch: the struct is a kernel argument, which is limited to 4 KiB.
enum { K_WEIGHTS = 64, K_WEIGHTS_BLOCK = 2048 /* elements per block */ };

struct k_weights {
    struct {
        const float *from;  // 16-byte aligned, as is `to`
        void *to;
        int64_t count, zeros;  // elements of `from`; further ones of `to`, which become 0
    } of[K_WEIGHTS];
    int first[K_WEIGHTS + 1];  // first block of each tensor; the last entry is the number of blocks
    int tensors;
    enum dtype type;           // of `to`: BF16 or F16
};
K_LAUNCHER(k_weights);
