// SPDX-License-Identifier: Apache-2.0
// The backbone and the pyramid of a small one-stage detector, for other networks: levels of strides 8, 16 and 32.
#pragma once

#include "tasks/common/layers/net.h"

enum { RETINA_WIDTHS = 5, RETINA_LEVELS = 3 };
struct retina_widths {
    int64_t width[RETINA_WIDTHS], pyramid;  // channels of the stem and of the four stages; of the pyramid
};
struct retina_widths retina_widths(struct net *);  // as the recipe has them
void retina_pyramid(struct net *, int x, const struct retina_widths *, int level[RETINA_LEVELS]);
