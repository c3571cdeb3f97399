// SPDX-License-Identifier: Apache-2.0
#include "tasks/detection/objects.h"

#include "data/read/coco/instances.h"
#include "data/read/voc/voc.h"

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
