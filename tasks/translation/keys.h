// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/decode/search_keys.h"

enum { PART_TRANSFORMER = 1 };  // of a model that keys need
struct translation_keys {
    int64_t length, tokens, merges;                            // of samples
    int64_t layers, width, heads, feed_forward, positions;     // of the network
    int norm;                                                  // 1: before each part of a layer
    double dropout, attention_dropout, act_dropout;
    struct search_keys search;                                 // for answers
};
static inline const struct translation_keys *translation_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct translation_keys, r);
}

extern const struct recipe_table recipe_table_translation;
