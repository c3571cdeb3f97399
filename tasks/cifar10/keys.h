// SPDX-License-Identifier: Apache-2.0
#ifndef DAWN_CIFAR10_KEYS_H
#define DAWN_CIFAR10_KEYS_H

#include "tasks/common/recipe/recipe_keys.h"

extern const struct recipe_table recipe_table_cifar10;

#endif
