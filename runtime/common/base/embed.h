// SPDX-License-Identifier: Apache-2.0
// Files embedded in the program: recipes, schemas, price tables. The Makefile lists them (EMBEDDED) and makes one object of
// them. Paths are relative to the repository.
#pragma once

#include <stddef.h>

struct embedded {
    const char *path;
    const char *at;  // followed by a NUL that `size` does not include
    size_t size;
};

extern const struct embedded embedded_files[];  // sorted by path; the last has path NULL
const struct embedded *embedded_find(const char *path);  // NULL if there is none
