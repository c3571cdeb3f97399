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

// Powers of two, so that full and short batches share the smaller ones. Below the least one a step costs hardly less.
int64_t drive_shrunk(int64_t count)
{
    enum { LEAST = 8 };
    int64_t smaller = LEAST;
    while (2 * smaller < count) smaller *= 2;
    return smaller < count ? smaller : 0;
}

void drive_resize(struct drive *d, int64_t count)
{
    struct order_batch *batch = &d->batch[FEED_TEST];
    batch->count = count;
    snprintf(d->suffix, sizeof d->suffix, ".%d.%lld", batch->bucket, (long long)count);
}
