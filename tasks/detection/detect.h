// SPDX-License-Identifier: Apache-2.0
// The boxes of a picture from a one-stage network's answers: of each class those with a score of 0.05 or more, the best 1,000 at
// most, without any that overlaps a better one by more than half; of all classes together the best 100.
#pragma once

#include "tasks/detection/anchors.h"

enum { DETECT_MOST = 100 };
struct detection {
    float score;
    int class;
    float box[4];  // left, top, right, bottom in pixels of the picture
};
struct detect_answers {
    const float *logits, *deltas;  // of detector.h: [count, classes] or [count, 1 + classes], and [count, 4]
    int classes;
    int64_t height, width;         // of the picture, whose size the network's input need not have
};
// The best first; of equal scores the lower class, then the better anchor's. Returns their number.
int detect(const struct anchors *, const struct detect_answers *, struct detection found[DETECT_MOST]);
