// SPDX-License-Identifier: Apache-2.0
#include "tasks/detection/coco.h"

#include <stdlib.h>
#include <string.h>

#include "data/read/coco/instances.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/sort.h"

#define LARGE 1e18  // an area

// ---- masks

static int read_polygon(const json_t *list, const struct coco_image *image, struct rle *into)
{
    size_t numbers = json_array_size(list);
    if (numbers < 6 || numbers % 2 != 0) return fail(ERR_INPUT, "it is no list of x and y of three or more corners");
    double *xy = grow(NULL, numbers * sizeof *xy);
    int rc = 0;
    for (size_t i = 0; i < numbers && rc == 0; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) rc = fail(ERR_INPUT, "number %zu is none", i + 1);
        xy[i] = json_number_value(value);
    }
    if (rc == 0) rc = rle_polygon(xy, (int64_t)(numbers / 2), image->height, image->width, into);
    free(xy);
    return rc;
}

// The pixels of any of the polygons.
static int read_polygons(const json_t *list, const struct coco_image *image, struct rle *into)
{
    const json_t *polygon;
    size_t i;
    if (json_array_size(list) == 0) return fail(ERR_INPUT, "its \"segmentation\" has no polygon");
    json_array_foreach(list, i, polygon) {
        struct rle one, before = *into;
        int rc = read_polygon(polygon, image, &one);
        if (rc < 0) return fail_prefix(rc, "polygon %zu of its \"segmentation\": ", i + 1);
        *into = i > 0 ? rle_merge(&before, &one, false) : one;
        if (i > 0) rle_free(&before), rle_free(&one);
    }
    return 0;
}

static int read_counts(const json_t *list, const struct coco_image *image, struct rle *into)
{
    size_t counts = json_array_size(list);
    int64_t *count = grow(NULL, (counts + 1) * sizeof *count);
    int rc = 0;
    for (size_t i = 0; i < counts && rc == 0; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value)) rc = fail(ERR_INPUT, "count %zu of its mask is no whole number", i + 1);
        count[i] = json_integer_value(value);
    }
    if (rc == 0) rc = rle_counts(count, (int64_t)counts, image->height, image->width, into);
    free(count);
    return rc;
}

static int read_mask(const json_t *entry, const struct coco_image *image, struct rle *into)
{
    const json_t *mask = json_object_get(entry, "segmentation"), *size = json_object_get(mask, "size");
    const json_t *counts = json_object_get(mask, "counts");
    if (!mask) return fail(ERR_INPUT, "it has no \"segmentation\"");
    if (image->height == 0) return fail(ERR_INPUT, "image %lld has no \"height\" and \"width\"", (long long)image->id);
    if (json_is_array(mask)) return read_polygons(mask, image, into);
    if (json_array_size(size) != 2 || !(json_is_string(counts) || json_is_array(counts)))
        return fail(ERR_INPUT, "its \"segmentation\" is no list of polygons, and has no \"size\" and \"counts\"");
    int64_t height = json_integer_value(json_array_get(size, 0)), width = json_integer_value(json_array_get(size, 1));
    if (height != image->height || width != image->width)
        return fail(ERR_INPUT, "the \"size\" of its mask is [%lld, %lld], that of image %lld is [%d, %d]", (long long)height,
                    (long long)width, (long long)image->id, image->height, image->width);
    if (json_is_array(counts)) return read_counts(counts, image, into);
    return rle_parse(json_string_value(counts), json_string_length(counts), image->height, image->width, into);
}

// ---- places

static int compare_images(const void *a, const void *b)
{
    return sort_i64(&((const struct coco_image *)a)->id, &((const struct coco_image *)b)->id);
}

// Reads the image and the category of an annotation or a result. Both must be known.
static int read_places(const json_t *entry, const struct coco *c, struct ap_item *item, const struct coco_image **image)
{
    TRY(instances_whole(entry, "image_id", INT64_MIN, INT64_MAX, &item->image));
    TRY(instances_whole(entry, "category_id", INT64_MIN, INT64_MAX, &item->category));
    const struct coco_image wanted = {.id = item->image};
    *image = c->images > 0 ? bsearch(&wanted, c->image, (size_t)c->images, sizeof wanted, compare_images) : NULL;
    if (!*image) return fail(ERR_INPUT, "the truth has no image %lld", (long long)item->image);
    size_t categories = (size_t)c->categories;
    if (categories == 0 || !bsearch(&item->category, c->category, categories, sizeof item->category, sort_i64))
        return fail(ERR_INPUT, "the truth has no category %lld", (long long)item->category);
    return 0;
}

