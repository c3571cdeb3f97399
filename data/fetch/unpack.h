// SPDX-License-Identifier: Apache-2.0
// Unpacks a published archive.
#ifndef DAWN_DATA_UNPACK_H
#define DAWN_DATA_UNPACK_H

#include "data/fetch/source.h"

// Writes the source's files, and nothing else, into TO/<source->folder>. All of them appear, or none.
int unpack_archive(const struct source *, const char *archive, const char *to) MUST_CHECK;

#endif
