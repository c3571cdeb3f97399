// SPDX-License-Identifier: Apache-2.0
// A test of a program is its body below TEST(name); main runs all of them in the order of the file. TEST_WITH gives it a set-up
// and a tear-down, TEST_GROUP gives both to the program as a whole. A program that defines TEST_HAS_MAIN calls run_listed
// itself.
#pragma once

#include "test/unit/must.h"

enum { TESTS_MAX = 64 };
static struct CMUnitTest listed_tests[TESTS_MAX];
static size_t listed_count;
static CMFixtureFunction group_set_up, group_tear_down;

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down)                                                                                     \
    static void name(void **state);                                                                                            \
    __attribute__((constructor(1000 + __LINE__))) static void list_##name(void)                                                \
    {                                                                                                                          \
        BUG_IF(listed_count == TESTS_MAX);                                                                                     \
        listed_tests[listed_count++] = (struct CMUnitTest){#name, name, set_up, tear_down, NULL};                              \
    }                                                                                                                          \
    static void name(__attribute__((unused)) void **state)
#define TEST_GROUP(set_up, tear_down)                                                                                          \
    __attribute__((constructor)) static void list_group(void) { group_set_up = set_up, group_tear_down = tear_down; }

static inline int run_listed(void)
{
    return _cmocka_run_group_tests(__BASE_FILE__, listed_tests, listed_count, group_set_up, group_tear_down);
}
#ifndef TEST_HAS_MAIN
int main(void)
{
    return run_listed();
}
#endif
