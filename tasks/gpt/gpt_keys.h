// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/layers/net_modern.h"

struct gpt_keys {
    int64_t layers, width, heads, feed_forward;  // of the network
    double dropout, attention_dropout, cap;
    struct net_modern_keys modern;
    double embedding_lr;                         // of an update
};
static inline const struct gpt_keys *gpt_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct gpt_keys, r);
}

extern const struct recipe_table recipe_table_gpt;
