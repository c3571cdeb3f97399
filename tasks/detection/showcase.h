// SPDX-License-Identifier: Apache-2.0
// What a report shows of a detector: precision over recall, a row per class, and the best, a typical and the worst picture, with
// the boxes that were found next to the true boxes. Pictures are ranked by the AP of their own boxes.
#pragma once

#include "data/image/image.h"
#include "tasks/common/step/task.h"
#include "tasks/detection/ap.h"

#define SHOWCASE_LEAST 0.4  // people see detections from this score on; all of them are scored

struct showcase {
    const struct ap_list *truth, *found;  // of the pictures that were looked at, in the order of images
    bool masks;                           // are compared, and drawn over the pictures
    const char *const *class_names;       // of categories 1, 2, ..; NULL-terminated
    int64_t samples;                      // how many the test split has
    int (*decode)(void *context, int64_t image, struct image *);  // image_free ends the picture
    void (*name)(void *context, int64_t image, struct text *into);
    void *context;
};
int showcase_add(const struct showcase *, struct exhibit *) MUST_CHECK;
// Draws one item with a label: its class, and the score of a detection. Classes have colours, with masks items by their numbers.
void showcase_draw(const struct showcase *, const struct ap_item *, int number, bool found, struct image *);
