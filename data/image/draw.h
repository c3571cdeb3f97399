// SPDX-License-Identifier: Apache-2.0
// Draws boxes with labels, and masks, into a picture.
#pragma once

#include "data/image/image.h"

struct draw_box {
    double left, top, right, bottom;  // in pixels; what is outside of the picture is not drawn
    const char *label;                // above its corner: letters, digits and punctuation of ASCII
    int colour;                       // a number from 0 on, such as a class
};
void draw_box(struct image *, const struct draw_box *);
// Mixes half of the colour into the pixels whose labels[height, width] are `label`.
void draw_mask(struct image *, const uint8_t *labels, uint8_t label, int colour);
// Tints what is inside a mask (0: outside) of the picture's size, which is stored column by column.
void draw_column_mask(struct image *, const uint8_t *inside, int colour);
