// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

struct bert_keys {
    int64_t length, predictions;                            // of samples of the training
    int64_t short_length, short_epochs;                     // of its first epochs
    int64_t layers, width, heads, feed_forward, positions;  // of the network
    double dropout;
};
static inline const struct bert_keys *bert_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct bert_keys, r);
}

extern const struct recipe_table recipe_table_bert;
