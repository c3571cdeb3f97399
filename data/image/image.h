// SPDX-License-Identifier: Apache-2.0
// Foreign pictures: decodes PNG and JPEG to RGB, resizes, and encodes PNG.
#pragma once

#include "runtime/common/base/error.h"

struct image {
    int height, width;
    uint8_t *pixels;  // [height, width, 3]
};

struct image_limits {
    int side;        // largest height or width
    int64_t pixels;  // largest area
};
#define IMAGE_LIMITS ((struct image_limits){8192, 1 << 24})

bool image_is_named(const char *file);  // has the ending of a PNG or a JPEG file

// Pure. The bytes determine the format. Grey, palettes and 16 bits become 8-bit RGB; transparent parts get a white
// background. Anything but a complete, valid picture within the limits is an error whose sentence starts with `name`.
// image_free ends a picture.
int image_decode(const char *name, const uint8_t *bytes, size_t count, const struct image_limits *limits,
                 struct image *) MUST_CHECK;
void image_free(struct image *);

// Resizes the middle square: an average of areas if it shrinks, bilinear if it grows, a copy if it fits.
void image_fit(const struct image *, int side, uint8_t *pixels);

int image_encode_png(const char *name, const struct image *, void **bytes, size_t *count) MUST_CHECK;  // free() the bytes
int image_write_png(const char *path, const struct image *) MUST_CHECK;
