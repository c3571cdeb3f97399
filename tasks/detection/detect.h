// SPDX-License-Identifier: Apache-2.0
// The boxes of a picture from a one-stage network's answers: of each class those with a score of 0.05 or more, the best 1,000 at
// most, without any that overlaps a better one by more than half; of all classes together the best 100. A style may have them
// averaged with what overlaps them. Boxes of mirrored views of the picture compete with each other.
#pragma once

#include "tasks/detection/anchors.h"

enum { DETECT_MOST = 100 };
struct detection {
    float score;
    int class;
    float box[4];  // left, top, right, bottom in pixels of the picture
};
struct detect_answers {
    // As detector.h has them: [views, count, classes] or [views, count, 1 + classes], and [views, count, 4]. View 1 is mirrored
    // left to right, 2 upside down, 3 both.
    const float *logits, *deltas;
    int classes, views;
    int64_t height, width;         // of the picture, whose size the network's input need not have
};
// The best first; of equal scores the lower class, then the better anchor's. Returns their number.
int detect(const struct anchors *, const struct detect_answers *, struct detection found[DETECT_MOST]);
