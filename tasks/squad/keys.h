// SPDX-License-Identifier: Apache-2.0
#ifndef DAWN_SQUAD_KEYS_H
#define DAWN_SQUAD_KEYS_H

#include "tasks/common/recipe/recipe_keys.h"

// Keys of this task: indices into own[] of struct recipe.
enum squad_own {
    OWN_LENGTH, OWN_STRIDE, OWN_QUESTION, OWN_LOWER_CASE, OWN_VOCABULARY,
    OWN_LAYERS, OWN_WIDTH, OWN_HEADS, OWN_FEED_FORWARD, OWN_POSITIONS, OWN_DROPOUT,
    OWN_VECTORS, OWN_TUNED, OWN_HIDDEN, OWN_RECURRENT, OWN_WORD_DROPOUT, OWN_MULTIPLE,
};

extern const struct recipe_table recipe_table_squad;

#endif