// ---- the truth

static int read_image(const json_t *entry, struct coco *c, int64_t *id)
{
    struct coco_image *image = &c->image[c->images];
    int64_t side[2] = {0, 0};
    TRY(instances_whole(entry, "id", INT64_MIN, INT64_MAX, id));
    if (json_object_get(entry, "height") || json_object_get(entry, "width")) {
        TRY(instances_whole(entry, "height", 1, RLE_SIDE_MOST, &side[0]));
        TRY(instances_whole(entry, "width", 1, RLE_SIDE_MOST, &side[1]));
    }
    *image = (struct coco_image){*id, (int32_t)side[0], (int32_t)side[1]};
    c->images++;
    return 0;
}

static int read_category(const json_t *entry, struct coco *c, int64_t *id)
{
    TRY(instances_whole(entry, "id", INT64_MIN, INT64_MAX, id));
    c->category[c->categories++] = *id;
    return 0;
}

// An id below 1 is refused: pycocotools takes a match with the truth 0 for none.
static int read_annotation(const json_t *entry, struct coco *c, int64_t *id)
{
    struct ap_item *item = &c->truth.item[c->truth.count++];
    const struct coco_image *image;
    TRY(instances_whole(entry, "id", 1, INT64_MAX, id));
    TRY(read_places(entry, c, item, &image));
    TRY(instances_number(entry, "area", 0, LARGE, &item->area));
    TRY(instances_crowd(entry, &item->crowd));
    return c->masks ? read_mask(entry, image, &item->mask) : instances_box(entry, item->box);
}

struct kind {
    const char *list, *called;
    int (*read)(const json_t *entry, struct coco *, int64_t *id);
};

static int read_list(const json_t *root, const struct kind *kind, struct coco *c)
{
    const json_t *list = json_object_get(root, kind->list), *entry;
    size_t count = json_array_size(list), i;
    if (!json_is_array(list)) return fail(ERR_INPUT, "it has no list \"%s\": this is not COCO's truth", kind->list);
    int64_t *id = grow(NULL, (count + 1) * sizeof *id);
    int rc = 0;
    json_array_foreach(list, i, entry) {
        rc = kind->read(entry, c, &id[i]);
        if (rc < 0) rc = fail_prefix(rc, "%s %zu: ", kind->called, i + 1);
        if (rc < 0) break;
    }
    if (rc == 0) qsort(id, count, sizeof *id, sort_i64);
    for (i = 1; rc == 0 && i < count; i++)
        if (id[i] == id[i - 1]) rc = fail(ERR_INPUT, "two %s have the id %lld", kind->list, (long long)id[i]);
    free(id);
    return rc;
}

static int read_truth(const json_t *root, struct coco *c)
{
    static const struct kind images = {"images", "image", read_image}, categories = {"categories", "category", read_category},
                             annotations = {"annotations", "annotation", read_annotation};
    c->image = zalloc((json_array_size(json_object_get(root, images.list)) + 1) * sizeof *c->image);
    c->category = zalloc((json_array_size(json_object_get(root, categories.list)) + 1) * sizeof *c->category);
    c->truth.item = zalloc((json_array_size(json_object_get(root, annotations.list)) + 1) * sizeof *c->truth.item);
    TRY(read_list(root, &images, c));
    qsort(c->image, (size_t)c->images, sizeof *c->image, compare_images);
    TRY(read_list(root, &categories, c));
    qsort(c->category, (size_t)c->categories, sizeof *c->category, sort_i64);
    return read_list(root, &annotations, c);
}

// ---- results

