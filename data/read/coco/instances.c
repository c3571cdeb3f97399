// SPDX-License-Identifier: Apache-2.0
// Cost: the whole file as values in memory while it is read, about ten times its size for COCO's training.
#include "data/read/coco/instances.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

#define FAR 1e9    // of a box, in pixels: areas stay finite
#define LARGE 1e18  // an area
enum { SIDE_MOST = 65500 };

const char *const instances_classes[INSTANCES_CLASSES + 1] = {
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light", "fire hydrant",
    "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe",
    "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat",
    "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl",
    "banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave",
    "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
    NULL,
};
static const int gaps[] = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83};  // numbers that no category has

int instances_category(int class)
{
    int number = class + 1;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps && gaps[i] <= number; i++) number++;
    return number;
}

// ---- members

int instances_whole(const json_t *entry, const char *key, int64_t low, int64_t high, int64_t *into)
{
    const json_t *value = json_object_get(entry, key);
    if (!json_is_integer(value)) return fail(ERR_INPUT, "it has no whole number \"%s\"", key);
    *into = json_integer_value(value);
    if (*into >= low && *into <= high) return 0;
    return fail(ERR_INPUT, "\"%s\" is %lld, not %lld to %lld", key, (long long)*into, (long long)low, (long long)high);
}

int instances_number(const json_t *entry, const char *key, double low, double high, double *into)
{
    const json_t *value = json_object_get(entry, key);
    if (!json_is_number(value)) return fail(ERR_INPUT, "it has no number \"%s\"", key);
    *into = json_number_value(value);
    if (*into >= low && *into <= high) return 0;
    return fail(ERR_INPUT, "\"%s\" is %g, not %g to %g", key, *into, low, high);
}

int instances_box(const json_t *entry, double box[4])
{
    const json_t *list = json_object_get(entry, "bbox");
    if (!json_is_array(list) || json_array_size(list) != 4) return fail(ERR_INPUT, "it has no \"bbox\" of four numbers");
    for (size_t i = 0; i < 4; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) return fail(ERR_INPUT, "number %zu of its \"bbox\" is none", i + 1);
        box[i] = json_number_value(value);
        if (i >= 2 && box[i] < 0) return fail(ERR_INPUT, "its box has the %s %g", i == 2 ? "width" : "height", box[i]);
        if (box[i] < -FAR || box[i] > FAR) return fail(ERR_INPUT, "its box reaches to %g", box[i]);
    }
    return 0;
}

int instances_crowd(const json_t *entry, bool *crowd)
{
    const json_t *is = json_object_get(entry, "iscrowd");
    int64_t flag = 0;
    if (json_is_boolean(is)) flag = json_is_true(is);
    else if (is) TRY(instances_whole(entry, "iscrowd", 0, 1, &flag));
    *crowd = flag != 0;
    return 0;
}

// ---- entries

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const struct picture *)a)->id, y = ((const struct picture *)b)->id;
    return (x > y) - (x < y);
}

static bool is_file_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i])) return false;
    return n > 0 && n < INSTANCES_NAME && *name != '.';
}

static int read_picture(const json_t *entry, struct instances *is)
{
    struct picture *p = &is->picture[is->pictures];
    const char *name = json_string_value(json_object_get(entry, "file_name"));
    int64_t id, width, height;
    TRY(instances_whole(entry, "id", 0, INT32_MAX, &id));
    TRY(instances_whole(entry, "width", 1, SIDE_MOST, &width));
    TRY(instances_whole(entry, "height", 1, SIDE_MOST, &height));
    if (!is_file_name(name)) return fail(ERR_INPUT, "it has no \"file_name\" that is a file's name");
    *p = (struct picture){.id = (int32_t)id, .width = (int32_t)width, .height = (int32_t)height};
    memcpy(p->name, name, strlen(name));
    is->pictures++;
    return 0;
}

static int class_of(int64_t category)
{
    for (int c = 0; c < INSTANCES_CLASSES; c++)
        if (instances_category(c) == category) return c;
    return -1;
}

