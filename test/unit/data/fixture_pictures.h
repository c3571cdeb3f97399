// SPDX-License-Identifier: Apache-2.0
// A data set of JPEGs in memory, of different sizes and shapes, as data/image/ and the feed see it.
#pragma once

#include <stdatomic.h>

#include "data/kind.h"
#include "test/unit/fixture_jpeg.h"

enum { PICTURES_COUNT = 70, PICTURES_ROOM = 1 << 16 };

struct pictures {
    struct jpeg_bytes file[PICTURES_COUNT];
    int32_t size[PICTURES_COUNT][2];
    int32_t larger;                          // how many times as large a file is said to be, for pages
    _Atomic int64_t wanted[PICTURES_COUNT];  // how often dataset_want named each
};

static inline int pictures_read(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count,
                                void *into)
{
    struct pictures *p = d->own;
    (void)split;
    for (int64_t i = 0; i < count; i++) {
        if (kind_field_is(f, "sizes")) memcpy((int32_t *)into + 2 * i, p->size[first + i], 8);
        else ((int32_t *)into)[i] = (int32_t)((first + i) % 10);
    }
    return 0;
}

static inline int pictures_item(struct dataset *d, enum split split, const struct field *f, int64_t i, void *into,
                                size_t capacity, int64_t *length)
{
    const struct jpeg_bytes *b = &((struct pictures *)d->own)->file[i];
    if (b->count > capacity) return kind_too_small(d, split, f, i, (int64_t)b->count, capacity);
    memcpy(into, b->at, b->count);
    *length = (int64_t)b->count;
    return 0;
}

static inline int pictures_lengths(struct dataset *d, enum split split, const struct field *f, int32_t *lengths)
{
    (void)split, (void)f;
    for (int i = 0; i < PICTURES_COUNT; i++) {
        struct pictures *p = d->own;
        lengths[i] = (int32_t)p->file[i].count * (p->larger ? p->larger : 1);
    }
    return 0;
}

static inline void pictures_want(struct dataset *d, enum split split, const struct field *f, int64_t first, int64_t count)
{
    (void)split, (void)f;
    for (int64_t i = first; i < first + count; i++) atomic_fetch_add(&((struct pictures *)d->own)->wanted[i], 1);
}

static inline void pictures_close(struct dataset *d)
{
    struct pictures *p = d->own;
    for (int i = 0; i < PICTURES_COUNT; i++) free(p->file[i].at);
    free(p);
}

static inline struct dataset *pictures_open(void)
{
    static const struct kind kind = {.name = "pictures", .close = pictures_close, .read = pictures_read, .item = pictures_item,
                                     .lengths = pictures_lengths, .want = pictures_want};
    struct dataset *d = calloc(1, sizeof *d);
    struct pictures *p = calloc(1, sizeof *p);
    if (d == NULL || p == NULL) abort();
    *d = (struct dataset){.kind = &kind, .own = p,
                          .facts = {.name = "pictures", .title = "pictures", .count = {PICTURES_COUNT, PICTURES_COUNT},
                                    .fields = 3, .split_name = {"train", "val"},
                                    .field = {{"jpeg", U8, SHAPE(PICTURES_ROOM), 0, 0},
                                              {"labels", I32, {0}, FIELD_FIXED, 10},
                                              {"sizes", I32, SHAPE(2), FIELD_FIXED, 0}}}};
    for (int i = 0; i < PICTURES_COUNT; i++) {
        struct jpeg_shape s = {.width = 40 + i * 7 % 61, .height = 40 + i * 11 % 53, .components = i % 9 == 0 ? 1 : 3,
                               .across = i % 2 ? 2 : 1, .down = i % 4 == 1 ? 2 : 1, .progressive = i % 5 == 4,
                               .seed = (uint32_t)i};
        if (s.components == 1) s.across = s.down = 1;
        p->file[i] = jpeg_make(&s);
        p->size[i][0] = s.width, p->size[i][1] = s.height;
    }
    return d;
}
