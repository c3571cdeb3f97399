// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

enum { PART_TRANSFORMER = 1 };  // of a model that keys need
struct translation_keys {
    int64_t length, tokens, merges;                            // of samples
    int64_t layers, width, heads, feed_forward, positions;     // of the network
    int norm;                                                  // 1: before each part of a layer
    double dropout, attention_dropout, act_dropout;
    int64_t batch, beam, extra;                                // of the search for answers
    int norm_of_length;                                        // enum search_norm
    double alpha, coverage, ratio;
};
static inline const struct translation_keys *translation_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct translation_keys, r);
}

extern const struct recipe_table recipe_table_translation;
