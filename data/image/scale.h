// SPDX-License-Identifier: Apache-2.0
// Resizes a part of a picture with a triangle filter. The filter is as wide as the larger of a source and a target pixel, so
// shrinking does not alias (Pillow's BILINEAR). Vertical first, then horizontal, in integers.
//
// Invariant: the same bytes on every CPU, at most 1 away from rounding the exact sum. Cost: with AVX-512 about 12 us for 128
// x 128 (docs/performance.md), and memory for four rows.
#pragma once

#include "data/image/crop.h"

enum { SCALE_SLACK = 64 };  // readable bytes after the last row of a part

struct scale_part {
    const uint8_t *pixels;  // pixels of the part, which begins at `left` and `top` of the picture
    int64_t stride;         // bytes per row
    int channels;           // bytes per pixel: 3, or 4, of which the last is unused
    int left, top;
    int width, height;      // size of the whole picture
};

// Where a picture goes: its area, mirrored or not, becomes into[height, width, 3].
struct scale_into {
    const struct area *area;
    bool mirror;
    int64_t height, width;
    uint8_t *pixels;
};

struct scaler;                      // tables and a row; belongs to one thread
struct scaler *scaler_new(void);    // never NULL
void scaler_free(struct scaler *);  // NULL is fine

// The pixels [*first, *end) of an axis of `bound` pixels that `count` outputs of [begin, begin + length) need.
void scale_reach(double begin, double length, int64_t count, int bound, int *first, int *end);
// The part must hold the pixels that scale_reach returns for both axes.
void scale_draw(struct scaler *, const struct scale_part *, const struct scale_into *);
