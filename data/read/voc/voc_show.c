// SPDX-License-Identifier: Apache-2.0
// Samples for people, and a split as COCO's truth.
#include <stdlib.h>

#include "data/image/draw.h"
#include "data/read/voc/voc_set.h"
#include "runtime/common/base/file.h"

static const struct voc_sample *sample_of(const struct dataset *ds, enum split split, int64_t index)
{
    const struct voc_set *set = ds->own;
    return &set->split[split].sample[index];
}

int voc_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    const struct voc_sample *s = sample_of(ds, split, number - 1);
    text_entry(into, "picture", "%s, %d x %d", s->name, s->is.width, s->is.height);
    for (int64_t i = 0; i < s->is.objects; i++) {
        const int32_t *at = s->is.object[i].at;
        text_entry(into, ds->facts.class_names[at[VOC_CLASS]], "%d, %d to %d, %d", at[VOC_LEFT], at[VOC_TOP], at[VOC_RIGHT],
                   at[VOC_BOTTOM]);
    }
    return 0;
}

int voc_draw(struct dataset *ds, enum split split, int64_t number, const char *path)
{
    const struct voc_sample *s = sample_of(ds, split, number - 1);
    struct image image;
    TRY(image_decode(s->name, s->jpeg, (size_t)s->bytes, &IMAGE_LIMITS, &image));
    for (int64_t i = 0; i < s->is.objects; i++) {
        const int32_t *at = s->is.object[i].at;
        int colour = s->labels != NULL ? (int)i : at[VOC_CLASS];
        const struct draw_mask mask = {.labels = s->labels, .label = (uint8_t)(i + 1), .colour = colour};
        if (s->labels != NULL) draw_mask(&image, &mask);
        draw_box(&image, &(struct draw_box){at[VOC_LEFT], at[VOC_TOP], at[VOC_RIGHT], at[VOC_BOTTOM],
                                            ds->facts.class_names[at[VOC_CLASS]], colour});
    }
    int rc = image_write_png(path, &image);
    image_free(&image);
    return rc;
}

// Runs of pixels, column by column, outside and inside by turns. Returns the number of pixels inside.
static int64_t add_runs(const struct voc_sample *s, uint8_t label, struct text *into)
{
    int64_t run = 0, area = 0;
    bool inside = false;
    text_add(into, "\"segmentation\": {\"size\": [%d, %d], \"counts\": [", s->is.height, s->is.width);
    for (int64_t x = 0; x < s->is.width; x++)
        for (int64_t y = 0; y < s->is.height; y++, run++) {
            if ((s->labels[y * s->is.width + x] == label) == inside) continue;
            text_add(into, "%lld, ", (long long)run);
            area += inside ? run : 0;
            inside = !inside, run = 0;
        }
    text_add(into, "%lld]}, ", (long long)run);
    return area + (inside ? run : 0);
}

static void add_objects(const struct dataset *ds, enum split split, struct text *into)
{
    int64_t id = 0;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) {
        const struct voc_sample *s = sample_of(ds, split, i);
        for (int64_t k = 0; k < s->is.objects; k++) {
            const int32_t *at = s->is.object[k].at;
            int64_t width = at[VOC_RIGHT] - at[VOC_LEFT], height = at[VOC_BOTTOM] - at[VOC_TOP], area = width * height;
            text_add(into, "%s\n{\"id\": %lld, \"image_id\": %lld, \"category_id\": %d, \"bbox\": [%d, %d, %lld, %lld], ",
                     id > 0 ? "," : "", (long long)id + 1, (long long)i + 1, at[VOC_CLASS] + 1, at[VOC_LEFT], at[VOC_TOP],
                     (long long)width, (long long)height);
            if (s->labels != NULL) area = add_runs(s, (uint8_t)(k + 1), into);
            text_add(into, "\"area\": %lld, \"iscrowd\": 0}", (long long)area);
            id++;
        }
    }
}

// Numbers of images, categories and annotations begin at 1.
int voc_whole(struct dataset *ds, enum split split, const char *path)
{
    struct text all = {0};
    text_add(&all, "{\"images\": [");
    for (int64_t i = 0; i < ds->facts.count[split]; i++) {
        const struct voc_sample *s = sample_of(ds, split, i);
        text_add(&all, "%s\n{\"id\": %lld, \"file_name\": \"%s.%s\", \"width\": %d, \"height\": %d}", i > 0 ? "," : "",
                 (long long)i + 1, s->name, s->labels != NULL ? "png" : "jpg", s->is.width, s->is.height);
    }
    text_add(&all, "],\n\"categories\": [");
    for (int i = 0; i < ds->facts.classes; i++)
        text_add(&all, "%s{\"id\": %d, \"name\": \"%s\"}", i > 0 ? ", " : "", i + 1, ds->facts.class_names[i]);
    text_add(&all, "],\n\"annotations\": [");
    add_objects(ds, split, &all);
    text_add(&all, "]}\n");
    int rc = file_write(path, all.at, all.length);
    text_free(&all);
    return rc;
}
