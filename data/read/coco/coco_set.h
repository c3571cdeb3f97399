// SPDX-License-Identifier: Apache-2.0
// COCO 2017 as a data set: the pictures of train2017 that have an annotation train, all of val2017 are scored.
//
// Fields: "jpeg" (u8, ragged), "objects" (f32[n,7], ragged: enum instances_member of each), "sizes" (i32[2]: width,
// height) and "outlines" (i32, ragged: the masks of the objects, instances.h).
#pragma once

#include "data/dataset.h"

// The numbers of results in COCO's form. Data sets without such numbers count from 1.
int64_t coco_image(const struct dataset *, enum split, int64_t index);
int coco_category(const struct dataset_facts *, int class);
int coco_class(const struct dataset_facts *, int category);  // the reverse; -1: there is none
