// SPDX-License-Identifier: Apache-2.0
// Rows of a few channels in 16 bits, widened with zeros to a multiple of 16 bytes for engines that move as much at a time, and
// the gradients of filters that were widened, narrowed again.
#pragma once

#include "runtime/cuda/kernel.h"

enum { K_CHANNELS = 8 };  // of the wide rows

struct k_channels_pad {
    const void *from;  // [rows, c] of 16 bits
    void *to;          // [rows, K_CHANNELS]
    int64_t rows;
    int c;
};
K_LAUNCHER(k_channels_pad);

struct k_channels_take {
    const void *from;  // [rows, K_CHANNELS] of `type`, 16 bits
    float *to;         // [rows, c]
    int64_t rows;
    int c;
    enum dtype type;
};
K_LAUNCHER(k_channels_take);
