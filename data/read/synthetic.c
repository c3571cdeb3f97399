// SPDX-License-Identifier: Apache-2.0
// Ten classes of shapes and textures under noise, colour, shift, scale and rotation.
//
// An image depends on (split, index) alone: every choice is a Philox draw keyed by them (rng.h), so any number of threads
// can draw any range. Only additions, multiplications, square roots and floors of floats are used, never the sines of libm,
// so the bytes are the same on every machine. Figure and ground get colours from the same distribution, and places and
// angles are free. So no single pixel identifies the class, and linear classifiers stay weak (test_data_synthetic.c measures
// one).
//
// Every class is a signed distance in pixels (negative inside), which gives smooth edges at no cost. Cost: about 65 us per
// image on a 2020s server core.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/draws.h"
#include "data/read/synthetic.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF  // gcc does not contract under -std=c17; the bytes depend on it
#endif

// Part of every digest. Raise the version with every change of an image.
#define SYNTHETIC_VERSION 1
#define SYNTHETIC_SEED 20171208u

static const char *const class_names[SYNTHETIC_CLASSES + 1] = {"disc", "ring",    "square", "triangle", "cross", "star",
                                                               "dots", "stripes", "checks", "spiral",   NULL};

static float between(struct draws *stream, float low, float high)
{
    return low + (high - low) * rng_unit(draws_bits(stream));
}

// Sine and cosine of t turns. A parabola refined once; its error of 0.1% is far below a visible difference.
static float sine(float t)
{
    t -= floorf(t + 0.5f);
    float y = 8 * t - 16 * t * fabsf(t);
    return y * (0.775f + 0.225f * fabsf(y));
}

static float cosine(float t)
{
    return sine(t + 0.25f);
}

struct colour {
    float v[3];
};

struct scene {
    int label;
    float x, y, radius, cos, sin;  // position, size and angle of the figure
    float period, phase;           // of textures
    struct colour figure, ground[2], speck[4];
    float slope_x, slope_y;  // of the ground's gradient
    int specks;
    float speck_x[4], speck_y[4], speck_radius[4];
    float noise;
};

// Distances. u, v: pixels from the figure's centre, rotated.
static float disc(const struct scene *scene, float u, float v)
{
    return sqrtf(u * u + v * v) - scene->radius;
}

static float ring(const struct scene *scene, float u, float v)
{
    return fabsf(sqrtf(u * u + v * v) - 0.78f * scene->radius) - 0.22f * scene->radius;
}

static float square(const struct scene *scene, float u, float v)
{
    return fmaxf(fabsf(u), fabsf(v)) - 0.82f * scene->radius;
}

static float triangle(const struct scene *scene, float u, float v)
{
    float side = 0.8660254f * fabsf(u) + 0.5f * v;
    return fmaxf(side, -v) - 0.58f * scene->radius;
}

static float cross(const struct scene *scene, float u, float v)
{
    float a = fabsf(u), b = fabsf(v), thick = 0.27f * scene->radius;
    float upright = fmaxf(a - thick, b - scene->radius), level = fmaxf(a - scene->radius, b - thick);
    return fminf(upright, level);
}

// A pentagram is the area where at least four of the five half-planes of a pentagon hold. So the second largest distance
// decides.
static float star(const struct scene *scene, float u, float v)
{
    static const float normal[5][2] = {{0, 1},
                                       {0.95105652f, 0.30901699f},
                                       {0.58778525f, -0.80901699f},
                                       {-0.58778525f, -0.80901699f},
                                       {-0.95105652f, 0.30901699f}};
    float most = -1e9f, second = -1e9f;
    for (int i = 0; i < 5; i++) {
        float d = normal[i][0] * u + normal[i][1] * v;
        second = fmaxf(second, fminf(most, d));
        most = fmaxf(most, d);
    }
    return second - 0.40f * scene->radius;
}

// Distance to the nearest edge of bars of equal width: -period/4 in the middle of a bar, +period/4 between bars.
static float bars(float u, float period)
{
    float t = u / period;
    return period * (fabsf(t - floorf(t) - 0.5f) - 0.25f);
}

static float window(const struct scene *scene, float u, float v, float inside)
{
    return fmaxf(inside, sqrtf(u * u + v * v) - 1.25f * scene->radius);
}

