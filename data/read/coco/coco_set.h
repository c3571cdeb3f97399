// SPDX-License-Identifier: Apache-2.0
// COCO 2017 as a data set: the pictures of train2017 that have an annotation train, all of val2017 are scored.
//
// Fields: "jpeg" (u8, ragged), "objects" (f32[n,7], ragged: enum instances_member of each) and "sizes" (i32[2]: width, height).
#pragma once

#include "data/dataset.h"

// The numbers of results in COCO's form. Data sets without such numbers count from 1.
int64_t coco_image(const struct dataset *, enum split, int64_t index);
int coco_category(const struct dataset *, int class);
