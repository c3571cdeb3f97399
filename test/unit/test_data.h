// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of data/: a folder of their own, files in it, and expected sentences.
#pragma once

#include "runtime/common/base/file.h"
#include "test/unit/fixture_folder.h"

__attribute__((unused)) static int set_up(void **state)
{
    return enter(state) < 0 ? -1 : setenv("XDG_CACHE_HOME", in("cache"), 1);
}

__attribute__((unused)) static void put(const char *name, const void *bytes, size_t count)
{
    assert_int_equal(file_write(in(name), bytes, count), 0);
}

__attribute__((unused)) static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

__attribute__((unused)) static void make_folder(const char *name)
{
    assert_int_equal(file_make_folder(in(name)), 0);
}
