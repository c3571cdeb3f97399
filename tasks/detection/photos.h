// SPDX-License-Identifier: Apache-2.0
// Photographs as batches for a one-stage detector: decoded, flipped, enlarged or shrunk with their boxes, and matched with the
// anchors, all in the decoding threads. Training: "images" u8[H,W,3] and the targets of detector.h, "labels", "deltas" and, with
// a label for none, "negatives"; evaluation: "images" alone.
#pragma once

#include "tasks/common/step/task.h"

int photos_feed(const struct setting *, int feed, struct feed_choice *);
void photos_sizes(const struct setting *, struct variant *);  // height and width of the input
