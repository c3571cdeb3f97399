// SPDX-License-Identifier: Apache-2.0
// Scores the boxes and masks of a detector by COCO's average precision, writes them as COCO's results and draws them. Images,
// categories and annotations have the numbers of "dawn data show NAME --test", from 1. Of boxes alone the scores are AP and AP50,
// with masks they are AP50 of the masks, AP50 of the boxes, AP of the masks and AP of the boxes.
#pragma once

#include "tasks/common/step/task.h"

enum { DETECTION_LOGITS, DETECTION_DELTAS };  // outputs of a one-stage network, as detector.h has them
// A two-stage network has the outputs of struct maskrcnn_found.
enum { FOUND_BOXES, FOUND_SCORES, FOUND_CLASSES, FOUND_MASKS, FOUND_COUNT };
extern const struct judge detection_judge;
