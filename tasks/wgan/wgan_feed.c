// SPDX-License-Identifier: Apache-2.0
#include "tasks/wgan/wgan_feed.h"

#include "runtime/common/base/rng.h"
#include "tasks/wgan/wgan_keys.h"
#include "tasks/wgan/wgan_networks.h"

#include <stdlib.h>
#include <string.h>

// Everybody's scored pictures are made of the same noise, whatever the run's seed is.
#define SCORED_SEED 20170126u
enum { CHANNELS_MOST = 3, SCORED_BATCH = 250 };

struct pictures {
    struct dataset *data;
    int64_t height, width, channels, noise;
};

static int fill_picture(void *context, const struct feed_item *item, void *const field[])
{
    const struct pictures *p = context;
    uint8_t image[WGAN_SIDE * WGAN_SIDE * CHANNELS_MOST], *to = field[0];
    TRY(dataset_item(p->data, item->split, "images", item->index, image, sizeof image, NULL));
    int64_t row = p->width * p->channels, above = (WGAN_SIDE - p->height) / 2, left = (WGAN_SIDE - p->width) / 2;
    for (int64_t y = 0; y < p->height; y++)
        memcpy(to + ((above + y) * WGAN_SIDE + left) * p->channels, image + y * row, (size_t)row);
    return 0;
}

static int fill_noise(void *context, const struct feed_item *item, void *const field[])
{
    const struct pictures *p = context;
    for (int64_t i = 0; i < p->noise; i++)
        ((float *)field[0])[i] = (float)rng_normal(rng_draw(SCORED_SEED, RNG_SYNTHETIC, 0, (uint32_t)item->index, (uint32_t)i));
    return 0;
}

int wgan_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    const struct field *images = dataset_field(f->data, "images");
    const int64_t *size = images ? images->shape.dim : NULL;
    if (!size || images->dtype != U8 || images->ragged != FIELD_FIXED || images->shape.rank != 3 || size[0] > WGAN_SIDE ||
        size[1] > WGAN_SIDE || size[2] > CHANNELS_MOST)
        return fail(ERR_INPUT, "%s has no images of %d x %d pixels or less", c->data->name, WGAN_SIDE, WGAN_SIDE);
    struct pictures *p = zalloc(sizeof *p);
    *p = (struct pictures){f->data, size[0], size[1], size[2], wgan_keys(c->recipe)->noise};
    f->fields = 1, f->context = p, f->end = free;
    if (feed == FEED_TRAIN) {
        f->field[0] = (struct feed_field){.name = "pictures", .dtype = U8, .shape = {SHAPE(WGAN_SIDE, WGAN_SIDE, size[2])}};
        f->fill = fill_picture;
        return 0;
    }
    f->field[0] = (struct feed_field){.name = "noise", .dtype = F32, .shape = {SHAPE(p->noise)}};
    f->fill = fill_noise;
    if (f->order.batch[0] > SCORED_BATCH) f->order.batch[0] = SCORED_BATCH;
    return 0;
}
