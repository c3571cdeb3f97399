// SPDX-License-Identifier: Apache-2.0
// Invariant: for any bytes, a call returns a complete picture or fails with a sentence, and leaks no memory. Dimensions are
// checked before anything of their size is allocated. Fuzzed: test/fuzz/fuzz_import.c, test/fuzz/fuzz_masks.c.
#include "data/image/png.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

bool png_is(const uint8_t *bytes, size_t count)
{
    return count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int allocate_pixels(const char *name, const struct png_choice *c, const png_image *png, struct image *image)
{
    uint64_t height = png->height, width = png->width;
    if (height == 0 || width == 0 || height > (uint64_t)c->limits.side || width > (uint64_t)c->limits.side ||
        height * width > (uint64_t)c->limits.pixels) {
        return fail(ERR_INPUT, "%s: a picture of %llu x %llu pixels is too large (at most %d a side, %lld in all)",
                    name, (unsigned long long)width, (unsigned long long)height, c->limits.side,
                    (long long)c->limits.pixels);
    }
    image->pixels = malloc(height * width * (c->numbers ? 1 : 3) + c->slack);
    if (image->pixels == NULL) return fail(ERR_MEMORY, "%s: not enough memory for its pixels", name);
    image->height = (int)height, image->width = (int)width;
    return 0;
}

static int read_pixels(const char *name, const struct png_choice *c, png_image *png, struct image *image)
{
    static const png_color white = {255, 255, 255};
    if (c->numbers && png->format != PNG_FORMAT_GRAY)
        return fail(ERR_INPUT, "%s is no grey PNG of 8 bits: its pixels are no numbers", name);
    png->format = c->numbers ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    png->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // reads 16-bit files as sRGB, not as linear light
    TRY(allocate_pixels(name, c, png, image));
    png_image_finish_read(png, &white, image->pixels, 0, NULL);
    memset(image->pixels + (size_t)image->height * (size_t)image->width * (c->numbers ? 1 : 3), 0, c->slack);
    return 0;
}

int png_read(const char *name, const uint8_t *bytes, size_t count, const struct png_choice *c, struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    int rc = 0;
    *image = (struct image){0};
    if (png_image_begin_read_from_memory(&png, bytes, count)) rc = read_pixels(name, c, &png, image);
    // After a warning (for example a wrong checksum) the picture cannot be trusted.
    if (rc == 0 && png.warning_or_error != 0)
        rc = fail(strcasestr(png.message, "memory") ? ERR_MEMORY : ERR_INPUT, "%s: not a valid PNG: %s", name, png.message);
    png_image_free(&png);
    if (rc < 0) free(image->pixels), image->pixels = NULL;
    return rc;
}
