// SPDX-License-Identifier: Apache-2.0
// Any bytes as the masks of a photograph: they are either refused with a sentence that names the file, or every object has
// pixels, all of them in its box, and its box is as small as can be.
#include "data/read/voc/masks.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_object(const struct voc *voc, const uint8_t *labels, int64_t object)
{
    const int32_t *at = voc->object[object].at;
    bool edge[4] = {false};
    BUG_IF(at[VOC_CLASS] != 0 || voc_is_empty(&voc->object[object]));
    for (int32_t y = 0; y < voc->height; y++)
        for (int32_t x = 0; x < voc->width; x++) {
            if (labels[(int64_t)y * voc->width + x] != object + 1) continue;
            BUG_IF(x < at[VOC_LEFT] || x >= at[VOC_RIGHT] || y < at[VOC_TOP] || y >= at[VOC_BOTTOM]);
            edge[0] |= x == at[VOC_LEFT], edge[1] |= y == at[VOC_TOP];
            edge[2] |= x == at[VOC_RIGHT] - 1, edge[3] |= y == at[VOC_BOTTOM] - 1;
        }
    BUG_IF(!edge[0] || !edge[1] || !edge[2] || !edge[3]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct voc voc;
    uint8_t *labels;
    if (masks_parse("mask.png", bytes, count, &voc, &labels) < 0) {
        BUG_IF(strncmp(error_text(), "mask.png", 8) != 0 || voc.object != NULL || labels != NULL);
        return 0;
    }
    BUG_IF(voc.width < 1 || voc.height < 1 || voc.objects > 255);
    for (int64_t i = 0; i < voc.objects && (int64_t)voc.width * voc.height < 1 << 16; i++) check_object(&voc, labels, i);
    voc_free(&voc);
    free(labels);
    return 0;
}
