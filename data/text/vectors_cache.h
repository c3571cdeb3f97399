// SPDX-License-Identifier: Apache-2.0
// Vectors that were found once, in the user's cache folder. Nobody but vectors.c includes this.
#ifndef DAWN_DATA_TEXT_VECTORS_CACHE_H
#define DAWN_DATA_TEXT_VECTORS_CACHE_H

#include "data/text/vectors.h"

// Of a file as it is now, the words and the dimension; free() it. NULL: there is no such folder, or no such file.
char *vectors_cache_path(const char *path, const struct vocabulary *, int64_t dimension);
// Pure: rows and kinds into `v`, whose words and dimension are set. False: these are the bytes of something else.
bool vectors_cache_parse(const char *bytes, size_t count, struct vectors *v);
bool vectors_cache_load(const char *pack, struct vectors *v);
void vectors_cache_save(const char *pack, const struct vectors *v);  // what cannot be written is left

#endif
