// SPDX-License-Identifier: Apache-2.0
// Digits in MNIST's form, for tests and trials without a download: lines of a pen whose slant, size, width, position and corners
// vary, white on black.
//
// Everything depends on split and sample alone (draws.h). Only additions, multiplications, divisions and square roots of floats
// are used, so the bytes are the same on every machine. Cost: about 10 us per picture.
#include <math.h>

#include "data/read/draws.h"
#include "data/read/mnist/idx.h"
#include "data/read/mnist/mnist.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF  // gcc does not contract under -std=c17; the bytes depend on it
#endif

// Part of every digest. Raise the version with every change of a picture.
enum { VERSION = 1, SEED = 19981105 };
enum { CORNERS = 18, TRAIN = 4000, TEST = 1000 };

// Corners of the pen's way, hundredths of a square; a way ends with a zero.
static const uint8_t ways[IDX_CLASSES][CORNERS][2] = {
    {{50, 9}, {66, 14}, {76, 30}, {79, 50}, {75, 70}, {66, 85}, {50, 91}, {34, 85}, {25, 70}, {21, 50}, {25, 30}, {34, 14},
     {50, 9}},
    {{35, 24}, {52, 10}, {51, 50}, {50, 90}},
    {{24, 30}, {30, 16}, {45, 9}, {62, 11}, {74, 24}, {72, 40}, {58, 56}, {38, 74}, {24, 88}, {50, 87}, {78, 89}},
    {{26, 18}, {42, 9}, {62, 11}, {72, 24}, {66, 40}, {46, 48}, {68, 54}, {76, 70}, {66, 86}, {46, 91}, {26, 84}},
    {{60, 90}, {60, 50}, {60, 10}, {40, 38}, {22, 64}, {50, 64}, {80, 64}},
    {{72, 10}, {32, 10}, {29, 46}, {48, 42}, {66, 48}, {74, 64}, {68, 82}, {50, 91}, {28, 85}},
    {{64, 10}, {44, 24}, {30, 46}, {27, 68}, {36, 86}, {54, 91}, {70, 82}, {72, 64}, {60, 51}, {42, 53}, {30, 64}},
    {{24, 12}, {50, 13}, {76, 12}, {56, 48}, {44, 90}},
    {{50, 48}, {32, 38}, {29, 22}, {42, 10}, {60, 10}, {71, 22}, {67, 38}, {50, 48}, {30, 60}, {26, 76}, {38, 90}, {62, 90},
     {74, 76}, {70, 60}, {50, 48}},
    {{70, 34}, {60, 48}, {42, 49}, {29, 38}, {30, 20}, {44, 9}, {60, 10}, {70, 22}, {70, 34}, {66, 62}, {56, 90}},
};

struct pen {
    float across, down, slant, cosine, sine, x, y, radius;
};

static float between(struct draws *d, float low, float high)
{
    return low + (high - low) * rng_unit(draws_bits(d));
}

static struct pen take_pen(struct draws *d)
{
    const float turn = between(d, -0.18f, 0.18f), length = sqrtf(1 + turn * turn);
    struct pen pen;
    pen.across = between(d, 0.17f, 0.26f);
    pen.down = between(d, 0.21f, 0.26f);
    pen.slant = between(d, -0.35f, 0.1f);
    pen.cosine = 1 / length, pen.sine = turn / length;
    pen.x = between(d, 12.8f, 15.2f);
    pen.y = between(d, 12.8f, 15.2f);
    pen.radius = between(d, 0.7f, 1.6f);
    return pen;
}

static void place_corner(struct draws *d, const struct pen *pen, const uint8_t corner[2], float into[2])
{
    const float down = (corner[1] - 50) * pen->down, across = (corner[0] - 50) * pen->across + pen->slant * down;
    into[0] = pen->x + pen->cosine * across - pen->sine * down + between(d, -0.6f, 0.6f);
    into[1] = pen->y + pen->sine * across + pen->cosine * down + between(d, -0.6f, 0.6f);
}

static int clamp_pixel(float at)
{
    return at < 0 ? 0 : at > IDX_SIDE - 1 ? IDX_SIDE - 1 : (int)at;
}

static void draw_line(const float a[2], const float b[2], float radius, uint8_t *pixels)
{
    const float dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy + 1e-6f, reach = radius + 1;
    const int left = clamp_pixel(fminf(a[0], b[0]) - reach), right = clamp_pixel(fmaxf(a[0], b[0]) + reach);
    const int top = clamp_pixel(fminf(a[1], b[1]) - reach), bottom = clamp_pixel(fmaxf(a[1], b[1]) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            const float u = (float)x + 0.5f - a[0], v = (float)y + 0.5f - a[1];
            const float t = fminf(fmaxf((u * dx + v * dy) / square, 0), 1), p = u - t * dx, q = v - t * dy;
            const float ink = fminf(fmaxf(radius + 0.5f - sqrtf(p * p + q * q), 0), 1);
            const uint8_t value = (uint8_t)(255 * ink + 0.5f);
            if (value > pixels[y * IDX_SIDE + x]) pixels[y * IDX_SIDE + x] = value;
        }
}

// The first draw of a sample.
static uint8_t label_of(struct draws *d)
{
    return (uint8_t)draws_below(d, IDX_CLASSES);
}

static void draw_digit(struct draws *d, uint8_t *pixels)
{
    const uint8_t (*corner)[2] = ways[label_of(d)];
    const struct pen pen = take_pen(d);
    float at[2][2];
    for (int i = 0; i < IDX_PICTURE; i++) pixels[i] = 0;
    for (int i = 0; i < CORNERS && corner[i][0] > 0; i++) {
        place_corner(d, &pen, corner[i], at[i % 2]);
        if (i > 0) draw_line(at[(i + 1) % 2], at[i % 2], pen.radius, pixels);
    }
}

static void drawn_published(struct dataset_facts *facts)
{
    facts->title = "drawn digits";
    facts->synthetic = true;
    facts->count[SPLIT_TRAIN] = TRAIN, facts->count[SPLIT_TEST] = TEST;
    mnist_describe(facts);
    facts->mean[0] = 0.1289952f, facts->std[0] = 0.3062273f;  // over the training pictures
}

static int drawn_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    drawn_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    return 0;
}

static int drawn_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    (void)ds;
    uint8_t *bytes = into;
    for (int64_t i = 0; i < count && into != NULL; i++) {
        struct draws d = DRAWS(SEED, split, first + i);
        if (kind_field_is(field, "images")) draw_digit(&d, bytes + i * IDX_PICTURE);
        else bytes[i] = label_of(&d);
    }
    return 0;
}

const struct kind mnist_drawn_kind = {
    .name = "mnist-drawn", .drawn = true, .published = drawn_published, .open = drawn_open, .read = drawn_read,
    .sample = "picture", .show = mnist_show,
};
