// SPDX-License-Identifier: Apache-2.0
// Unpacks published archives.
#pragma once

#include "data/fetch/source.h"

// Writes the files of the source that the archives hold, and nothing else, into TO/<source->folder>. All of them appear, or none.
int unpack_archives(const struct source *, const char *const *archive, int count, const char *to) MUST_CHECK;
// The same of a source with a tree: all files below it, without a table. The folder must not exist.
int unpack_tree(const struct source *, const char *const *archive, int count, const char *to) MUST_CHECK;
