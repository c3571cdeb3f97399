// SPDX-License-Identifier: Apache-2.0
// Files that are written in pieces and get their name only when they are complete. file_write and everything else that puts
// a file in place uses this. Several files can be closed first and committed last, so that a full disk leaves all or none.
//
// Invariant: the bytes are written to a new file in the same folder, under an unpredictable name. The file is synced before it
// gets its name, and the folder is synced after. No symbolic link is followed.
#pragma once

#include <stdio.h>

#include "runtime/common/base/error.h"

struct whole {
    char *path, *part;  // PATH and PATH.RANDOM.part
    FILE *file;
    int64_t bytes;
};

int whole_open(struct whole *, const char *path) MUST_CHECK;
int whole_write(struct whole *, const void *bytes, size_t count) MUST_CHECK;
int whole_close(struct whole *) MUST_CHECK;   // syncs the file, which keeps its temporary name
int whole_commit(struct whole *) MUST_CHECK;  // gives the file its name
void whole_end(struct whole *);               // frees; removes an uncommitted file; {0} is fine

// Syncs the folder of a file: only then does a new name survive a power cut. Some file systems refuse this. That is no
// failure, because the file itself is complete.
void whole_sync_folder(const char *path);

// Checks, before hours of work, that a file can be put there: the path is not a folder or a database (a typing error must not
// destroy a record of runs), and its folder is writable.
int whole_check_target(const char *path) MUST_CHECK;
