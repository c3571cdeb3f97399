// SPDX-License-Identifier: Apache-2.0
// Files that travel inside the program: recipes, schemas, price tables. The Makefile lists them (EMBEDDED) and
// turns them into one object; a path is the one in the repository.
#ifndef DAWN_BASE_EMBED_H
#define DAWN_BASE_EMBED_H

#include <stddef.h>

struct embedded {
    const char *path;
    const char *at;  // followed by a NUL that `size` does not count
    size_t size;
};

extern const struct embedded embedded_files[];  // sorted by path; the last has path NULL
const struct embedded *embedded_find(const char *path);  // NULL when there is none

#endif
