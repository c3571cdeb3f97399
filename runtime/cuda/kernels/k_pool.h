// SPDX-License-Identifier: Apache-2.0
// Pooling on the device: a thread computes a few adjacent channels of one pixel of the result.
#pragma once

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernel.h"

enum k_pool_kind { K_MAXPOOL, K_MAXPOOL_GRAD, K_AVGPOOL, K_AVGPOOL_GRAD };

struct k_pool {
    enum k_pool_kind kind;
    const void *from;       // x, or dy
    const uint8_t *at_from; // K_MAXPOOL_GRAD
    void *to;               // y, or dx; K_MAXPOOL: may be NULL
    uint8_t *at;            // K_MAXPOOL; may be NULL
    enum dtype type;
    int per;                // channels per thread: 16 bytes, or one
    uint32_t count;         // threads
    struct k_divide across, columns, lines;  // of the result: threads per pixel, pixels per line, lines per image
    struct k_divide stride[2];
    int64_t c, h, w, p, q;  // x is h by w, y is p by q
    int k[2], pad[2];
    bool counts_pad;        // K_AVGPOOL: divide by the whole window
};
K_LAUNCHER(k_pool);
