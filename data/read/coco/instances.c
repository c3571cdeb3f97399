// SPDX-License-Identifier: Apache-2.0
// Cost: the whole file as values in memory while it is read, about ten times its size for COCO's training.
#include "data/read/coco/instances.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

#define FAR 1e9    // of a box, in pixels: areas stay finite
#define LARGE 1e18  // an area
enum { SIDE_MOST = 65500, FINE = 5 /* steps per pixel */ };

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

// ---- outlines

static void add_number(struct instances *is, int64_t number)
{
    int64_t n = is->numbers++;
    if ((n & (n - 1)) == 0) is->outline = grow(is->outline, (size_t)(n > 0 ? 2 * n : 1) * sizeof *is->outline);
    is->outline[n] = (int32_t)number;
}

static int read_polygon(const json_t *list, const struct picture *of, struct instances *is)
{
    const double most[2] = {of->width, of->height};
    size_t numbers = json_array_size(list);
    if (numbers < 6 || numbers % 2 != 0) return fail(ERR_INPUT, "it is no list of x and y of three or more corners");
    add_number(is, (int64_t)numbers);
    for (size_t i = 0; i < numbers; i++) {
        const json_t *value = json_array_get(list, i);
        double at = json_number_value(value);
        if (!json_is_number(value)) return fail(ERR_INPUT, "number %zu is none", i + 1);
        if (!(at >= -most[i % 2] && at <= 2 * most[i % 2]))
            return fail(ERR_INPUT, "number %zu, %g, is far outside of the %d x %d pixels of the image", i + 1, at, of->width,
                        of->height);
        add_number(is, (int64_t)(FINE * at + .5));
    }
    return 0;
}

static int read_counts(const json_t *list, const struct picture *of, struct instances *is)
{
    int64_t left = (int64_t)of->width * of->height, count;
    if (!json_is_array(list)) return fail(ERR_INPUT, "its \"segmentation\" is no list of polygons, and has no list \"counts\"");
    add_number(is, (int64_t)json_array_size(list));
    for (size_t i = 0; i < json_array_size(list); i++, left -= count) {
        count = json_is_integer(json_array_get(list, i)) ? json_integer_value(json_array_get(list, i)) : -1;
        if (count < 0 || count > left || count > INT32_MAX)
            return fail(ERR_INPUT, "count %zu of its mask is no whole number up to %lld, the pixels that are left", i + 1,
                        (long long)left);
        add_number(is, count);
    }
    return left == 0 ? 0 : fail(ERR_INPUT, "the counts of its mask end %lld pixels before the image", (long long)left);
}

static int read_outline(const json_t *entry, const struct picture *of, struct instances *is)
{
    const json_t *mask = json_object_get(entry, "segmentation"), *polygon;
    size_t i;
    add_number(is, (int64_t)json_array_size(mask));
    if (!mask) add_number(is, 0);
    if (!mask) return 0;
    if (!json_is_array(mask)) return read_counts(json_object_get(mask, "counts"), of, is);
    if (json_array_size(mask) == 0) return fail(ERR_INPUT, "its \"segmentation\" has no polygon");
    json_array_foreach(mask, i, polygon) {
        int rc = read_polygon(polygon, of, is);
        if (rc < 0) return fail_prefix(rc, "polygon %zu of its \"segmentation\": ", i + 1);
    }
    return 0;
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
    return read_outline(entry, of, is);
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

struct listed {
    int64_t picture, outline, end;  // of an object; its part of the outlines
};

// Moves the objects and outlines, which are in the order of the file, to the order of their pictures.
static void sort_objects(struct instances *is, const struct listed *of)
{
    float(*sorted)[OBJECT_MEMBERS] = zalloc((size_t)(is->objects + 1) * sizeof *sorted);
    int32_t *outline = zalloc((size_t)(is->numbers + 1) * sizeof *outline);
    int64_t *next = zalloc((size_t)(is->pictures + 1) * sizeof *next), at = 0;
    for (int64_t k = 0; k < is->objects; k++) is->picture[of[k].picture].numbers += of[k].end - of[k].outline;
    for (int64_t i = 0; i < is->pictures; at += is->picture[i++].objects) next[i] = is->picture[i].first = at;
    for (int64_t k = 0; k < is->objects; k++) memcpy(sorted[next[of[k].picture]++], is->object[k], sizeof *sorted);
    at = 0;
    for (int64_t i = 0; i < is->pictures; at += is->picture[i++].numbers) next[i] = is->picture[i].outline = at;
    for (int64_t k = 0; k < is->objects; k++) {
        int64_t numbers = of[k].end - of[k].outline;
        memcpy(outline + next[of[k].picture], is->outline + of[k].outline, (size_t)numbers * sizeof *outline);
        next[of[k].picture] += numbers;
    }
    free(is->object), free(is->outline), free(next);
    is->object = sorted, is->outline = outline;
}

static int read_objects(const json_t *list, struct instances *is)
{
    const json_t *entry;
    size_t i;
    struct listed *of = zalloc((json_array_size(list) + 1) * sizeof *of), one = {0};
    int rc = 0;
    is->object = zalloc((json_array_size(list) + 1) * sizeof *is->object);
    json_array_foreach(list, i, entry) {
        one.outline = is->numbers;
        rc = read_object(entry, is, &one.picture);
        if (rc < 0) rc = fail_prefix(rc, "annotation %zu: ", i + 1);
        if (rc < 0) break;
        one.end = is->numbers;
        if (one.end > one.outline) of[is->objects - 1] = one;
    }
    if (rc == 0) sort_objects(is, of);
    free(of);
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
    free(is->picture), free(is->object), free(is->outline);
    *is = (struct instances){0};
}
