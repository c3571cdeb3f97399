// SPDX-License-Identifier: Apache-2.0
// The anchors of a one-stage detector: boxes on each cell of several levels. They are matched with the truth in training, and
// moved by the network's answers.
//
// Level by level, row by row; the boxes of a cell have its centre. A box is left, top, right and bottom in pixels of the
// network's input. A delta is (x, y) of the centre's move in sides of the anchor, and the logarithms of the sides in those, each
// divided by the style's unit.
#pragma once

#include "runtime/common/base/error.h"

enum { ANCHOR_LEVELS = 6, ANCHOR_SIZES = 9 /* at most */, ANCHOR_STRIDE = 8 /* of the first level */, ANCHOR_DELTA = 4 };
enum { ANCHOR_GROWTH = 4 };  // greatest logarithm of a side: an answer of a young network may be anything

struct anchors_style {
    // Levels, of which the first `halved` have strides of 8, 16, 32, .. Each further one lacks two rows and columns of the one
    // before, and its cells cover the input. An input may be too small for the last ones.
    int levels, halved;
    // Sides are `base` strides times 1, 2^(1/3) and 2^(2/3), each of `ratios` ratios of columns to rows: 1, 2, 1/2.
    float base;
    int ratios;
    // Or, if not NULL, one side per level and one more in shares of the input: squares of it and of the mean with the next one,
    // and ratios of 2 and 1/2, and 3 and 1/3 on `wide` levels from the second (Liu et al. 2016).
    const float *share;
    int wide;
    // An anchor takes the truth of largest overlap if that is `taken` or more; from `ignored` on its classes do not count.
    float taken, ignored;
    float unit[2];     // of moves and of sides
    float averaged;    // a box found is averaged with worse ones that overlap it so much; 0: with none
    float rows_more;   // of a focal loss: it is divided by the anchors with a truth and this
    int none;          // the label of an anchor without a truth; the one of class c is none + 1 + c, ignored is none - 1
};

int64_t anchors_cells(const struct anchors_style *, int64_t side, int level);  // rows, or columns; 0: there is no such level
int anchors_sizes(const struct anchors_style *, int level);                    // boxes per cell
int64_t anchors_count(const struct anchors_style *, int64_t height, int64_t width);

struct anchors {
    const struct anchors_style *style;
    int64_t count, height, width;  // of the input
    struct anchor {
        float x, y, width, height;
    } *at;
};
struct anchors *anchors_new(const struct anchors_style *, int64_t height, int64_t width);
void anchors_free(struct anchors *);  // NULL is fine

struct anchors_truth {
    const float (*box)[4];
    const int32_t *class;
    int64_t boxes;
};
struct anchors_targets {
    int32_t *label;  // [count]
    float *delta;    // [count, 4]; zeros without a truth
};
// The best anchor of a truth takes it always; of truths with one best anchor the last. Returns how many anchors have a truth.
int64_t anchors_match(const struct anchors *, const struct anchors_truth *, const struct anchors_targets *);
void anchors_move(const struct anchors *, int64_t i, const float delta[ANCHOR_DELTA], float box[4]);
