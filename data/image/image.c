// SPDX-License-Identifier: Apache-2.0
// PNG by png.h, JPEG by decoder.h.
//
// Invariant: for any bytes, a call returns a complete picture or fails with a sentence, and leaks no memory. Dimensions are
// checked before anything of their size is allocated. Fuzzed: test/fuzz/fuzz_import.c.
// Cost: one decode and one buffer of the picture's size.
#include "data/image/image.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/image/decoder.h"
#include "data/image/png.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

bool image_is_named(const char *file)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcasecmp(dot, endings[i]) == 0) return true;
    }
    return false;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

// Damage is an error here, because the rest of a truncated file would be grey.
static int decode_jpeg(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                       struct image *image)
{
    struct decoder *decoder = decoder_new();
    int width, height;
    decoder_limit(decoder, limits);
    int rc = decoder_size(decoder, name, bytes, count, &width, &height);
    if (rc == 0) {
        image->pixels = malloc((size_t)height * (size_t)width * 3);
        image->height = height, image->width = width;
        if (image->pixels == NULL) rc = fail(ERR_MEMORY, "%s: not enough memory for its pixels", name);
    }
    if (rc == 0) {
        struct area all = {0, 0, width, height};
        rc = decoder_draw(decoder, name, bytes, count, &(struct scale_into){&all, false, height, width, image->pixels});
    }
    if (rc == 0 && decoder_damage(decoder) != NULL)
        rc = fail(ERR_INPUT, "%s: not a valid JPEG: %s", name, decoder_damage(decoder));
    decoder_free(decoder);
    return rc;
}

int image_decode(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                 struct image *image)
{
    *image = (struct image){0};
    int rc;
    if (png_is(bytes, count)) {
        rc = png_read(name, bytes, count, &(struct png_choice){.limits = *limits}, image);
    } else if (count >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) {
        rc = decode_jpeg(name, bytes, count, limits, image);
    } else {
        rc = fail(ERR_INPUT, "%s is neither a PNG nor a JPEG", name);
    }
    if (rc < 0) image_free(image);
    return rc;
}

// One axis of the resize: the part of [0, n) under output position `at` of `side`. It has two taps if the picture grows, and
// a run of whole and partial pixels if it shrinks.
struct span {
    int first, count;
    double head, tail;  // weights of the first and the last pixel; the others have weight 1
};

static struct span span_at(int at, int side, int n)
{
    double scale = (double)n / side;
    if (n < side) {
        double centre = (at + 0.5) * scale - 0.5;
        if (centre < 0) centre = 0;
        if (centre > n - 1) centre = n - 1;
        int first = (int)centre;
        if (first == n - 1) return (struct span){first, 1, 1, 1};
        return (struct span){first, 2, 1 - (centre - first), centre - first};
    }
    double low = at * scale, high = (at + 1) * scale;
    int first = (int)low, last = (int)high;
    if (last >= n || high - last < 1e-9) last--;
    if (last <= first) return (struct span){first, 1, 1, 1};
    return (struct span){first, last - first + 1, first + 1 - low, high - last};
}

static double span_weight(const struct span *span, int i)
{
    if (i == 0) return span->head;
    return i == span->count - 1 ? span->tail : 1;
}

void image_fit(const struct image *image, int side, uint8_t *pixels)
{
    int n = image->height < image->width ? image->height : image->width;
    int top = (image->height - n) / 2, left = (image->width - n) / 2;
    for (int y = 0; y < side; y++) {
        struct span rows = span_at(y, side, n);
        for (int x = 0; x < side; x++) {
            struct span columns = span_at(x, side, n);
            double sum[3] = {0}, weight = 0;
            for (int i = 0; i < rows.count; i++) {
                const uint8_t *row =
                    image->pixels + ((size_t)(top + rows.first + i) * (size_t)image->width + (size_t)left) * 3;
                for (int j = 0; j < columns.count; j++) {
                    double w = span_weight(&rows, i) * span_weight(&columns, j);
                    for (int c = 0; c < 3; c++) sum[c] += w * row[3 * (columns.first + j) + c];
                    weight += w;
                }
            }
            for (int c = 0; c < 3; c++) *pixels++ = (uint8_t)(sum[c] / weight + 0.5);
        }
    }
}

int image_encode_png(const char *name, const struct image *image, void **bytes, size_t *count)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    png.height = (png_uint_32)image->height, png.width = (png_uint_32)image->width;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    *bytes = malloc(size);
    if (*bytes == NULL) return fail(ERR_MEMORY, "not enough memory to write %s", name);
    if (png_image_write_to_memory(&png, *bytes, &size, 0, image->pixels, 0, NULL)) {
        *count = size;
        return 0;
    }
    free(*bytes);
    *bytes = NULL;
    return fail(ERR_IO, "cannot encode %s: %s", name, png.message);
}

int image_write_png(const char *path, const struct image *image)
{
    void *bytes;
    size_t count;
    TRY(image_encode_png(path, image, &bytes, &count));
    int rc = file_write(path, bytes, count);
    free(bytes);
    return rc;
}
