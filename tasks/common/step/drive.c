// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/drive.h"

#include "tasks/common/step/supply.h"

#include <stdio.h>

enum { NAME_ROOM = 128 };

static void name_slot(const struct drive *d, const char *slot, char name[NAME_ROOM])
{
    BUG_IF(!d->session);  // a step reads and writes no slots
    BUG_IF((size_t)snprintf(name, NAME_ROOM, "%s%s", slot, d->suffix) >= NAME_ROOM);
}

int drive_grow(struct drive *d, int feed, int64_t count)
{
    BUG_IF(!d->supply);
    return supply_grow(&d->supply[feed], count);
}

int drive_read(struct drive *d, const char *slot, void *into, size_t bytes)
{
    char name[NAME_ROOM];
    name_slot(d, slot, name);
    return session_get(d->session, name, into, bytes);
}

int drive_write(struct drive *d, const char *slot, const void *bytes, size_t count)
{
    char name[NAME_ROOM];
    name_slot(d, slot, name);
    return session_put(d->session, name, bytes, 0, count);
}
