// SPDX-License-Identifier: Apache-2.0
#include "data/image/crop.h"

#include <math.h>

#include "runtime/common/base/rng.h"

enum { TRIES = 10 };
static const double RATIO_LEAST = 3.0 / 4, RATIO_MOST = 4.0 / 3;

static struct area crop_middle(int width, int height)
{
    double ratio = (double)width / height, w = width, h = height;
    if (ratio < RATIO_LEAST) h = rint(w / RATIO_LEAST);
    else if (ratio > RATIO_MOST) w = rint(h * RATIO_MOST);
    return (struct area){floor((width - w) / 2), floor((height - h) / 2), w, h};
}

// One block of four words a try: area, shape, and both places.
struct area crop_random(uint64_t seed, uint32_t epoch, int64_t sample, int width, int height, double scale_least,
                        double scale_most)
{
    double all = (double)width * height, shape_least = log(RATIO_LEAST), shape_most = log(RATIO_MOST);
    for (uint32_t try = 0; try < TRIES; try++) {
        struct rng4 r = rng_draw(seed, RNG_CROP, epoch, (uint32_t)sample, try);
        double part = all * (scale_least + (scale_most - scale_least) * (r.v[0] * 0x1p-32));
        double ratio = exp(shape_least + (shape_most - shape_least) * (r.v[1] * 0x1p-32));
        int w = (int)rint(sqrt(part * ratio)), h = (int)rint(sqrt(part / ratio));
        if (w < 1 || h < 1 || w > width || h > height) continue;
        return (struct area){rng_below(r.v[2], (uint32_t)(width - w + 1)), rng_below(r.v[3], (uint32_t)(height - h + 1)), w, h};
    }
    return crop_middle(width, height);
}

struct area crop_centre(int width, int height, int64_t out_height, int64_t out_width, double ratio)
{
    double w = (double)out_width, h = (double)out_height, resized_width, resized_height;
    if (width / w <= height / h) {
        resized_width = rint(w * ratio);
        resized_height = fmax(h, floor(resized_width * height / width));
    } else {
        resized_height = rint(h * ratio);
        resized_width = fmax(w, floor(resized_height * width / height));
    }
    double across = width / resized_width, down = height / resized_height;  // source pixels for one pixel of the sample
    return (struct area){rint((resized_width - w) / 2) * across, rint((resized_height - h) / 2) * down, w * across, h * down};
}

bool crop_mirror(uint64_t seed, uint32_t epoch, int64_t sample)
{
    return rng_draw(seed, RNG_FLIP, epoch, (uint32_t)sample, 0).v[0] & 1;
}
