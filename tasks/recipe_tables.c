// SPDX-License-Identifier: Apache-2.0
// The tasks' tables of recipe keys. They have a file of their own, so that a test can register others instead.
#include "tasks/cifar10/keys.h"
#include "tasks/imagenet/keys.h"
#include "tasks/squad/keys.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &recipe_table_imagenet, &recipe_table_squad, NULL};
