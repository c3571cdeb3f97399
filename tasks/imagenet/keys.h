// SPDX-License-Identifier: Apache-2.0
#ifndef DAWN_IMAGENET_KEYS_H
#define DAWN_IMAGENET_KEYS_H

#include "tasks/common/recipe/recipe_keys.h"

// Keys of this task: indices into own[] of struct recipe.
enum imagenet_own {
    OWN_CACHE,
    OWN_DAMAGED,
    OWN_WINDOW,
    OWN_STEM,
    OWN_SHORTCUT,
    OWN_GAMMA,
    OWN_HEAD_DECAY,
    OWN_SIDE,
    OWN_RESIZE,
    OWN_SHAPES,
    OWN_BLUR,
};
enum imagenet_stem { STEM_CONV7, STEM_DEEP, STEM_PATCH };
enum imagenet_shortcut { SHORTCUT_CONV, SHORTCUT_POOL };
enum imagenet_shapes { SHAPES_SQUARE, SHAPES_RECTANGLES };

extern const struct recipe_table recipe_table_imagenet;

#endif
