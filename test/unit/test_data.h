// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of data/: a folder of their own, files in it, and expected sentences.
#ifndef DAWN_TEST_DATA_H
#define DAWN_TEST_DATA_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/error.h"
#include "runtime/common/base/file.h"

#include <cmocka.h>  // after error.h: it makes a macro of fail

static char folder[64];  // of the running test

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

__attribute__((unused)) static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/dawn-test-XXXXXX");
    if (mkdtemp(folder) == NULL) return -1;
    char cache[80];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

__attribute__((unused)) static int tear_down(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// PATH below the test's folder; good until the eighth call after.
__attribute__((unused)) static const char *at(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

__attribute__((unused)) static void put(const char *name, const void *bytes, size_t count)
{
    assert_int_equal(file_write(at(name), bytes, count), 0);
}

__attribute__((unused)) static void make_folder(const char *name)
{
    assert_int_equal(file_make_folder(at(name)), 0);
}

// `call` failed with `code` and a sentence that holds `words`.
#define assert_fails(call, code, words)                                                                                \
    do {                                                                                                               \
        assert_int_equal(call, code);                                                                                  \
        if (strstr(error_text(), words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error_text(), words);          \
    } while (0)

#endif
