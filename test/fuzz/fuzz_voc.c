// SPDX-License-Identifier: Apache-2.0
// Any bytes as an annotation and as a list of names: they are either refused with a sentence that names the file, or boxes that
// lie in the picture, and names that may become parts of paths.
#include "data/read/voc/voc.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_boxes(const struct voc *voc)
{
    BUG_IF(voc->width < 1 || voc->height < 1 || voc->objects > VOC_OBJECTS);
    for (int64_t i = 0; i < voc->objects; i++) {
        const int32_t *at = voc->object[i].at;
        BUG_IF(at[VOC_CLASS] < 0 || at[VOC_CLASS] > 1 || voc->object[i].line < 1);
        BUG_IF(at[VOC_LEFT] < 0 || at[VOC_RIGHT] < at[VOC_LEFT] || at[VOC_RIGHT] > voc->width);
        BUG_IF(at[VOC_TOP] < 0 || at[VOC_BOTTOM] < at[VOC_TOP] || at[VOC_BOTTOM] > voc->height);
    }
}

static void check_names(const struct voc_names *names)
{
    BUG_IF(names->count < 1);
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = names->name[i];
        BUG_IF(*name == '\0' || *name == '.' || strlen(name) >= VOC_NAME || strchr(name, '/') != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const classes[] = {"RBC", "WBC", NULL};
    const char *text = (const char *)bytes;
    struct voc voc;
    struct voc_names names;
    int rc = voc_parse("one.xml", text, count, classes, &voc);
    if (rc < 0) BUG_IF(strncmp(error_text(), "one.xml", 7) != 0 || voc.object != NULL);
    else check_boxes(&voc);
    voc_free(&voc);
    rc = voc_parse_names("all.txt", text, count, &names);
    if (rc < 0) BUG_IF(strncmp(error_text(), "all.txt", 7) != 0 || names.name != NULL);
    else check_names(&names);
    voc_names_free(&names);
    return 0;
}
