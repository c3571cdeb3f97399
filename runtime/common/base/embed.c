// SPDX-License-Identifier: Apache-2.0
// Finds an embedded file. The Makefile makes the table.
#include "runtime/common/base/embed.h"

#include <string.h>

const struct embedded *embedded_find(const char *path)
{
    for (const struct embedded *e = embedded_files; e->path; e++) {
        if (strcmp(e->path, path) == 0) return e;
    }
    return NULL;
}
