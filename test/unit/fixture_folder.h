// SPDX-License-Identifier: Apache-2.0
// A folder of its own for each test, which is removed with all that is in it.
#pragma once

#include "test/unit/must.h"

#include <ftw.h>
#include <sys/stat.h>

static char folder[64];  // of the running test

SETUP(enter)
{
    strcpy(folder, "/tmp/dawn-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

SETUP(leave)
{
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// A name in the folder; good until the eighth call after.
static inline const char *in(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}
