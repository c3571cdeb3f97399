// SPDX-License-Identifier: Apache-2.0
// Resizes a part of a picture: a triangle filter, as wide as the larger of a source and a target pixel, so that shrinking
// does not alias (Pillow's BILINEAR). Both axes one after the other, vertical first, in integers: 14 bits a weight.
//
// Invariant: the same bytes on every CPU. Cost: about 10 us for 128 x 128 out of twice that.
#ifndef DAWN_DATA_SCALE_H
#define DAWN_DATA_SCALE_H

#include "data/image/crop.h"

// A part of a picture in memory: four bytes a pixel, of which the last is not used.
struct scale_part {
    const uint8_t *pixels;  // of the part
    int64_t stride;         // bytes a row
    int left, top;          // where the part begins in the picture
    int width, height;      // of the whole picture
};

struct scaler;                      // tables and rows: belongs to one thread
struct scaler *scaler_new(void);    // never NULL
void scaler_free(struct scaler *);  // NULL is fine

// Which pixels [*first, *end) of an axis of `bound` pixels are needed for `count` of [begin, begin + length).
void scale_reach(double begin, double length, int64_t count, int bound, int *first, int *end);
// into[height, width, 3]. The part holds at least what scale_reach says.
void scale_draw(struct scaler *, const struct scale_part *, const struct area *, bool mirror, int64_t height, int64_t width,
                uint8_t *into);

#endif
