// SPDX-License-Identifier: Apache-2.0
// Files that are written in pieces and appear under their name only when they are whole: file_write and everything else
// that puts a file in place goes through here. Several can be closed first and committed last, so that a full disk leaves
// none of them half there.
//
// Invariant: the bytes go to a new file with a name that nobody can foretell, in the same folder; it is on the disk before
// it takes its name, and the folder is written after. No link laid in the way is followed.
#ifndef DAWN_BASE_WHOLE_H
#define DAWN_BASE_WHOLE_H

#include <stdio.h>

#include "runtime/base/error.h"

struct whole {
    char *path, *part;  // PATH and PATH.RANDOM.part
    FILE *file;
    int64_t bytes;
};

int whole_open(struct whole *, const char *path) MUST_CHECK;
int whole_write(struct whole *, const void *bytes, size_t count) MUST_CHECK;
int whole_close(struct whole *) MUST_CHECK;   // everything is on the disk, still under its temporary name
int whole_commit(struct whole *) MUST_CHECK;  // takes its name
void whole_end(struct whole *);               // frees; removes what was not committed; {0} is fine

// Writes the folder that a file lies in to disk: only then is a new name sure to last. Not every file system can do that,
// and the file itself is whole in any case, so a refusal is no failure.
void whole_sync_folder(const char *path);

// Whether a file may be put there: not over a folder, nor over a database (a record of runs is not to be lost to a
// slip of the pen), and into a folder that can be written. For asking before hours of work.
int whole_check_target(const char *path) MUST_CHECK;

#endif
