// SPDX-License-Identifier: Apache-2.0
// The loops of the resize, one table for each instruction set (runtime/common/base/isa.h). Only scale*.c includes this.
//
// Both axes work on 16-bit lanes, four to a pixel, and multiply as pmulhrsw does: (a * b + 2^14) >> 15. Weights have 15
// bits, and values between the axes have 7 more bits than a pixel. All sets give the same bits (test_data_scale.c).
#pragma once

#include <stdint.h>

enum {
    SCALE_BITS = 15,
    SCALE_BETWEEN = 7,
    SCALE_ROWS = 4,    // rows made at once
    SCALE_GROUP = 8,   // pixels whose weights are stored together
    SCALE_LANES = 4,
    SCALE_SPARE = 64,  // readable pixels after a row
};

// The horizontal axis: pixel x of a row is the sum of `taps` weights times the pixels from first[x] on. The weight of tap k
// of pixel x is stored four times, at [((x / SCALE_GROUP) * taps + k) * SCALE_GROUP + x % SCALE_GROUP]. Weights after the
// last pixel of a row repeat the last pixel's.
struct scale_across {
    const int32_t *first;
    const int16_t (*weight)[SCALE_LANES];
    int taps;
    int64_t width;
};

struct scale_loops {
    // row[i] = sum of weight[k] * pixels[k * stride + i], for i below n; both may be accessed up to n rounded up to 64
    void (*rows)(const uint8_t *pixels, int64_t stride, const int16_t *weight, int taps, int64_t n, int16_t *row);
    // Spreads three lanes per pixel to four, of which the last is undefined; writes `pixels` rounded up to SCALE_GROUP
    void (*spread)(const int16_t *packed, int64_t pixels, int16_t *row);
    // `count` rows of at most SCALE_ROWS, `stride` lanes apart; all SCALE_ROWS rows are readable
    void (*pixels)(const int16_t *row, int64_t stride, const struct scale_across *, int count, uint8_t *into);
};

extern const struct scale_loops scale_loops_base;
#ifndef ISA_ONLY_BASE
extern const struct scale_loops scale_loops_avx2, scale_loops_avx512;
#endif
