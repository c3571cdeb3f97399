// SPDX-License-Identifier: Apache-2.0
// Photographs as batches for a detector: decoded, flipped, enlarged or shrunk with their boxes and masks, all in the decoding
// threads. Training: "images" u8[H,W,3] and the targets of detector.h, matched with the anchors: "labels", "deltas" and, with a
// label for none, "negatives". Of a two-stage detector instead "truth" f32[n,4], boxes in pixels of the input, "classes" i32[n],
// numbers of coco_category, and "masks" u8[n,H,W], or of the boxes alone u8[n,side,side], padded with boxes without
// an area. Evaluation: "images" alone, of several views below each other. If photographs keep their shape, "sizes" f32[2] of
// both: the rows and columns of its input that each photograph fills, from the left and top; upright ones are in bucket 1, whose
// input has the sides exchanged.
#pragma once

#include "tasks/common/step/step.h"
#include "tasks/detection/detection_keys.h"

int photos_feed(const struct setting *, int feed, struct feed_choice *);
void photos_sizes(const struct setting *, struct variant *);  // height and width of the input
int photos_shapes(const struct setting *, struct dataset *, enum split, int32_t *bucket) MUST_CHECK;
// Rows and columns that a photograph of this width and height takes of its input.
void photos_frame(const struct detection_keys *, const int32_t size[2], int64_t frame[2]);
int photos_images(struct step *);  // x[N,H,W,3], normalised; the views of a photograph follow each other
