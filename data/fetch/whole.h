// SPDX-License-Identifier: Apache-2.0
// Files that are written in pieces and appear under their name only when they are whole.
#ifndef DAWN_DATA_WHOLE_H
#define DAWN_DATA_WHOLE_H

#include <stdio.h>

#include "runtime/base/error.h"

struct whole {
    char *path, *part;  // PATH and PATH.part
    FILE *file;
    int64_t bytes;
};

int whole_open(struct whole *, const char *folder, const char *name) MUST_CHECK;
int whole_write(struct whole *, const void *bytes, size_t count) MUST_CHECK;
int whole_close(struct whole *) MUST_CHECK;   // everything is on the disk, still under its temporary name
int whole_commit(struct whole *) MUST_CHECK;  // takes its name
void whole_end(struct whole *);               // frees; removes what was not committed

#endif
