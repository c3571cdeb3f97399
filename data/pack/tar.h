// SPDX-License-Identifier: Apache-2.0
// Walks a tar inside a file and returns the name and the position of each member.
#pragma once

#include "runtime/common/base/error.h"

enum { TAR_MEMBERS_MAX = 10000000 };

struct tar_span {
    const char *path;  // of the file, for errors
    int fd;
    int64_t offset, bytes;  // position of the tar in the file
};

struct tar_member {
    const char *name;       // its name in the archive; valid during the call
    int64_t offset, bytes;  // position in the file, not in the tar
};

// Calls `visit` for every regular file in the tar; links, folders and devices are skipped. Nothing is unpacked. A damaged tar, or
// one with an incomplete member, is an error.
typedef int tar_visit(void *context, const struct tar_member *);
int tar_walk(const struct tar_span *, tar_visit *, void *context) MUST_CHECK;

// Decompresses a tar into `to`, at most `most` bytes.
int tar_spool(const char *path, int to, int64_t most, int64_t *bytes) MUST_CHECK;
// The bytes of the first member of a compressed tar whose name ends with `ending`. free() them.
int tar_extract(const char *path, const char *ending, size_t most, char **bytes, size_t *count) MUST_CHECK;
