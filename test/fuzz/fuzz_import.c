// SPDX-License-Identifier: Apache-2.0
// Fuzzes the steps of `dawn data import` for a picture: decoding it and resizing it to 32 x 32.
#include "data/image/image.h"

enum { SIDE = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    // Smaller limits than in an import, so that most time is spent in the decoders.
    struct image_limits limits = {1024, 1 << 18};
    struct image image;
    if (image_decode("picture", bytes, count, &limits, &image) < 0) {
        BUG_IF(image.pixels != NULL || error_text()[0] == '\0');
        return 0;
    }
    BUG_IF(image.height < 1 || image.width < 1 || image.height > limits.side || image.width > limits.side);
    uint8_t pixels[SIDE * SIDE * 3];
    image_fit(&image, SIDE, pixels);
    image_free(&image);
    return 0;
}
