// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

struct speech_keys {
    int64_t buckets;
    double tempo, gain;                             // of samples
    int64_t bands, band, stretches, stretch;
    int64_t channels, stride, layers, width;        // of the network; 0: the model's own
    int64_t batch, beam;                            // of an evaluation
};
static inline const struct speech_keys *speech_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct speech_keys, r);
}

extern const struct recipe_table recipe_table_speech;
