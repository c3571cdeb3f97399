// SPDX-License-Identifier: Apache-2.0
// Vectors of earlier runs, in the user's cache folder. Only vectors.c includes this.
#pragma once

#include "data/text/vectors.h"

// The path of the pack for this state of the file, the words and the dimension; free() it. NULL if there is no such folder
// or file.
char *vectors_cache_path(const char *path, const struct vocabulary *, int64_t dimension);
// Pure: parses rows and kinds into `v`, whose words and dimension are set. False if the bytes are not such a pack.
bool vectors_cache_parse(const char *bytes, size_t count, struct vectors *v);
bool vectors_cache_load(const char *pack, struct vectors *v);
void vectors_cache_save(const char *pack, const struct vectors *v);  // failures to write are ignored
