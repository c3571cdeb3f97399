// SPDX-License-Identifier: Apache-2.0
// Drawn cells, for tests and trials: large, middle and small discs on a light ground, as JPEGs with boxes. They need no download
// and have the classes of BCCD.
//
// Everything depends on split and picture alone (rng.h). Cost: 0.1 s for all of it, when the set is opened.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/image/encoder.h"
#include "data/read/draws.h"
#include "data/read/voc/voc_set.h"

// Part of every digest. Raise the version with every change of a picture.
enum { VERSION = 1, SEED = 20171219 };
enum { WIDTH = 160, HEIGHT = 128, QUALITY = 90, MOST = 16, TRIES = 20, NOISE = 25 };
static const int64_t pictures_of[SPLIT_COUNT] = {96, 24};
static const char *const classes[] = {"RBC", "WBC", "Platelets", NULL};

// The discs of a class: the least and the most in a picture, and their radius and colour.
static const struct disc {
    int least, most, radius_least, radius_most;
    float colour[3];
} discs[] = {{2, 5, 14, 18, {205, 120, 120}}, {0, 2, 24, 29, {120, 70, 160}}, {1, 3, 8, 10, {150, 90, 190}}};

// True if no earlier disc covers a good part of this one.
static bool is_free(const struct voc *voc, int x, int y, int radius)
{
    for (int64_t i = 0; i < voc->objects; i++) {
        const int32_t *at = voc->object[i].at;
        int r = (at[VOC_RIGHT] - at[VOC_LEFT]) / 2, dx = at[VOC_LEFT] + r - x, dy = at[VOC_TOP] + r - y;
        if (dx * dx + dy * dy < (r + radius) * (r + radius) * 3 / 4) return false;
    }
    return true;
}

static void place_disc(struct draws *d, struct voc *voc, int class)
{
    const struct disc *disc = &discs[class];
    int radius = disc->radius_least + draws_below(d, disc->radius_most - disc->radius_least + 1);
    for (int i = 0; i < TRIES && voc->objects < MOST; i++) {
        int x = radius + draws_below(d, WIDTH - 2 * radius + 1), y = radius + draws_below(d, HEIGHT - 2 * radius + 1);
        if (!is_free(voc, x, y, radius)) continue;
        voc->object[voc->objects++] = (struct voc_object){.at = {class, x - radius, y - radius, x + radius, y + radius}};
        return;
    }
}

static void paint_disc(const struct voc_object *o, uint8_t *pixels)
{
    float radius = (float)(o->at[VOC_RIGHT] - o->at[VOC_LEFT]) / 2;
    for (int y = o->at[VOC_TOP]; y < o->at[VOC_BOTTOM]; y++)
        for (int x = o->at[VOC_LEFT]; x < o->at[VOC_RIGHT]; x++) {
            float dx = (float)(x - o->at[VOC_LEFT]) + 0.5f - radius, dy = (float)(y - o->at[VOC_TOP]) + 0.5f - radius;
            float part = radius - sqrtf(dx * dx + dy * dy);
            part = part < 0 ? 0 : part > 1 ? 1 : part;
            uint8_t *p = pixels + 3 * (y * WIDTH + x);
            for (int c = 0; c < 3; c++)
                p[c] = (uint8_t)((1 - part) * (float)p[c] + part * discs[o->at[VOC_CLASS]].colour[c]);
        }
}

static int draw_picture(struct encoder *encoder, struct draws *d, struct voc_sample *s)
{
    static const int ground[3] = {225, 210, 215};
    uint8_t pixels[WIDTH * HEIGHT * 3];
    const uint8_t *bytes;
    size_t count;
    snprintf(s->name, sizeof s->name, "cells_%05u", d->sample);
    s->is = (struct voc){.width = WIDTH, .height = HEIGHT, .object = zalloc(MOST * sizeof *s->is.object)};
    for (int class = 0; classes[class] != NULL; class++)
        for (int i = discs[class].least + draws_below(d, discs[class].most - discs[class].least + 1); i > 0; i--)
            place_disc(d, &s->is, class);
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)ground[i % 3];
    for (int64_t i = s->is.objects - 1; i >= 0; i--) paint_disc(&s->is.object[i], pixels);
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(pixels[i] + draws_below(d, NOISE) - NOISE / 2);
    TRY(encoder_draw(encoder, "a drawn picture", pixels, HEIGHT, WIDTH, QUALITY, &bytes, &count));
    s->jpeg = memcpy(zalloc(count), bytes, count);
    s->bytes = (int64_t)count;
    return 0;
}

static void cells_published(struct dataset_facts *facts)
{
    facts->title = "drawn cells";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = pictures_of[s];
    voc_fields(facts, classes, 32 << 10, 0);
    memcpy(facts->mean, (float[]){0.8f, 0.7f, 0.75f}, sizeof facts->mean);
    memcpy(facts->std, (float[]){0.15f, 0.2f, 0.15f}, sizeof facts->std);
}

static int cells_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    struct voc_set *set = ds->own = zalloc(sizeof *set);
    struct encoder *encoder = encoder_new();
    int rc = 0;
    cells_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (uint32_t s = 0; s < SPLIT_COUNT; s++) {
        struct voc_split *split = &set->split[s];
        split->sample = zalloc((size_t)pictures_of[s] * sizeof *split->sample);
        for (split->count = 0; split->count < pictures_of[s] && rc == 0; split->count++)
            rc = draw_picture(encoder, &DRAWS(SEED, s, split->count), &split->sample[split->count]);
    }
    encoder_free(encoder);
    if (rc == 0) voc_filled(ds);
    return rc;
}

const struct kind cells_kind = {
    .name = "cells", .drawn = true, .published = cells_published, .open = cells_open, .close = voc_close, .read = voc_read,
    .item = voc_item, .lengths = voc_lengths, .sample_name = voc_sample_name, .sample = "picture",
    .show = voc_show, .draw = voc_draw, .whole = voc_whole,
};
