// SPDX-License-Identifier: Apache-2.0
// Colours of a picture that change at random, as torchvision's ColorJitter changes them: brightness, contrast, saturation and
// hue, in random order. Pure functions; a draw depends on seed, epoch and sample alone.
#pragma once

#include <stdint.h>

enum { JITTER_BRIGHTNESS, JITTER_CONTRAST, JITTER_SATURATION, JITTER_HUE, JITTERS };

struct jitter {
    float by[JITTERS];   // factors; of hue: turns of the circle of colours
    int order[JITTERS];  // of the changes, the first one first
};

// Factors are uniform between 1 - most and 1 + most, and not negative; turns between -most and most.
struct jitter jitter_random(uint64_t seed, uint32_t epoch, int64_t sample, const double most[JITTERS]);

// Computes in f32 from 0 to 1 with a cut at both after each change, and rounds once.
void jitter_colours(const struct jitter *, uint8_t *rgb, int64_t pixels);
