// SPDX-License-Identifier: Apache-2.0
// Walks a tar inside a file and gives each member's name and the place of its bytes.
#ifndef DAWN_DATA_TAR_H
#define DAWN_DATA_TAR_H

#include "runtime/base/error.h"

enum { TAR_MEMBERS_MAX = 10000000 };

struct tar_span {
    const char *path;  // of the file, for sentences
    int fd;
    int64_t offset, bytes;  // where the tar lies in it
};

struct tar_member {
    const char *name;       // as the archive has it; lives for the call
    int64_t offset, bytes;  // in the file, not in the tar
};

// Calls `visit` for every regular file in the tar; links, folders and devices are skipped. Nothing is unpacked. A damaged tar, or
// one with an incomplete member, is an error.
typedef int tar_visit(void *context, const struct tar_member *);
int tar_walk(const struct tar_span *, tar_visit *, void *context) MUST_CHECK;

// Decompresses a tar into `to`, at most `most` bytes.
int tar_spool(const char *path, int to, int64_t most, int64_t *bytes) MUST_CHECK;
// The bytes of the first member whose name ends with `ending`, of a compressed tar. free() them.
int tar_extract(const char *path, const char *ending, size_t most, char **bytes, size_t *count) MUST_CHECK;

#endif