static float dots(const struct scene *scene, float u, float v)
{
    float p = scene->period, a = u / p + scene->phase, b = v / p;
    a = p * (a - floorf(a) - 0.5f), b = p * (b - floorf(b) - 0.5f);
    return window(scene, u, v, sqrtf(a * a + b * b) - 0.30f * p);
}

static float stripes(const struct scene *scene, float u, float v)
{
    return window(scene, u, v, bars(u + scene->phase * scene->period, scene->period));
}

static float checks(const struct scene *scene, float u, float v)
{
    float p = 1.5f * scene->period, a = bars(u + scene->phase * p, p), b = bars(v, p);
    return window(scene, u, v, fmaxf(fminf(a, b), -fmaxf(a, b)));
}

// One arm: the sine of (radius in turns + angle), expanded so that no arc tangent is needed.
static float spiral(const struct scene *scene, float u, float v)
{
    float r = sqrtf(u * u + v * v) + 1e-3f, p = 1.15f * scene->period, t = r / p;
    float wave = sine(t) * (u / r) + cosine(t) * (v / r);
    return window(scene, u, v, wave * p * 0.16f);
}

static float (*const distances[SYNTHETIC_CLASSES])(const struct scene *, float u, float v) = {
    disc, ring, square, triangle, cross, star, dots, stripes, checks, spiral};

static struct colour any_colour(struct draws *stream)
{
    struct colour colour;
    for (int c = 0; c < 3; c++) colour.v[c] = between(stream, 20, 235);
    return colour;
}

// A colour that differs visibly from `other`, and is as likely brighter as darker.
static struct colour far_colour(struct draws *stream, const struct colour *other)
{
    struct colour colour = any_colour(stream);
    for (int tries = 0; tries < 16; tries++) {
        float square_sum = 0;
        for (int c = 0; c < 3; c++) square_sum += (colour.v[c] - other->v[c]) * (colour.v[c] - other->v[c]);
        if (square_sum > 80 * 80) break;
        colour = any_colour(stream);
    }
    return colour;
}

static void choose_scene(struct draws *stream, struct scene *scene)
{
    float turn = between(stream, 0, 1);
    scene->radius = between(stream, 7, 12.5f);
    scene->x = between(stream, 11, 21);
    scene->y = between(stream, 11, 21);
    scene->cos = cosine(turn), scene->sin = sine(turn);
    scene->period = between(stream, 4.2f, 6.2f);
    scene->phase = between(stream, 0, 1);
    scene->ground[0] = any_colour(stream);
    scene->figure = far_colour(stream, &scene->ground[0]);
    for (int c = 0; c < 3; c++) scene->ground[1].v[c] = scene->ground[0].v[c] + between(stream, -30, 30);
    turn = between(stream, 0, 1);
    scene->slope_x = cosine(turn) / SYNTHETIC_SIDE, scene->slope_y = sine(turn) / SYNTHETIC_SIDE;
    scene->specks = draws_below(stream, 5);
    for (int i = 0; i < scene->specks; i++) {
        scene->speck[i] = any_colour(stream);
        scene->speck_x[i] = between(stream, 0, SYNTHETIC_SIDE);
        scene->speck_y[i] = between(stream, 0, SYNTHETIC_SIDE);
        scene->speck_radius[i] = between(stream, 1, 2.4f);
    }
    scene->noise = between(stream, 6, 24);
}

static void blend(struct colour *under, const struct colour *over, float distance)
{
    float cover = fminf(fmaxf(0.5f - distance, 0), 1);
    for (int c = 0; c < 3; c++) under->v[c] += cover * (over->v[c] - under->v[c]);
}

static struct colour scene_at(const struct scene *scene, float x, float y)
{
    struct colour colour = scene->ground[0];
    float slope = 0.5f + (x - 16) * scene->slope_x + (y - 16) * scene->slope_y;
    for (int c = 0; c < 3; c++) colour.v[c] += slope * (scene->ground[1].v[c] - scene->ground[0].v[c]);
    float dx = x - scene->x, dy = y - scene->y;
    blend(&colour, &scene->figure,
          distances[scene->label](scene, scene->cos * dx + scene->sin * dy, scene->cos * dy - scene->sin * dx));
    for (int i = 0; i < scene->specks; i++) {
        float sx = x - scene->speck_x[i], sy = y - scene->speck_y[i];
        blend(&colour, &scene->speck[i], sqrtf(sx * sx + sy * sy) - scene->speck_radius[i]);
    }
    return colour;
}

