// SPDX-License-Identifier: Apache-2.0
// A data set's shape without its files: what `dawn plan` and `dawn bench` use where nothing has been fetched.
//
// Invariant: pixels and labels are functions of (split, index) alone, and the facts say `synthetic`, so that nothing
// made of them can be taken for the real thing.
// Cost: one Philox block for 16 pixels, about 2 us an image of CIFAR-10, shared among the threads.
#include <stdio.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/noise.h"
#include "runtime/base/rng.h"

enum { NOISE_SEED = 0x6e6f6973 };

static int noise_open(struct dataset *ds, const char *folder)
{
    (void)ds, (void)folder;
    BUG("noise stands in for another kind and is never opened by name");
}

static void noise_close(struct dataset *ds)
{
    (void)ds;
}

static void noise_image(const struct dataset_facts *facts, enum split split, int64_t index, uint8_t *image)
{
    size_t bytes = (size_t)facts->height * (size_t)facts->width * (size_t)facts->channels;
    for (size_t at = 0; at < bytes; at += sizeof(struct rng4)) {
        struct rng4 r =
            rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)split, (uint32_t)index, (uint32_t)(at / sizeof r));
        memcpy(image + at, &r, bytes - at < sizeof r ? bytes - at : sizeof r);
    }
}

static int noise_read(struct dataset *ds, enum split split, int64_t first, int64_t count, uint8_t *images,
                      uint8_t *labels)
{
    const struct dataset_facts *facts = &ds->facts;
    int64_t bytes = (int64_t)facts->height * facts->width * facts->channels;
    for (int64_t i = 0; i < count; i++) {
        if (images != NULL) noise_image(facts, split, first + i, images + i * bytes);
        if (labels != NULL) labels[i] = (uint8_t)((first + i) % facts->classes);
    }
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

static int noise_verify(struct dataset *ds, enum dataset_verdict *verdict)
{
    (void)ds;
    *verdict = DATASET_SYNTHETIC;
    return 0;
}

const struct kind noise_kind = {
    .name = "noise",
    .open = noise_open,
    .close = noise_close,
    .read = noise_read,
    .digest = noise_digest,
    .content_digest = noise_digest,
    .verify = noise_verify,
};
