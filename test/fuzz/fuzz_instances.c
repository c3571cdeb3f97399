// SPDX-License-Identifier: Apache-2.0
// Any bytes as COCO's instances: objects belong to pictures, have an area and a class.
#include "data/read/coco/instances.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct instances is;
    int64_t objects = 0;
    if (instances_parse("file", (const char *)bytes, count, &is) < 0) {
        BUG_IF(strncmp(error_text(), "file", 4) != 0);
        return 0;
    }
    for (int64_t i = 0; i < is.pictures; i++) {
        const struct picture *p = &is.picture[i];
        BUG_IF(p->first != objects || p->width < 1 || p->height < 1 || strchr(p->name, '/') || *p->name == '.');
        BUG_IF(i > 0 && p->id <= is.picture[i - 1].id);
        objects += p->objects;
    }
    BUG_IF(objects != is.objects);
    for (int64_t k = 0; k < is.objects; k++) {
        const float *at = is.object[k];
        BUG_IF(!(at[OBJECT_CLASS] >= 0 && at[OBJECT_CLASS] < INSTANCES_CLASSES));
        BUG_IF(!(at[OBJECT_RIGHT] >= at[OBJECT_LEFT] && at[OBJECT_BOTTOM] >= at[OBJECT_TOP] && at[OBJECT_AREA] >= 0));
    }
    instances_free(&is);
    return 0;
}