// The sum of four bytes of one draw is close enough to a normal distribution; its deviation is 147.8.
static float bell(struct draws *stream)
{
    uint32_t bits = draws_bits(stream);
    int sum = (int)(bits & 255) + (int)(bits >> 8 & 255) + (int)(bits >> 16 & 255) + (int)(bits >> 24);
    return (float)(sum - 510) * (1 / 147.8f);
}

// Of ten consecutive images, each belongs to another class, in random order.
int synthetic_label(enum split split, int64_t index)
{
    struct draws stream = DRAWS(SYNTHETIC_SEED, split, index / SYNTHETIC_CLASSES);
    stream.block = 1u << 31;
    int order[SYNTHETIC_CLASSES];
    for (int i = 0; i < SYNTHETIC_CLASSES; i++) {
        int j = draws_below(&stream, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order[index % SYNTHETIC_CLASSES];
}

void synthetic_draw_at(enum split split, int64_t index, int height, int width, uint8_t *image)
{
    struct draws stream = DRAWS(SYNTHETIC_SEED, split, index);
    struct scene scene = {.label = synthetic_label(split, index)};
    int side = height < width ? height : width;
    float scale = (float)SYNTHETIC_SIDE / (float)side, left = (float)(width - side) / 2, top = (float)(height - side) / 2;
    choose_scene(&stream, &scene);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            struct colour colour = scene_at(&scene, ((float)x + 0.5f - left) * scale, ((float)y + 0.5f - top) * scale);
            for (int c = 0; c < 3; c++) {
                float value = colour.v[c] + scene.noise * bell(&stream);
                *image++ = (uint8_t)(fminf(fmaxf(value, 0), 255) + 0.5f);
            }
        }
    }
}

void synthetic_draw(enum split split, int64_t index, uint8_t *image)
{
    synthetic_draw_at(split, index, SYNTHETIC_SIDE, SYNTHETIC_SIDE, image);
}

void synthetic_describe(struct dataset_facts *facts)
{
    // Measured over the 10,000 training images.
    static const float mean[3] = {0.4993f, 0.5016f, 0.4993f}, std[3] = {0.2476f, 0.2467f, 0.2479f};
    facts->classes = SYNTHETIC_CLASSES;
    facts->class_names = class_names;
    memcpy(facts->mean, mean, sizeof mean);
    memcpy(facts->std, std, sizeof std);
}

static void synthetic_published(struct dataset_facts *facts)
{
    facts->title = "synthetic shapes";
    facts->synthetic = true;
    facts->count[SPLIT_TRAIN] = SYNTHETIC_TRAIN;
    facts->count[SPLIT_TEST] = SYNTHETIC_TEST;
    kind_images(facts, SYNTHETIC_SIDE, SYNTHETIC_SIDE, 3, class_names);
    synthetic_describe(facts);
}

static int synthetic_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    synthetic_published(&ds->facts);
    return 0;
}

static int synthetic_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                          void *into)
{
    (void)ds;
    if (into == NULL) return 0;
    uint8_t *bytes = into;
    bool images = kind_field_is(field, "images");
    for (int64_t i = 0; i < count; i++) {
        if (images) synthetic_draw(split, first + i, bytes + i * SYNTHETIC_SIDE * SYNTHETIC_SIDE * 3);
        else bytes[i] = (uint8_t)synthetic_label(split, first + i);
    }
    return 0;
}

static int synthetic_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    char text[128];
    int length = snprintf(text, sizeof text, "dawn synthetic version %d seed %u split %s count %lld", SYNTHETIC_VERSION,
                          SYNTHETIC_SEED, split_name(split), (long long)ds->facts.count[split]);
    digest_bytes(text, (size_t)length, hex);
    return 0;
}

const struct kind synthetic_kind = {
    .name = "synthetic",
    .drawn = true,
    .published = synthetic_published,
    .open = synthetic_open,
    .read = synthetic_read,
    .digest = synthetic_digest,
    .content_digest = synthetic_digest,
};
