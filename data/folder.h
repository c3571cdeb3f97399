// SPDX-License-Identifier: Apache-2.0
// The names in a folder, in an order that is the same on every file system. Hidden ones are left out.
#ifndef DAWN_DATA_FOLDER_H
#define DAWN_DATA_FOLDER_H

#include <dirent.h>

#include "runtime/base/error.h"

struct folder {
    struct dirent **entry;
    int count;
};

enum folder_order {
    FOLDER_BY_BYTES,
    FOLDER_BY_NUMBERS,  // 9.png before 10.png
};
// `path` may be a folder that cannot be read, or none: an error. Nothing is left to end then.
int folder_list(const char *path, enum folder_order, struct folder *) MUST_CHECK;
// Keeps the entries for which `keep` is true, and returns how many it dropped.
int folder_keep(struct folder *, bool (*keep)(const char *name));
void folder_end(struct folder *);  // {0} is fine
bool folder_is(const char *path);  // it is there and a folder

#endif
