// SPDX-License-Identifier: Apache-2.0
// Drawn people, for tests and trials: dark figures, a head on a body, on a light ground, as PNGs with masks. They need no
// download and have the class of Penn-Fudan.
//
// Everything depends on split and picture alone (rng.h). Cost: 0.3 s for all of it, when the set is opened.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/image/image.h"
#include "data/read/draws.h"
#include "data/read/voc/masks.h"
#include "data/read/voc/voc_set.h"

// Part of every digest. Raise the version with every change of a picture.
enum { VERSION = 1, SEED = 20070213 };
enum { WIDTH = 160, HEIGHT = 128, MOST = 4, TRIES = 20, NOISE = 25, DARK = 120 };
static const int64_t pictures_of[SPLIT_COUNT] = {96, 24};
static const char *const classes[] = {"person", NULL};

struct figure {
    int x, top, height;  // the middle of its columns, and its rows
};

static float square(float x)
{
    return x * x;
}

// The head has a radius of an eighth of the height; the body is an ellipse below it.
static bool is_inside(const struct figure *f, int x, int y)
{
    float height = (float)f->height, across = (float)(x - f->x) + 0.5f, down = (float)(y - f->top) + 0.5f;
    if (square(across) + square(down - height / 8) < square(height / 8)) return true;
    return square(across / (0.19f * height)) + square((down - 0.6f * height) / (0.4f * height)) < 1;
}

// Figures may cover each other's edges.
static int place_figures(struct draws *d, struct figure figure[MOST])
{
    int wanted = 1 + draws_below(d, MOST), count = 0;
    for (int i = 0; i < TRIES && count < wanted; i++) {
        struct figure f = {.height = 48 + draws_below(d, 60)};
        bool free = true;
        f.x = f.height / 5 + draws_below(d, WIDTH - f.height * 2 / 5), f.top = draws_below(d, HEIGHT - f.height);
        for (int k = 0; k < count; k++) free = free && 6 * abs(figure[k].x - f.x) > figure[k].height + f.height;
        if (free) figure[count++] = f;
    }
    return count;
}

static void paint_figure(struct draws *d, const struct figure *f, uint8_t label, const struct voc_sample *s, uint8_t *pixels)
{
    int colour[3];
    for (int c = 0; c < 3; c++) colour[c] = NOISE + draws_below(d, DARK);
    for (int y = f->top; y < f->top + f->height; y++)
        for (int x = 0; x < WIDTH; x++) {
            if (!is_inside(f, x, y)) continue;
            s->labels[y * WIDTH + x] = label;
            for (int c = 0; c < 3; c++) pixels[3 * (y * WIDTH + x) + c] = (uint8_t)colour[c];
        }
}

static int draw_picture(struct draws *d, struct voc_sample *s)
{
    static const int ground[3] = {205, 215, 200};
    uint8_t pixels[WIDTH * HEIGHT * 3];
    struct figure figure[MOST];
    void *bytes;
    size_t count;
    snprintf(s->name, sizeof s->name, "people_%05u", d->sample);
    s->is = (struct voc){.width = WIDTH, .height = HEIGHT, .object = zalloc(MOST * sizeof *s->is.object)};
    s->labels = zalloc(WIDTH * HEIGHT);
    s->is.objects = place_figures(d, figure);
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)ground[i % 3];
    for (int i = 0; i < s->is.objects; i++) paint_figure(d, &figure[i], (uint8_t)(i + 1), s, pixels);
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(pixels[i] + draws_below(d, NOISE) - NOISE / 2);
    masks_boxes(s->labels, &s->is);
    TRY(image_encode_png("a drawn picture", &(struct image){HEIGHT, WIDTH, pixels}, &bytes, &count));
    s->jpeg = bytes, s->bytes = (int64_t)count;
    return 0;
}

static void people_published(struct dataset_facts *facts)
{
    facts->title = "drawn people";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = pictures_of[s];
    voc_fields(facts, classes, 128 << 10, WIDTH * HEIGHT);
    memcpy(facts->mean, (float[]){0.75f, 0.75f, 0.7f}, sizeof facts->mean);
    memcpy(facts->std, (float[]){0.2f, 0.2f, 0.2f}, sizeof facts->std);
}

static int people_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    struct voc_set *set = ds->own = zalloc(sizeof *set);
    int rc = 0;
    people_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (uint32_t s = 0; s < SPLIT_COUNT; s++) {
        struct voc_split *split = &set->split[s];
        split->sample = zalloc((size_t)pictures_of[s] * sizeof *split->sample);
        for (split->count = 0; split->count < pictures_of[s] && rc == 0; split->count++)
            rc = draw_picture(&DRAWS(SEED, s, split->count), &split->sample[split->count]);
    }
    if (rc == 0) voc_filled(ds);
    return rc;
}

const struct kind people_kind = {
    .name = "people", .drawn = true, .published = people_published, .open = people_open, .close = voc_close, .read = voc_read,
    .item = voc_item, .lengths = voc_lengths, .sample_name = voc_sample_name, .sample = "picture",
    .show = voc_show, .draw = voc_draw, .whole = voc_whole,
};
