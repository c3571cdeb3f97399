// SPDX-License-Identifier: Apache-2.0
// The part of a picture that becomes a sample. Pure functions; a draw depends on seed, epoch and sample alone.
#pragma once

#include "runtime/common/base/error.h"

// In pixels of the stored picture: pixel i covers [i, i + 1).
struct area {
    double left, top, width, height;
};

// A random part of the picture, as torchvision's RandomResizedCrop takes it: its area is uniform between `scale_least` and
// `scale_most` of the picture's, its width is 3/4 to 4/3 of its height (log-uniform), its position is uniform. If no draw of
// ten fits, the result is the middle, as wide or as high as those shapes allow. Sides are whole pixels.
struct area crop_random(uint64_t seed, uint32_t epoch, int64_t sample, int width, int height, double scale_least,
                        double scale_most);

// The middle that remains if the picture is resized until it just covers height x width `ratio` times and height x width is
// cut out. Ratio 1: the largest middle of that shape. 256.0 / 224: torchvision's Resize(256) and CenterCrop(224), with their
// roundings to whole pixels of the resized picture.
struct area crop_centre(int width, int height, int64_t out_height, int64_t out_width, double ratio);

bool crop_mirror(uint64_t seed, uint32_t epoch, int64_t sample);  // half of all draws
