// SPDX-License-Identifier: Apache-2.0
// The anchors of a one-stage detector: squares in three sizes on each cell of three levels. They are matched with the truth in
// training, and moved by the network's answers.
//
// Level by level, row by row; a cell has sides of 2, 2^(4/3) and 2^(5/3) strides about its centre. A box is left, top, right and
// bottom in pixels of the network's input. A delta is (x, y) of the centre's move in sides, and the logarithms of its sides
// in those.
#pragma once

#include "runtime/common/base/error.h"

enum { ANCHOR_LEVELS = 3, ANCHOR_SIZES = 3, ANCHOR_STRIDE = 8 /* of the first level; it doubles */, ANCHOR_DELTA = 4 };

int64_t anchors_rows(int64_t height, int level);  // cells; the same for columns
int64_t anchors_count(int64_t height, int64_t width);

struct anchors {
    int64_t count, height, width;  // of the input
    struct anchor {
        float x, y, side;
    } *at;
};
struct anchors *anchors_new(int64_t height, int64_t width);
void anchors_free(struct anchors *);  // NULL is fine

struct anchors_truth {
    const float (*box)[4];
    const int32_t *class;
    int64_t boxes;
    int classes;
};
struct anchors_targets {
    float *sign;   // [count, classes]: -1 where the class is there, 1 where it is not, 0 where the loss is not counted
    float *delta;  // [count, 4]
    float *taken;  // [count, 4]: 1 where a truth is taken, else 0
};
// The targets are zeros. An anchor takes the truth of largest overlap if that is 0.5 or more; from 0.4 to 0.5 its classes do not
// count. The best anchor of a truth takes it always; of truths with one best anchor the last.
void anchors_match(const struct anchors *, const struct anchors_truth *, const struct anchors_targets *);
void anchors_move(const struct anchor *, const float delta[ANCHOR_DELTA], float box[4]);
float anchors_overlap(const float a[4], const float b[4]);  // intersection over union
