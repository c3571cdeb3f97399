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
        draw_box(&image, &(struct draw_box){at[VOC_LEFT], at[VOC_TOP], at[VOC_RIGHT], at[VOC_BOTTOM],
                                            ds->facts.class_names[at[VOC_CLASS]], at[VOC_CLASS]});
    }
    int rc = image_write_png(path, &image);
    image_free(&image);
    return rc;
}

static void add_objects(const struct dataset *ds, enum split split, struct text *into)
{
    int64_t id = 0;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) {
        const struct voc *is = &sample_of(ds, split, i)->is;
        for (int64_t k = 0; k < is->objects; k++) {
            const int32_t *at = is->object[k].at;
            int64_t width = at[VOC_RIGHT] - at[VOC_LEFT], height = at[VOC_BOTTOM] - at[VOC_TOP];
            text_add(into, "%s\n{\"id\": %lld, \"image_id\": %lld, \"category_id\": %d, \"bbox\": [%d, %d, %lld, %lld], "
                     "\"area\": %lld, \"iscrowd\": 0}", id > 0 ? "," : "", (long long)id + 1, (long long)i + 1, at[VOC_CLASS] + 1,
                     at[VOC_LEFT], at[VOC_TOP], (long long)width, (long long)height, (long long)(width * height));
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
        text_add(&all, "%s\n{\"id\": %lld, \"file_name\": \"%s.jpg\", \"width\": %d, \"height\": %d}", i > 0 ? "," : "",
                 (long long)i + 1, s->name, s->is.width, s->is.height);
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
