// SPDX-License-Identifier: Apache-2.0
// Draws boxes with labels into a picture.
#pragma once

#include "data/image/image.h"

struct draw_box {
    double left, top, right, bottom;  // in pixels; parts outside of the picture are not drawn
    const char *label;                // above its corner: letters, digits and punctuation of ASCII
    int colour;                       // a number from 0 on, such as a class
};
void draw_box(struct image *, const struct draw_box *);
