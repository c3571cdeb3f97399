// SPDX-License-Identifier: Apache-2.0
// A data set's shape without its files, for `dawn plan` and `dawn bench` on machines without the data.
//
// Invariant: every value depends on (split, field, index) alone and is in the range that the facts allow. The facts say
// `synthetic`, so no result can pass for one on real data. Cost: one Philox block for 16 bytes, about 2 us per image of
// CIFAR-10, shared among the threads.
#include <stdio.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/noise.h"
#include "runtime/common/base/rng.h"

enum { NOISE_SEED = 0x6e6f6973 };

// One block is four numbers: 16 values of u8, 4 of any other type. The first field uses the first purpose, the next fields
// the following ones.
static void noise_fill(const struct dataset *ds, enum split split, const struct field *field, int64_t index, char *into,
                       int64_t elements)
{
    uint32_t purpose = RNG_SYNTHETIC + 0x100u * (uint32_t)(field - ds->facts.field);
    size_t size = dtype_size(field->dtype), bytes = (size_t)elements * size;
    size_t each = field->dtype == U8 ? sizeof(struct rng4) : 4 * size;
    for (size_t at = 0, block = 0; at < bytes; at += each, block++) {
        struct rng4 r = rng_draw(NOISE_SEED, purpose, (uint32_t)split, (uint32_t)index, (uint32_t)block);
        for (int i = 0; i < 4 && field->dtype != U8; i++) {
            float unit = rng_unit(r.v[i]);
            if (field->dtype == F32) memcpy(&r.v[i], &unit, sizeof unit);
            else if (field->dtype == I32) r.v[i] >>= 1;
            else r.v[i] = 0;  // 16-bit floats get zero
        }
        memcpy(into + at, &r, bytes - at < each ? bytes - at : each);
    }
    for (int64_t i = 0; i < elements && field->classes > 0; i++) {  // labels rotate through the classes
        int32_t class = (int32_t)((index + i) % field->classes);
        if (field->dtype == U8) into[i] = (char)class;
        else memcpy(into + 4 * i, &class, sizeof class);
    }
}

static int noise_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                      void *into)
{
    int64_t bytes = field_bytes(field, 1);
    for (int64_t i = 0; i < count && into != NULL; i++)
        noise_fill(ds, split, field, first + i, (char *)into + i * bytes, field_elements(field, 1));
    return 0;
}

static int64_t noise_length(const struct field *field, enum split split, int64_t index)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)split, (uint32_t)index, UINT32_MAX);
    return 1 + rng_below(r.v[0], (uint32_t)field->shape.dim[field->ragged]);
}

static int noise_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into,
                      size_t capacity, int64_t *length)
{
    *length = noise_length(field, split, index);
    if ((size_t)field_bytes(field, *length) > capacity)
        return kind_too_small(ds, split, field, index, field_bytes(field, *length), capacity);
    noise_fill(ds, split, field, index, into, field_elements(field, *length));
    return 0;
}

static int noise_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = (int32_t)noise_length(field, split, i);
    return 0;
}

static int noise_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    char text[128];
    int length = snprintf(text, sizeof text, "dawn noise seed %d shape of %s split %s", NOISE_SEED, ds->facts.name,
                          split_name(split));
    digest_bytes(text, (size_t)length, hex);
    return 0;
}

const struct kind noise_kind = {
    .name = "noise",
    .read = noise_read,
    .item = noise_item,
    .lengths = noise_lengths,
    .digest = noise_digest,
    .content_digest = noise_digest,
};
