// SPDX-License-Identifier: Apache-2.0
// What a call must do in a test: succeed (OK), fail with words in its sentence (REFUSED), and with that code, too (assert_fails).
// With the headers of the C library that most tests use.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// The head of a set-up or a tear-down.
#define SETUP(name) static inline int name(__attribute__((unused)) void **state)

#define OK(call)                                                                                                               \
    do {                                                                                                                       \
        if ((call) < 0) fail_msg("%s: %s", #call, error_text());                                                               \
    } while (0)
#define REFUSED(call, words)                                                                                                   \
    do {                                                                                                                       \
        if ((call) >= 0) fail_msg("%s was not refused", #call);                                                                \
        if (!strstr(error_text(), words)) fail_msg("%s: \"%s\" lacks \"%s\"", #call, error_text(), words);                     \
    } while (0)
#define assert_fails(call, code, words)                                                                                        \
    do {                                                                                                                       \
        assert_int_equal(call, code);                                                                                          \
        if (!strstr(error_text(), words)) fail_msg("%s: \"%s\" lacks \"%s\"", #call, error_text(), words);                     \
    } while (0)
