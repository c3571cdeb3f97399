// SPDX-License-Identifier: Apache-2.0
// Photographs as batches for a detector: decoded, flipped, enlarged or shrunk with their boxes and masks, all in the decoding
// threads. Training: "images" u8[H,W,3] and the targets of detector.h, matched with the anchors: "labels", "deltas" and, with a
// label for none, "negatives". Of a two-stage detector instead "truth" f32[n,4], boxes in pixels of the input, "classes" i32[n],
// from 1, and "masks" u8[n,H,W], where boxes without an area fill up what is not there. Evaluation: "images" alone.
#pragma once

#include "tasks/common/step/step.h"

enum { PHOTOS_OBJECTS = 16 };  // n: objects of a photograph beyond these do not train
int photos_feed(const struct setting *, int feed, struct feed_choice *);
void photos_sizes(const struct setting *, struct variant *);  // height and width of the input
int photos_images(struct step *);  // x[N,H,W,3], normalised
