// SPDX-License-Identifier: Apache-2.0
// The names in a folder, in an order that is the same on every file system. Hidden names are left out.
#pragma once

#include <dirent.h>

#include "runtime/common/base/error.h"

struct folder {
    struct dirent **entry;
    int count;
};

enum folder_order {
    FOLDER_BY_BYTES,
    FOLDER_BY_NUMBERS,  // 9.png before 10.png
};
// Fails if `path` is not a readable folder. folder_end() is not needed after a failure.
int folder_list(const char *path, enum folder_order, struct folder *) MUST_CHECK;
// Keeps the entries for which `keep` is true, and returns the number of dropped entries.
int folder_keep(struct folder *, bool (*keep)(const char *name));
void folder_end(struct folder *);  // {0} is fine
bool folder_is(const char *path);  // true if it exists and is a folder
// Fails if FOLDER/NAME is a folder whose name is not in `classes`, the classes of the data set `title` (ends with NULL). Such a
// name is probably misspelt, and its pictures would be lost silently. A file passes.
int folder_check_class(const char *folder, const char *name, const char *title, const char *const *classes) MUST_CHECK;