// `boxes`: the results have boxes.
static int read_result(const json_t *entry, bool boxes, struct coco *c)
{
    struct ap_item *item = &c->found.item[c->found.count++];
    const struct coco_image *image;
    if (!json_is_object(entry)) return fail(ERR_INPUT, "it is no object");
    TRY(read_places(entry, c, item, &image));
    TRY(instances_number(entry, "score", -LARGE, LARGE, &item->score));
    if ((json_object_get(entry, "bbox") != NULL) != boxes)
        return fail(ERR_INPUT, "it has %s \"bbox\", unlike the first: all results have one, or none has", boxes ? "no" : "a");
    if (boxes) TRY(instances_box(entry, item->box));
    if (c->masks || !boxes) TRY(read_mask(entry, image, &item->mask));
    if (!boxes) rle_box(&item->mask, item->box);
    item->area = boxes ? item->box[2] * item->box[3] : (double)rle_area(&item->mask);
    if (!c->masks) rle_free(&item->mask);
    return 0;
}

static int read_results(const json_t *root, struct coco *c)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(root)) return fail(ERR_INPUT, "it is no list: these are not results in COCO's form");
    bool boxes = json_object_get(json_array_get(root, 0), "bbox") != NULL;
    c->found.item = zalloc((json_array_size(root) + 1) * sizeof *c->found.item);
    json_array_foreach(root, i, entry) {
        int rc = read_result(entry, boxes, c);
        if (rc < 0) return fail_prefix(rc, "result %zu: ", i + 1);
    }
    return 0;
}

// ---- files

typedef int reader(const json_t *, struct coco *);

// Adds which result has the byte, if the bytes before it are a list and it is in one of its objects: NaN, say, is no JSON.
static void name_result(const char *bytes, size_t at, struct text *into)
{
    int64_t results = 0, depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < at; i++) {
        if (bytes[i] == '"') quoted = !quoted;
        else if (quoted) i += bytes[i] == '\\';
        else if (bytes[i] == '[' || bytes[i] == '{') results += ++depth == 2;
        else if (bytes[i] == ']' || bytes[i] == '}') depth--;
    }
    if (depth > 1) text_add(into, "result %lld: ", (long long)results);
}

static int refuse_bytes(const char *name, const char *bytes, bool results, const json_error_t *error)
{
    struct text where = {0};
    if (results) name_result(bytes, (size_t)error->position, &where);
    int rc = fail(ERR_INPUT, "%s: %sline %d, byte %d: %s", name, where.at ? where.at : "", error->line, error->position,
                  error->text);
    text_free(&where);
    return rc;
}

static int read_bytes(const char *name, const char *bytes, size_t count, reader *read, struct coco *c)
{
    json_error_t error;
    if (count > COCO_BYTES) return fail(ERR_INPUT, "%s is larger than %d bytes", name, COCO_BYTES);
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (!root) return refuse_bytes(name, bytes, read == read_results, &error);
    int rc = read(root, c);
    json_decref(root);
    return rc < 0 ? fail_prefix(rc, "%s: ", name) : 0;
}

int coco_truth(const char *name, const char *bytes, size_t count, bool masks, struct coco *c)
{
    *c = (struct coco){.masks = masks};
    return read_bytes(name, bytes, count, read_truth, c);
}

int coco_results(const char *name, const char *bytes, size_t count, struct coco *c)
{
    return read_bytes(name, bytes, count, read_results, c);
}

int coco_open(const char *truth, const char *results, bool masks, struct coco *c)
{
    char *bytes = NULL;
    size_t count = 0;
    *c = (struct coco){.masks = masks};
    TRY(file_read(truth, COCO_BYTES, &bytes, &count));
    int rc = coco_truth(truth, bytes, count, masks, c);
    free(bytes), bytes = NULL;
    if (rc == 0) rc = file_read(results, COCO_BYTES, &bytes, &count);
    if (rc == 0) rc = coco_results(results, bytes, count, c);
    free(bytes);
    return rc;
}

static void free_items(struct ap_list *list)
{
    for (int64_t i = 0; i < list->count; i++) rle_free(&list->item[i].mask);
    free(list->item);
}

void coco_free(struct coco *c)
{
    free_items(&c->truth), free_items(&c->found);
    free(c->image), free(c->category);
    *c = (struct coco){0};
}
