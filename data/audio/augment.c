// SPDX-License-Identifier: Apache-2.0
#include "data/audio/augment.h"

#include <math.h>
#include <string.h>

#include "data/audio/spectrum.h"
#include "runtime/common/base/rng.h"

enum { BINS = SPECTRUM_BINS, STRETCH_SHARE = 10 };

// Block 0 has tempo and gain, the blocks after it a band or a stretch each.
static struct rng4 draw(const struct augment_key *key, uint32_t block)
{
    return rng_draw(key->seed, RNG_JITTER, key->epoch, key->sample, block);
}

static double between(uint32_t bits, double most)  // -most to most
{
    return most * (2 * (bits * 0x1p-32) - 1);
}

static int64_t stretched(int64_t frames, double factor)
{
    const int64_t made = llrint((double)frames * factor);
    return made > 1 ? made : 1;
}

int64_t augment_most(const struct augment_choice *choice, int64_t frames)
{
    return choice != NULL && choice->tempo > 0 ? stretched(frames, 1 + choice->tempo) : frames;
}

int64_t augment_frames(const struct augment_choice *choice, const struct augment_key *key, int64_t frames)
{
    if (choice == NULL || choice->tempo <= 0) return frames;
    return stretched(frames, 1 + between(draw(key, 0).v[0], choice->tempo));
}

// Frame t of the result lies at (t + 0.5) * frames / made - 0.5 of the spectrum.
static void stretch(const float *from, int64_t frames, float *into, int64_t made)
{
    const double step = (double)frames / (double)made;
    for (int64_t t = 0; t < made; t++) {
        double at = ((double)t + 0.5) * step - 0.5;
        if (at < 0) at = 0;
        const int64_t left = (int64_t)at, right = left + 1 < frames ? left + 1 : left;
        const float share = (float)(at - (double)left), *a = from + left * BINS, *b = from + right * BINS;
        for (int k = 0; k < BINS; k++) into[t * BINS + k] = a[k] + share * (b[k] - a[k]);
    }
}

static void amplify(float *x, int64_t n, double decibels)
{
    const float factor = (float)pow(10, decibels / 20);
    for (int64_t i = 0; i < n; i++) x[i] = log1pf(factor * expm1f(x[i]));
}

// A range of 0 to `most` of `all` places.
static void draw_range(struct rng4 r, int64_t most, int64_t all, int64_t *first, int64_t *count)
{
    *count = rng_below(r.v[0], (uint32_t)(most < all ? most : all) + 1);
    *first = rng_below(r.v[1], (uint32_t)(all - *count) + 1);
}

// 0 is the mean.
static void mask(const struct augment_choice *choice, const struct augment_key *key, float *x, int64_t frames)
{
    int64_t first, count, most = frames / STRETCH_SHARE;
    uint32_t block = 1;
    for (int i = 0; i < choice->bands; i++) {
        draw_range(draw(key, block++), choice->band, BINS, &first, &count);
        for (int64_t t = 0; t < frames; t++) memset(x + t * BINS + first, 0, (size_t)count * sizeof *x);
    }
    for (int i = 0; i < choice->stretches; i++) {
        draw_range(draw(key, block++), choice->stretch < most ? choice->stretch : most, frames, &first, &count);
        memset(x + first * BINS, 0, (size_t)(count * BINS) * sizeof *x);
    }
}

int augment_fill(const struct augment_choice *choice, const struct augment_key *key, const float *spectrum, int64_t frames,
                 float *into)
{
    const int64_t made = augment_frames(choice, key, frames);
    if (made != frames) stretch(spectrum, frames, into, made);
    else memcpy(into, spectrum, (size_t)(frames * BINS) * sizeof *into);
    if (choice != NULL && choice->gain > 0) amplify(into, made * BINS, between(draw(key, 0).v[1], choice->gain));
    TRY(spectrum_normalise(into, made));
    if (choice != NULL) mask(choice, key, into, made);
    return 0;
}
