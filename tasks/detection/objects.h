// SPDX-License-Identifier: Apache-2.0
// The truth of a picture, from any kind of file.
#pragma once

#include "data/dataset.h"
#include "tasks/detection/rle.h"

enum { OBJECTS_MOST = 1000 };
struct object {
    int32_t class;
    bool crowd;
    double area, corner[4];  // left, top, right, bottom in pixels of the picture
};
struct objects {
    int64_t count;
    struct object at[OBJECTS_MOST];
};
int objects_read(struct dataset *, enum split, int64_t index, struct objects *) MUST_CHECK;
// The masks of all of them; rle_free ends each. Fails where an object has none.
int objects_masks(struct dataset *, enum split, int64_t index, int64_t objects, struct rle *mask) MUST_CHECK;
