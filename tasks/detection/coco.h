// SPDX-License-Identifier: Apache-2.0
// Truth and results of detection in COCO's JSON.
//
//   truth    {"images": [{"id", "width", "height"}], "categories": [{"id"}], "annotations": [{"id", "image_id", "category_id",
//            "area", "iscrowd" (absent: 0), "bbox": [x, y, width, height], "segmentation"}]}; other members are not read
//   results  [{"image_id", "category_id", "score", "bbox" or "segmentation" or both}]
//   segmentation  a list of polygons [x0, y0, x1, y1, ..], or {"size": [height, width], "counts": a list, or a text (rle.h)}
//
// "bbox" is read where boxes are compared, "segmentation" where masks are; without "bbox" the box of a result is the box of its
// mask. The area of a result is its box's, or its mask's if the results have no boxes, as for pycocotools. Members of
// another kind, unknown images and categories, and ids that occur twice are refused with the entry's number, from 1.
#pragma once

#include "tasks/detection/ap.h"

enum { COCO_BYTES = 1 << 30 };
struct coco_image {
    int64_t id;
    int32_t height, width;  // 0: not stated
};
struct coco {
    bool masks;                // are compared, else boxes
    struct coco_image *image;  // by id
    int64_t images;
    int64_t *category;         // ids, ascending
    int64_t categories;
    struct ap_list truth, found;
};

// Pure; `name` begins each error. The results follow the truth. coco_free() also ends what a failure left.
int coco_truth(const char *name, const char *bytes, size_t count, bool masks, struct coco *) MUST_CHECK;
int coco_results(const char *name, const char *bytes, size_t count, struct coco *) MUST_CHECK;
int coco_open(const char *truth, const char *results, bool masks, struct coco *) MUST_CHECK;
void coco_free(struct coco *);
