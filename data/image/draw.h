// SPDX-License-Identifier: Apache-2.0
// Draws boxes with labels, and masks, into a picture.
#pragma once

#include "data/image/image.h"

struct draw_box {
    double left, top, right, bottom;  // in pixels; parts outside the picture are not drawn
    const char *label;                // above its corner: letters, digits and punctuation of ASCII
    int colour;                       // a number from 0 on, such as a class
};
void draw_box(struct image *, const struct draw_box *);
struct draw_mask {
    const uint8_t *labels;  // of the picture's size
    bool columns;           // they are stored column by column, not row by row
    uint8_t label;
    int colour;
};
// Mixes half of the colour into the pixels that have the label.
void draw_mask(struct image *, const struct draw_mask *);
