// SPDX-License-Identifier: Apache-2.0
#include "data/audio/portrait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/audio/spectrum.h"
#include "data/image/draw.h"
#include "runtime/common/base/arena.h"

enum { COLUMNS = 64, WAVE_ROWS = 5, SPECTRUM_ROWS = 12 };
enum { ZOOM = 2, WAVE_HEIGHT = 120, LABEL = 12, SPECTRUM_HEIGHT = ZOOM * SPECTRUM_BINS, WIDTH_LEAST = 320 };
static const char shades[] = " .:-=+*#%@";

struct view {
    const struct sound *sound;
    int64_t frames;
    float *spectrum;    // [frames][bins], normalised
    float loudest;      // of the samples
};

static int look(const struct sound *sound, struct view *v)
{
    *v = (struct view){.sound = sound, .frames = spectrum_frames(sound->count)};
    v->spectrum = malloc((size_t)(v->frames * SPECTRUM_BINS) * sizeof *v->spectrum);
    if (v->spectrum == NULL) return fail(ERR_MEMORY, "not enough memory for a spectrum of %lld frames", (long long)v->frames);
    spectrum_make(sound->at, sound->count, v->spectrum);
    for (int64_t i = 0; i < sound->count; i++) v->loudest = fmaxf(v->loudest, fabsf(sound->at[i]));
    int rc = spectrum_normalise(v->spectrum, v->frames);
    if (rc < 0) free(v->spectrum);
    return rc;
}

// The least and the greatest sample of part `x` of `parts`, as shares of the loudest.
static void range_of(const struct view *v, int64_t x, int64_t parts, float *least, float *greatest)
{
    int64_t first = x * v->sound->count / parts, end = (x + 1) * v->sound->count / parts;
    *least = *greatest = v->sound->at[first < v->sound->count ? first : v->sound->count - 1] / v->loudest;
    for (int64_t i = first; i < end; i++) {
        *least = fminf(*least, v->sound->at[i] / v->loudest);
        *greatest = fmaxf(*greatest, v->sound->at[i] / v->loudest);
    }
}

// Maps half a deviation below the mean to 0, three above it to 1.
static float shade_of(float value)
{
    return fminf(fmaxf((value + 0.5f) / 3.5f, 0), 1);
}

// ---- in a terminal

static void print_wave(const struct view *v, struct text *into)
{
    for (int row = 0; row < WAVE_ROWS; row++) {
        char line[COLUMNS + 1] = "";
        const float top = 1 - 2.0f * (float)row / WAVE_ROWS, bottom = top - 2.0f / WAVE_ROWS;
        for (int x = 0; x < COLUMNS; x++) {
            float least, greatest;
            range_of(v, x, COLUMNS, &least, &greatest);
            line[x] = greatest > bottom && least < top ? '|' : ' ';
        }
        text_add(into, "  %-11s%s\n", row == 0 ? "wave" : "", line);
    }
}

static void print_spectrum(const struct view *v, struct text *into)
{
    for (int row = 0; row < SPECTRUM_ROWS; row++) {
        char line[COLUMNS + 1] = "", label[16];
        const int64_t high = (SPECTRUM_ROWS - row) * SPECTRUM_BINS / SPECTRUM_ROWS,
                      low = (SPECTRUM_ROWS - row - 1) * SPECTRUM_BINS / SPECTRUM_ROWS;
        for (int64_t x = 0; x < COLUMNS; x++) {
            const int64_t first = x * v->frames / COLUMNS, end = (x + 1) * v->frames / COLUMNS;
            double sum = 0;
            int64_t all = 0;
            for (int64_t t = first; t < (end > first ? end : first + 1); t++)
                for (int64_t k = low; k < high; k++, all++) sum += (double)v->spectrum[t * SPECTRUM_BINS + k];
            line[x] = shades[lrintf(shade_of((float)(sum / (double)all)) * (sizeof shades - 2))];
        }
        snprintf(label, sizeof label, row == 0 ? "8 kHz" : row == SPECTRUM_ROWS - 1 ? "0 Hz" : "");
        text_add(into, "  %-11s%s\n", label, line);
    }
}

int portrait_print(const struct sound *sound, struct text *into)
{
    struct view v;
    TRY(look(sound, &v));
    print_wave(&v, into);
    print_spectrum(&v, into);
    free(v.spectrum);
    return 0;
}

// ---- as a picture

static void put(struct image *image, int64_t x, int64_t y, const uint8_t colour[3])
{
    memcpy(image->pixels + 3 * (y * image->width + x), colour, 3);
}

static void draw_wave(const struct view *v, struct image *image)
{
    static const uint8_t ink[3] = {31, 119, 180};
    for (int x = 0; x < image->width; x++) {
        float least, greatest;
        range_of(v, x, image->width, &least, &greatest);
        const int from = (int)((1 - greatest) / 2 * (WAVE_HEIGHT - 1)), to = (int)((1 - least) / 2 * (WAVE_HEIGHT - 1));
        for (int y = from; y <= to; y++) put(image, x, y, ink);
    }
}

// Colours run from dark blue over green to yellow.
static void draw_spectrum(const struct view *v, struct image *image)
{
    for (int y = 0; y < SPECTRUM_HEIGHT; y++)
        for (int64_t x = 0; x < image->width; x++) {
            const int64_t t = x * v->frames / image->width, bin = SPECTRUM_BINS - 1 - y / ZOOM;
            const float s = shade_of(v->spectrum[t * SPECTRUM_BINS + bin]);
            put(image, x, WAVE_HEIGHT + LABEL + y,
                (uint8_t[3]){(uint8_t)(30 + 223 * s * s), (uint8_t)(10 + 220 * s), (uint8_t)(70 + 120 * s * (1 - s))});
        }
}

int portrait_draw(const struct sound *sound, const char *caption, const char *path)
{
    struct view v;
    TRY(look(sound, &v));
    const int64_t width = ZOOM * v.frames > WIDTH_LEAST ? ZOOM * v.frames : WIDTH_LEAST;
    struct image image = {.height = WAVE_HEIGHT + LABEL + SPECTRUM_HEIGHT, .width = (int)width};
    const size_t bytes = 3 * (size_t)image.height * (size_t)image.width;
    image.pixels = memset(zalloc(bytes), 255, bytes);
    draw_wave(&v, &image);
    draw_spectrum(&v, &image);
    draw_box(&image, &(struct draw_box){0, WAVE_HEIGHT + LABEL, (double)width, image.height, caption, 1});
    int rc = image_write_png(path, &image);
    image_free(&image);
    free(v.spectrum);
    return rc;
}
