// SPDX-License-Identifier: Apache-2.0
#include "tasks/detection/objects.h"

#include "data/read/coco/instances.h"
#include "data/read/voc/voc.h"

#include "runtime/common/base/arena.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)OBJECTS_MOST >= (int)VOC_OBJECTS && (int)OBJECTS_MOST >= (int)INSTANCES_OBJECTS, "OBJECTS_MOST");

static struct object voc_object(const int32_t at[VOC_MEMBERS])
{
    struct object o = {.class = at[VOC_CLASS], .corner = {at[VOC_LEFT], at[VOC_TOP], at[VOC_RIGHT], at[VOC_BOTTOM]}};
    o.area = (o.corner[2] - o.corner[0]) * (o.corner[3] - o.corner[1]);
    return o;
}

static struct object coco_object(const float at[OBJECT_MEMBERS])
{
    struct object o = {.class = (int32_t)at[OBJECT_CLASS], .crowd = at[OBJECT_CROWD] > 0, .area = (double)at[OBJECT_AREA]};
    for (int k = 0; k < 4; k++) o.corner[k] = (double)at[OBJECT_LEFT + k];
    return o;
}

int objects_read(struct dataset *data, enum split split, int64_t index, struct objects *o)
{
    union {
        int32_t voc[OBJECTS_MOST][VOC_MEMBERS];
        float coco[OBJECTS_MOST][OBJECT_MEMBERS];
    } is;
    const bool voc = dataset_field(data, "objects")->dtype == I32;
    TRY(dataset_item(data, split, "objects", index, &is, sizeof is, &o->count));
    for (int64_t i = 0; i < o->count; i++) o->at[i] = voc ? voc_object(is.voc[i]) : coco_object(is.coco[i]);
    return 0;
}

// ---- masks

// Each pixel belongs to one object at most.
static void label_masks(const uint8_t *labels, const int32_t size[2], int64_t objects, struct rle *mask)
{
    uint8_t *inside = zalloc((size_t)size[0] * (size_t)size[1]);
    for (int64_t i = 0; i < objects; i++) {
        for (int64_t x = 0; x < size[0]; x++)
            for (int64_t y = 0; y < size[1]; y++) inside[x * size[1] + y] = labels[y * size[0] + x] == i + 1;
        mask[i] = rle_encode(inside, size[1], size[0]);
    }
    free(inside);
}

static int run_mask(const int32_t *count, int64_t counts, const int32_t size[2], struct rle *mask)
{
    int64_t *wide = grow(NULL, (size_t)(counts + 1) * sizeof *wide);
    for (int64_t i = 0; i < counts; i++) wide[i] = count[i];
    int rc = rle_counts(wide, counts, size[1], size[0], mask);
    free(wide);
    return rc;
}

// Reads the outline of an object (instances.h) up to *at.
static int outline_mask(const int32_t **at, const int32_t size[2], struct rle *mask)
{
    int32_t polygons = *(*at)++;
    if (polygons == 0) {
        int32_t counts = *(*at)++;
        if (counts == 0) return fail(ERR_INPUT, "it has no \"segmentation\"");
        *at += counts;
        return run_mask(*at - counts, counts, size, mask);
    }
    for (int32_t i = 0; i < polygons; i++) {
        int32_t numbers = *(*at)++;
        struct rle before = *mask, one = rle_fifths(*at, numbers / 2, size[1], size[0]);
        *at += numbers;
        *mask = i > 0 ? rle_merge(&before, &one, false) : one;
        if (i > 0) rle_free(&before), rle_free(&one);
    }
    return 0;
}

static int outline_masks(const int32_t *at, const int32_t size[2], int64_t objects, struct rle *mask)
{
    for (int64_t i = 0; i < objects; i++) {
        int rc = outline_mask(&at, size, &mask[i]);
        if (rc == 0) continue;
        for (int64_t k = 0; k < i; k++) rle_free(&mask[k]);
        return fail_prefix(rc, "object %lld: ", (long long)i + 1);
    }
    return 0;
}

int objects_masks(struct dataset *data, enum split split, int64_t index, int64_t objects, struct rle *mask)
{
    const struct field *outlines = dataset_field(data, "outlines"), *f = outlines ? outlines : dataset_field(data, "labels");
    int32_t size[2];
    memset(mask, 0, (size_t)objects * sizeof *mask);
    if (objects == 0) return 0;
    if (!f) return fail(ERR_INPUT, "%s has no masks", dataset_facts(data)->name);
    TRY(dataset_item(data, split, "sizes", index, size, sizeof size, NULL));
    size_t bytes = (size_t)field_bytes(f, f->shape.dim[0]);
    void *is = zalloc(bytes);
    int rc = dataset_item(data, split, f->name, index, is, bytes, NULL);
    if (rc == 0 && outlines) rc = outline_masks(is, size, objects, mask);
    else if (rc == 0) label_masks(is, size, objects, mask);
    free(is);
    if (rc == 0) return 0;
    struct text name = {0};
    dataset_sample_path(data, split, index, &name);
    rc = fail_prefix(rc, "%s: ", name.at);
    text_free(&name);
    return rc;
}
