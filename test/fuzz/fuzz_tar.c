// SPDX-License-Identifier: Apache-2.0
// Fuzzes the walk over tars, and over the tars that their members may be: every member lies inside.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/pack/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct walk {
    const struct tar_span *span;
    int depth;
};

static int visit(void *context, const struct tar_member *member)
{
    const struct walk *walk = context;
    const struct tar_span *span = walk->span;
    BUG_IF(member->bytes < 0 || member->offset < span->offset + 512);
    BUG_IF(member->offset - span->offset > span->bytes || member->bytes > span->bytes - (member->offset - span->offset));
    if (walk->depth == 2) return 0;
    struct tar_span inner = {"inner", span->fd, member->offset, member->bytes};
    int rc = tar_walk(&inner, visit, &(struct walk){&inner, walk->depth + 1});
    (void)rc;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    int fd = memfd_create("tar", MFD_CLOEXEC);
    BUG_IF(fd < 0 || write(fd, bytes, count) != (ssize_t)count);
    struct tar_span span = {"tar", fd, 0, (int64_t)count};
    int rc = tar_walk(&span, visit, &(struct walk){&span, 0});
    BUG_IF(rc < 0 && error_text()[0] == '\0');
    close(fd);
    return 0;
}
