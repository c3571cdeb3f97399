// SPDX-License-Identifier: Apache-2.0
// The second task (test/second) on the device cuda.
#include "test/second/second.h"

#include "tasks/cifar10/cifar10_keys.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

static void trains_on_cuda(void **state)
{
    (void)state;
    second_reaches_its_target("cuda");
}

static void keeps_an_average_on_cuda(void **state)
{
    (void)state;
    second_keeps_an_average("cuda");
}

static void runs_what_the_task_says_on_cuda(void **state)
{
    (void)state;
    driven_reaches_its_target("cuda");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trains_on_cuda), cmocka_unit_test(keeps_an_average_on_cuda),
                                       cmocka_unit_test(runs_what_the_task_says_on_cuda)};
    return cmocka_run_group_tests_name("second task, cuda", tests, NULL, NULL);
}
