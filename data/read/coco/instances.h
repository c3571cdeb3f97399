// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes in COCO's JSON (Lin et al. 2014), and the members that all of its files share. Annotations have no line in
// errors but their number in the list, from 1.
//
//   {"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id", "category_id", "bbox": [x, y, width,
//   height], "area", "iscrowd" (absent: 0), "segmentation" (absent: no mask): polygons [[x0, y0, x1, y1, ..], ..], or
//   {"counts": [..]}}]}; other members are not read
//
// The categories are COCO's 80, whose numbers have gaps.
#pragma once

#include "runtime/common/base/error.h"

#include <jansson.h>

enum { INSTANCES_BYTES = 1 << 30, INSTANCES_NAME = 64, INSTANCES_OBJECTS = 1000 /* per picture */, INSTANCES_CLASSES = 80 };
enum instances_member {
    OBJECT_CLASS, OBJECT_LEFT, OBJECT_TOP, OBJECT_RIGHT, OBJECT_BOTTOM, OBJECT_AREA, OBJECT_CROWD, OBJECT_MEMBERS
};

struct instances {
    struct picture {
        int32_t id, width, height;
        char name[INSTANCES_NAME];
        int64_t first, objects;  // of the list below
        int64_t outline, numbers;  // of the outlines below
    } *picture;                  // by id
    int64_t pictures;
    float (*object)[OBJECT_MEMBERS];
    int64_t objects, empty;      // boxes without an area are left out
    // For each object in the same order: the number of its polygons; for each polygon the number of coordinates, then x and y
    // of its corners in fifths of a pixel, as in pycocotools. 0 polygons: the number of run lengths (0: no mask), then these.
    int32_t *outline;
    int64_t numbers;             // of that list
};
// Pure; `name` begins each error. Annotations of a picture stay in their order.
int instances_parse(const char *name, const char *text, size_t n, struct instances *) MUST_CHECK;
void instances_free(struct instances *);

extern const char *const instances_classes[INSTANCES_CLASSES + 1];  // ends with NULL
int instances_category(int class);  // COCO's number of it

// ---- members of entries; each error is the end of a sentence about the entry
int instances_whole(const json_t *entry, const char *key, int64_t low, int64_t high, int64_t *into) MUST_CHECK;
int instances_number(const json_t *entry, const char *key, double low, double high, double *into) MUST_CHECK;
int instances_box(const json_t *entry, double box[4]) MUST_CHECK;  // finite, of no negative size
int instances_crowd(const json_t *entry, bool *crowd) MUST_CHECK;
