// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

enum { PIXELS_WHOLE, PIXELS_SPREAD };
struct wgan_keys {
    int64_t width, noise;    // of the networks
    int64_t steps, samples;  // of the critic per step; of a generator's batch, per sample of the critic's
    double penalty, clip;    // of the critic
    int pixels;              // PIXELS_SPREAD: noise makes real ones lie anywhere up to the next value
};
static inline const struct wgan_keys *wgan_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct wgan_keys, r);
}

extern const struct recipe_table recipe_table_wgan;
