// SPDX-License-Identifier: Apache-2.0
// A mask as COCO stores it: lengths of runs of pixels, column by column, outside and inside by turns. The first run is outside
// and may be empty, no other run is empty: equal masks have equal runs. Errors name neither file nor entry.
#pragma once

#include "runtime/common/base/text.h"

enum { RLE_SIDE_MOST = 1 << 15 };  // pixels of a height or width; then 32 bits count the pixels of an image

struct rle {
    int32_t height, width;
    uint32_t *run;  // their sum is height x width
    int64_t runs;
};
void rle_free(struct rle *);

struct rle rle_encode(const uint8_t *inside, int32_t height, int32_t width);  // column by column, not 0: inside
void rle_decode(const struct rle *, uint8_t *inside);                         // the same as 0 and 1

// COCO's uncompressed counts, and its text: each count, from the fourth on less the count two before it, as signed groups of five
// bits, the lowest first, in the characters '0' to 'o', of which bit 5 says that more follow.
int rle_counts(const int64_t *count, int64_t counts, int32_t height, int32_t width, struct rle *) MUST_CHECK;
int rle_parse(const char *text, size_t bytes, int32_t height, int32_t width, struct rle *) MUST_CHECK;
void rle_text(const struct rle *, struct text *into);

// The pixels of a polygon with corners (x, y) by pycocotools' rule: the border is walked in fifths of a pixel, and a column
// changes sides where the border crosses its centre. A corner may lie outside of the image by the image's size at most.
int rle_polygon(const double *xy, int64_t corners, int32_t height, int32_t width, struct rle *) MUST_CHECK;

// The same of corners in fifths of a pixel, rounded as above.
struct rle rle_fifths(const int32_t *xy, int64_t corners, int32_t height, int32_t width);

// Joins two masks of one size: the pixels that both have, or that either has.
struct rle rle_merge(const struct rle *a, const struct rle *b, bool both);
// Intersection over union; over the area of `found` where the truth is a crowd. 0 if they share no pixel.
double rle_iou(const struct rle *found, const struct rle *truth, bool crowd);
int64_t rle_area(const struct rle *);
void rle_box(const struct rle *, double box[4]);  // x, y, width, height of the pixels; zeros without any
