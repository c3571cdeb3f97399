// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

// Parts of a model that keys need.
enum { PART_ENCODER = 1, PART_WORDS = 2, PART_RECURRENT = 4 };
struct squad_keys {
    int64_t length, stride, question, vocabulary;           // of samples
    int lower_case;                                         // 0 or 1
    int64_t layers, width, heads, feed_forward, positions;  // of the encoder of pieces
    int64_t vectors, multiple, tuned, hidden, recurrent;    // of recurrent models
    double dropout, word_dropout;
};
static inline const struct squad_keys *squad_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct squad_keys, r);
}

extern const struct recipe_table recipe_table_squad;
