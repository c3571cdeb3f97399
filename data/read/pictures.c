// SPDX-License-Identifier: Apache-2.0
// Draws the scenes of synthetic.c with a shorter side of 40 to 96 pixels, upright or landscape, and encodes them.
//
// Invariant: a picture depends on (split, index) alone. Cost: about 1 ms when a picture is first read. Then it is kept (2
// KB; 1 MB for all of `pictures`).
#include "data/read/pictures.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/image/encoder.h"
#include "data/kind.h"
#include "data/read/synthetic.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"

enum { FIELD_JPEG, FIELD_LABELS, FIELD_SIZES, FIELDS };
enum { PICTURES_VERSION = 1, PICTURES_SEED = 0x70696373, PICTURES_QUALITY = 85 };

struct drawn {
    int64_t count;
    uint8_t bytes[];
};

struct pictures {
    _Atomic(struct drawn *) at[SPLIT_COUNT][PICTURES_TRAIN];
};

static void size_of(enum split split, int64_t index, int32_t size[2])
{
    struct rng4 r = rng_draw(PICTURES_SEED, RNG_SYNTHETIC, (uint32_t)split, (uint32_t)index, 0);
    int32_t shorter = 40 + (int32_t)rng_below(r.v[0], 57);
    int32_t longer = shorter + (int32_t)rng_below(r.v[1], (uint32_t)shorter / 2 + 1);
    bool upright = r.v[2] & 1;
    size[0] = upright ? shorter : longer, size[1] = upright ? longer : shorter;
}

static int draw(enum split split, int64_t index, struct drawn **drawn)
{
    int32_t size[2];
    const uint8_t *bytes;
    size_t count;
    size_of(split, index, size);
    uint8_t *pixels = zalloc((size_t)size[0] * (size_t)size[1] * 3);
    struct encoder *encoder = encoder_new();
    synthetic_draw_at(split, index, size[1], size[0], pixels);
    int rc = encoder_draw(encoder, "a drawn picture", pixels, size[1], size[0], PICTURES_QUALITY, &bytes, &count);
    if (rc == 0) {
        BUG_IF(count > PICTURES_LONGEST);  // at most 96 x 144 pixels with one byte each, and a header
        *drawn = zalloc(sizeof **drawn + count);
        (*drawn)->count = (int64_t)count;
        memcpy((*drawn)->bytes, bytes, count);
    }
    encoder_free(encoder);
    free(pixels);
    return rc;
}

// Two threads may draw the same picture; one of them keeps it.
static int find_or_draw(struct pictures *pictures, enum split split, int64_t index, const struct drawn **found)
{
    struct drawn *drawn = atomic_load(&pictures->at[split][index]), *none = NULL;
    if (drawn == NULL) {
        TRY(draw(split, index, &drawn));
        if (!atomic_compare_exchange_strong(&pictures->at[split][index], &none, drawn)) {
            free(drawn);
            drawn = none;
        }
    }
    *found = drawn;
    return 0;
}

static int copy_drawn(struct dataset *ds, enum split split, const struct field *field, int64_t index, const struct drawn *drawn,
                      void *into, size_t capacity, int64_t *length)
{
    if ((size_t)drawn->count > capacity) return kind_too_small(ds, split, field, index, drawn->count, capacity);
    memcpy(into, drawn->bytes, (size_t)drawn->count);
    *length = drawn->count;
    return 0;
}

static int pictures_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into,
                         size_t capacity, int64_t *length)
{
    const struct drawn *drawn;
    TRY(find_or_draw(ds->own, split, index, &drawn));
    return copy_drawn(ds, split, field, index, drawn, into, capacity, length);
}

static int pictures_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    (void)field;
    for (int64_t i = 0; i < ds->facts.count[split]; i++) {
        const struct drawn *drawn;
        TRY(find_or_draw(ds->own, split, i, &drawn));
        lengths[i] = (int32_t)drawn->count;
    }
    return 0;
}

static int pictures_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                         void *into)
{
    bool labels = field == &ds->facts.field[FIELD_LABELS], noise = ds->kind == &pictures_noise_kind;
    int32_t *numbers = into;
    for (int64_t i = 0; i < count && into != NULL; i++) {
        if (!labels) size_of(split, first + i, numbers + 2 * i);
        else numbers[i] = noise ? (int32_t)((first + i) % ds->facts.classes) : synthetic_label(split, first + i);
    }
    return 0;
}

static void pictures_published(struct dataset_facts *facts)
{
    facts->title = "synthetic pictures";
    facts->synthetic = true;
    facts->count[SPLIT_TRAIN] = PICTURES_TRAIN;
    facts->count[SPLIT_TEST] = PICTURES_TEST;
    synthetic_describe(facts);
    facts->channels = 3;
    facts->field[FIELD_JPEG] = (struct field){"jpeg", U8, SHAPE(PICTURES_LONGEST), 0, 0};
    facts->field[FIELD_LABELS] = (struct field){"labels", I32, {0}, FIELD_FIXED, SYNTHETIC_CLASSES};
    facts->field[FIELD_SIZES] = (struct field){"sizes", I32, SHAPE(2), FIELD_FIXED, 0};
    facts->fields = FIELDS;
}

static int pictures_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    pictures_published(&ds->facts);
    ds->own = zalloc(sizeof(struct pictures));
    return 0;
}

static void pictures_close(struct dataset *ds)
{
    struct pictures *pictures = ds->own;
    for (int s = 0; s < SPLIT_COUNT && pictures != NULL; s++)
        for (int i = 0; i < PICTURES_TRAIN; i++) free(atomic_load(&pictures->at[s][i]));
    free(pictures);
}

static int pictures_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    char text[128];
    int length = snprintf(text, sizeof text, "dawn pictures version %d seed %d of %s split %s count %lld", PICTURES_VERSION,
                          PICTURES_SEED, ds->facts.name, split_name(split), (long long)ds->facts.count[split]);
    digest_bytes(text, (size_t)length, hex);
    return 0;
}

const struct kind pictures_kind = {
    .name = "pictures",
    .drawn = true,
    .published = pictures_published,
    .open = pictures_open,
    .close = pictures_close,
    .read = pictures_read,
    .item = pictures_item,
    .lengths = pictures_lengths,
    .digest = pictures_digest,
    .content_digest = pictures_digest,
};

// ---- replacement of missing files

static int noise_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                      int64_t *length)
{
    struct drawn *drawn;
    *length = 0;
    if (field != &ds->facts.field[FIELD_JPEG]) return 0;  // a list, of boxes, which is empty
    TRY(draw(split, index, &drawn));
    int rc = copy_drawn(ds, split, field, index, drawn, into, capacity, length);
    free(drawn);
    return rc;
}

static int noise_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    for (int64_t i = 0; i < ds->facts.count[split]; i++) {
        struct drawn *drawn;
        lengths[i] = 0;
        if (field != &ds->facts.field[FIELD_JPEG]) continue;
        TRY(draw(split, i, &drawn));
        lengths[i] = (int32_t)drawn->count;
        free(drawn);
    }
    return 0;
}

const struct kind pictures_noise_kind = {
    .name = "noise",
    .close = pictures_close,
    .read = pictures_read,
    .item = noise_item,
    .lengths = noise_lengths,
    .digest = pictures_digest,
    .content_digest = pictures_digest,
};
