// SPDX-License-Identifier: Apache-2.0
// The publication of a data set: its origin, and the digests that identify it. Each kind names its own (data/kind.h).
#ifndef DAWN_DATA_SOURCE_H
#define DAWN_DATA_SOURCE_H

#include "data/kind.h"

enum { SOURCE_FILES_MAX = 8 };

struct source_file {
    const char *name;
    enum split split;  // SPLIT_COUNT: no records, the names of the classes
    int64_t bytes;
    const char *sha256;  // of the published file; NULL: not checked
};

struct source {
    const char *name, *title;
    const char *page;     // a page about it for people
    const char *url;      // https
    const char *archive;  // the last part of the URL; NULL: single files in the folder `url`, which ends in "/"
    int64_t bytes;                              // of the archive, or of all files
    const char *sha256;                         // of the archive
    const char *folder;                         // the folder in the archive, which is also the target
    bool packed;                                // packed into NAME.dawnpack (data/pack) instead of that folder
    struct source_file file[SOURCE_FILES_MAX];  // ends with a NULL name
    const char *content[SPLIT_COUNT];           // dataset_content_digest of the published records
    const char *checked;                        // the checks and their reasons, one paragraph for people
};

const struct source *source_at(int i);               // all published data sets in turn; NULL after the last
const struct source *source_find(const char *name);  // NULL if it is not a published data set
// The failure to find a needed file of the data set in `given`, which may be a file itself.
int source_absent(const struct source *, const char *given, const char *needs) MUST_CHECK;

#endif
