// SPDX-License-Identifier: Apache-2.0
// PNG by libpng's simplified interface.
#pragma once

#include "data/image/image.h"

struct png_choice {
    struct image_limits limits;
    bool numbers;  // pixels[height, width] of a grey PNG of 8 bits as they are stored, any other is refused; else as image_decode
    size_t slack;  // bytes that may be read after the pixels
};
bool png_is(const uint8_t *bytes, size_t count);  // begins as one
// Pure. Sentences start with `name`; image_free ends a picture.
int png_read(const char *name, const uint8_t *bytes, size_t count, const struct png_choice *, struct image *) MUST_CHECK;
