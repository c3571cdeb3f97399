// SPDX-License-Identifier: Apache-2.0
// The batches of ImageNet and Imagenette: the size of an epoch's images, the shape of each validation image, and the way
// from a stored JPEG to a sample. Training: a random crop, resized, perhaps mirrored; every epoch has one side, which is a
// bucket of the feed. Evaluation: resize and centre crop, at one shape or at one of three, which are buckets, too.
#pragma once

#include "tasks/common/step/task.h"

enum { SAMPLES_CHANNELS = 3 };

int samples_feed(const struct setting *, int feed, struct feed_choice *);
// Fills in the bucket of each sample's shape in the evaluation.
int samples_shapes(const struct setting *, struct dataset *, enum split, int32_t *bucket) MUST_CHECK;
void samples_variant(const struct setting *, int64_t step, int program, struct variant *);
void samples_evaluation(const struct setting *, struct variant *);

// The side of the training images in an epoch. The middle of the epoch decides to which part of the schedule it belongs.
int64_t samples_side(const struct recipe *, int64_t epoch);
