// SPDX-License-Identifier: Apache-2.0
// The batches of ImageNet and Imagenette: which size an epoch has, which shape a validation image is seen at, and how a
// stored JPEG becomes a sample. Training: a random crop, resized, perhaps mirrored; every epoch has one side, which is a
// bucket of the feed. Evaluation: resize and centre crop, at one shape or at one of three, which are buckets, too.
#ifndef DAWN_IMAGENET_SAMPLES_H
#define DAWN_IMAGENET_SAMPLES_H

#include "tasks/step/task.h"

enum { SAMPLES_CHANNELS = 3 };

void samples_feed(const struct setting *, enum split, struct feed_choice *);
// Which of the evaluation's shapes each sample is seen at.
int samples_shapes(const struct setting *, struct dataset *, enum split, int32_t *bucket) MUST_CHECK;
void samples_variant(const struct setting *, int64_t step, int turn, struct variant *);
void samples_evaluation(const struct setting *, struct variant *);

// The side of the training images in an epoch: that of the part of the schedule which the middle of the epoch lies in.
int64_t samples_side(const struct recipe *, int64_t epoch);

#endif
