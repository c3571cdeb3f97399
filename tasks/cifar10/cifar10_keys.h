// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

// Bits of recipe_table.parts: a key applies to the models that have the part.
enum { PART_WHITENING = 1, PART_FIRST_ACTIVATION = 2, PART_POOL = 4 };
enum cifar10_pool { POOL_GLOBAL, POOL_WINDOW };
struct cifar10_keys {
    int first_activation, activation;  // enum act
    int pool;                          // enum cifar10_pool
    int winograd;                      // enum winograd
    int flip;                          // enum flip
    int64_t crop;
    double norm_momentum, whiten_bias_epochs, brightness, contrast;
};
static inline const struct cifar10_keys *cifar10_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct cifar10_keys, r);
}

extern const struct recipe_table recipe_table_cifar10;
