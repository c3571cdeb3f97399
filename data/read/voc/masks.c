// SPDX-License-Identifier: Apache-2.0
// Cost: two passes over the pixels.
#include "data/read/voc/masks.h"

#include <stdlib.h>

#include "data/image/png.h"
#include "runtime/common/base/arena.h"

enum { VALUES = 256 };

void masks_boxes(const uint8_t *labels, struct voc *voc)
{
    for (int64_t i = 0; i < voc->objects; i++) voc->object[i].at[VOC_LEFT] = voc->width, voc->object[i].at[VOC_TOP] = voc->height;
    for (int32_t y = 0; y < voc->height; y++)
        for (int32_t x = 0; x < voc->width; x++) {
            uint8_t label = labels[(int64_t)y * voc->width + x];
            if (label == 0) continue;
            int32_t *at = voc->object[label - 1].at;
            if (x < at[VOC_LEFT]) at[VOC_LEFT] = x;
            if (y < at[VOC_TOP]) at[VOC_TOP] = y;
            if (x >= at[VOC_RIGHT]) at[VOC_RIGHT] = x + 1;
            at[VOC_BOTTOM] = y + 1;
        }
}

int masks_parse(const char *name, const uint8_t *bytes, size_t n, struct voc *into, uint8_t **labels)
{
    struct image image;
    bool seen[VALUES] = {false};
    uint8_t label[VALUES] = {0};
    *into = (struct voc){0}, *labels = NULL;
    TRY(png_read(name, bytes, n, &(struct png_choice){.limits = IMAGE_LIMITS, .numbers = true}, &image));
    const int64_t pixels = (int64_t)image.height * image.width;
    *into = (struct voc){.width = image.width, .height = image.height, .object = zalloc(VALUES * sizeof *into->object)};
    for (int64_t i = 0; i < pixels; i++) seen[image.pixels[i]] = true;
    for (int v = 1; v < VALUES; v++)
        if (seen[v]) label[v] = (uint8_t)++into->objects;
    for (int64_t i = 0; i < pixels; i++) image.pixels[i] = label[image.pixels[i]];
    masks_boxes(image.pixels, into);
    *labels = image.pixels;
    return 0;
}
