// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/layers/net_modern.h"

struct bert_keys {
    int64_t length, predictions;                            // of samples of the training
    int64_t short_length, short_epochs;                     // of its first epochs
    double masked;                                          // share of the pieces of a sample of the training
    int64_t layers, width, heads, feed_forward, positions;  // of the network
    double dropout;
    struct net_modern_keys modern;
    double next_factor;                                     // of a loss
};
static inline const struct bert_keys *bert_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct bert_keys, r);
}

extern const struct recipe_table recipe_table_bert;
