// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

enum imagenet_stem { STEM_CONV7, STEM_DEEP, STEM_PATCH };
enum imagenet_shortcut { SHORTCUT_CONV, SHORTCUT_POOL };
enum imagenet_shapes { SHAPES_SQUARE, SHAPES_RECTANGLES };
struct imagenet_keys {
    struct recipe_list least_area;  // of random crops
    struct recipe_list blocks;
    int64_t cache, window, damaged, side;
    int flip;                       // enum flip
    int activation;                 // enum act
    int stem, shortcut, shapes;     // the enums above
    int blur;                       // 0 or 1
    double norm_momentum, last_gamma, head_decay, resize, second_head, dropout;
};
static inline const struct imagenet_keys *imagenet_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct imagenet_keys, r);
}

extern const struct recipe_table recipe_table_imagenet;