// Reads an annotation to the end of the list, and the number of its picture.
static int read_object(const json_t *entry, struct instances *is, int64_t *picture)
{
    float *into = is->object[is->objects];
    struct picture wanted = {0}, *of;
    int64_t image, category;
    double box[4], area;
    bool crowd;
    TRY(instances_whole(entry, "image_id", 0, INT32_MAX, &image));
    TRY(instances_whole(entry, "category_id", 1, INT32_MAX, &category));
    TRY(instances_box(entry, box));
    TRY(instances_number(entry, "area", 0, LARGE, &area));
    TRY(instances_crowd(entry, &crowd));
    wanted.id = (int32_t)image;
    of = is->pictures > 0 ? bsearch(&wanted, is->picture, (size_t)is->pictures, sizeof wanted, by_id) : NULL;
    if (!of) return fail(ERR_INPUT, "there is no image %lld", (long long)image);
    int class = class_of(category);
    if (class < 0) return fail(ERR_INPUT, "COCO has no category %lld", (long long)category);
    if (box[0] > of->width || box[1] > of->height || box[0] + box[2] < 0 || box[1] + box[3] < 0)
        return fail(ERR_INPUT, "its box lies outside of image %lld of %d x %d", (long long)image, of->width, of->height);
    *picture = of - is->picture;
    if (box[2] <= 0 || box[3] <= 0) {
        is->empty++;
        return 0;
    }
    if (++of->objects > INSTANCES_OBJECTS)
        return fail(ERR_INPUT, "image %lld has more than %d annotations", (long long)image, INSTANCES_OBJECTS);
    const double made[OBJECT_MEMBERS] = {class, box[0], box[1], box[0] + box[2], box[1] + box[3], area, crowd};
    for (int i = 0; i < OBJECT_MEMBERS; i++) into[i] = (float)made[i];
    is->objects++;
    return 0;
}

// ---- the file

static const json_t *list_of(const json_t *root, const char *name)
{
    const json_t *list = json_object_get(root, name);
    if (!json_is_array(list)) fail(ERR_INPUT, "it has no list \"%s\": these are not COCO's instances", name);
    return json_is_array(list) ? list : NULL;
}

static int read_pictures(const json_t *list, struct instances *is)
{
    const json_t *entry;
    size_t i;
    is->picture = zalloc((json_array_size(list) + 1) * sizeof *is->picture);
    json_array_foreach(list, i, entry) {
        int rc = read_picture(entry, is);
        if (rc < 0) return fail_prefix(rc, "image %zu: ", i + 1);
    }
    qsort(is->picture, (size_t)is->pictures, sizeof *is->picture, by_id);
    for (int64_t k = 1; k < is->pictures; k++)
        if (is->picture[k].id == is->picture[k - 1].id)
            return fail(ERR_INPUT, "two images have the id %d", is->picture[k].id);
    return 0;
}

// Moves the objects, which are in the order of the file, to the order of their pictures.
static void sort_objects(struct instances *is, const int64_t *picture)
{
    float(*sorted)[OBJECT_MEMBERS] = zalloc((size_t)(is->objects + 1) * sizeof *sorted);
    int64_t *next = zalloc((size_t)(is->pictures + 1) * sizeof *next), at = 0;
    for (int64_t i = 0; i < is->pictures; at += is->picture[i++].objects) next[i] = is->picture[i].first = at;
    for (int64_t k = 0; k < is->objects; k++) memcpy(sorted[next[picture[k]]++], is->object[k], sizeof *sorted);
    free(is->object), free(next);
    is->object = sorted;
}

static int read_objects(const json_t *list, struct instances *is)
{
    const json_t *entry;
    size_t i;
    int64_t *picture = zalloc((json_array_size(list) + 1) * sizeof *picture);
    int rc = 0;
    is->object = zalloc((json_array_size(list) + 1) * sizeof *is->object);
    json_array_foreach(list, i, entry) {
        rc = read_object(entry, is, &picture[is->objects]);
        if (rc < 0) rc = fail_prefix(rc, "annotation %zu: ", i + 1);
        if (rc < 0) break;
    }
    if (rc == 0) sort_objects(is, picture);
    free(picture);
    return rc;
}

static int read_root(const json_t *root, struct instances *is)
{
    const json_t *images = list_of(root, "images");
    if (!images) return ERR_INPUT;
    TRY(read_pictures(images, is));
    const json_t *annotations = list_of(root, "annotations");
    return annotations ? read_objects(annotations, is) : ERR_INPUT;
}

int instances_parse(const char *name, const char *text, size_t n, struct instances *is)
{
    json_error_t error;
    *is = (struct instances){0};
    if (n > INSTANCES_BYTES) return fail(ERR_INPUT, "%s is larger than %d bytes", name, INSTANCES_BYTES);
    json_t *root = json_loadb(text, n, 0, &error);
    if (!root) return fail(ERR_INPUT, "%s: line %d, byte %d: %s", name, error.line, error.position, error.text);
    int rc = read_root(root, is);
    json_decref(root);
    if (rc == 0) return 0;
    instances_free(is);
    return fail_prefix(rc, "%s: ", name);
}

void instances_free(struct instances *is)
{
    free(is->picture), free(is->object);
    *is = (struct instances){0};
}
