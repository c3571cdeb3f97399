// SPDX-License-Identifier: Apache-2.0
// The second task (test/second) on the device cuda.
#include "test/unit/test.h"
#include "test/second/second.h"

#include "tasks/cifar10/cifar10_keys.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

TEST(trains_on_cuda)
{
    second_reaches_its_target("cuda");
}

TEST(keeps_an_average_on_cuda)
{
    second_keeps_an_average("cuda");
}

TEST(runs_what_the_task_says_on_cuda)
{
    driven_reaches_its_target("cuda");
}
