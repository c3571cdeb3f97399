// SPDX-License-Identifier: Apache-2.0
// Data on the GPU: windows of an order, tables, counters, and augmentation: gather, mirror, shift with reflected borders,
// normalise and jitter in one pass from u8 to the type that the network reads.
#pragma once

#include "runtime/cuda/kernels/k_many.h"
#include "runtime/cuda/kernels/k_reduce.h"

struct k_window {
    const int32_t *order, *cursor;
    int32_t *y;
    int64_t count, batch;
};
K_LAUNCHER(k_window);

struct k_pick {
    const float *table;
    const int32_t *step;
    float *y;
    int64_t count;
};
K_LAUNCHER(k_pick);
K_MANY_LAUNCHER(k_pick);

struct k_tick {
    const int32_t *counter;
    const float *clip;  // below 0 the counter stays; NULL: none
    int32_t *y;
    int32_t by;
};
K_LAUNCHER(k_tick);
K_MANY_LAUNCHER(k_tick);

struct k_augment {           // ((pixel / 255 - mean) / std + shift) * gain
    const uint8_t *images;   // [count, h, w, c]
    const int32_t *index;    // [batch]; NULL: all in order
    const int32_t *key;      // NULL: no draw
    void *y;
    enum dtype type;
    int64_t count, batch;
    int h, w, c, blocks;     // blocks: per image
    struct k_divide_any by_line;  // w c
    struct k_divide by_c;
    int flip, pad, view_flip, view_dy, view_dx;
    float brightness, contrast;
    float scale[4], offset[4];  // per channel: 1 / (255 std) and -mean / std
};
enum { K_AUGMENT_EACH = 4096 };  // elements of an image per block
K_LAUNCHER(k_augment);
