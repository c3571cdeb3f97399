// SPDX-License-Identifier: Apache-2.0
// Scores the boxes of a one-stage detector by COCO's average precision, writes them as COCO's results and draws them. Images,
// categories and annotations have the numbers of "dawn data show NAME --test", from 1.
#pragma once

#include "tasks/common/step/task.h"

enum { DETECTION_LOGITS, DETECTION_DELTAS };  // outputs: f32[N,A,classes] and f32[N,A,4]
extern const struct judge detection_judge;
