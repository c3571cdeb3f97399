// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

enum { PART_ROTARY = 1 };  // of a model that keys need
struct gpt_keys {
    int64_t layers, width, heads, feed_forward;  // of the network
    double dropout, attention_dropout, cap, base;
    int between;                                 // enum net_between - 1
    double embedding_lr, beta2;                  // of updates
};
static inline const struct gpt_keys *gpt_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct gpt_keys, r);
}

extern const struct recipe_table recipe_table_gpt;
