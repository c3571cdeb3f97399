// SPDX-License-Identifier: Apache-2.0
// The table of published data sets: where they come from, and the digests that identify them.
#ifndef DAWN_DATA_SOURCE_H
#define DAWN_DATA_SOURCE_H

#include "data/dataset.h"

enum { SOURCE_FILES_MAX = 8 };

struct source_file {
    const char *name;
    enum split split;  // SPLIT_COUNT: no records, the names of the classes
    int64_t bytes;
    const char *sha256;  // of the published file; NULL: not checked
};

struct source {
    const char *name, *title;
    const char *page;     // where people read about it
    const char *url;      // https
    const char *archive;  // the last part of the URL; NULL: the files lie one by one in the folder `url`, which ends in "/"
    int64_t bytes;                              // of the archive, or of all files
    const char *sha256;                         // of the archive
    const char *folder;                         // the folder the archive holds, and the one it is unpacked into
    bool packed;                                // becomes NAME.dawnpack (data/pack) instead of that folder
    struct source_file file[SOURCE_FILES_MAX];  // ends with a NULL name
    const char *content[SPLIT_COUNT];           // dataset_content_digest of the published records
    const char *checked;                        // the checks and their reasons, one paragraph for people
};

const char *source_name(int i);                        // of row i; NULL behind the last
const struct source *source_find(const char *name);  // NULL: not a published data set

#endif
