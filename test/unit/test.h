// SPDX-License-Identifier: Apache-2.0
// A test of a program is its body below TEST(name); main runs all of them in the order of the file. TEST_WITH gives it a set-up
// and a tear-down, TEST_GROUP gives both to the program as a whole.
#ifndef DAWN_TEST_H
#define DAWN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/common/base/error.h"

#include <cmocka.h>
// cmocka has a macro of the name of DAWN's fail, and says fail_msg by it.
#undef fail
#undef fail_msg
#define fail_msg(...)                                                                                                          \
    do {                                                                                                                       \
        print_error(__VA_ARGS__), print_error("\n");                                                                           \
        _fail(__FILE__, __LINE__);                                                                                             \
    } while (0)

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

int main(void)
{
    return _cmocka_run_group_tests(__BASE_FILE__, listed_tests, listed_count, group_set_up, group_tear_down);
}

#endif
