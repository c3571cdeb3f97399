// SPDX-License-Identifier: Apache-2.0
// The publication of a data set: its origin, and the digests that identify it. Each kind names its own (data/kind.h).
#pragma once

#include "data/kind.h"

enum { SOURCE_FILES_MAX = 16, SOURCE_PARTS_MAX = 8 };

struct source_file {
    const char *name;
    enum split split;  // SPLIT_COUNT: no records, the names of the classes
    int64_t bytes;
    const char *sha256;  // of the published file; NULL: not checked
};

// One download; each part may have another host. If its name is the name of one of the set's files, it is that file, with its
// size and digest; otherwise it is an archive in a format of libarchive from which the set's files are extracted.
struct source_part {
    const char *url;     // https; its last part is the name
    int64_t bytes;       // 0: nobody publishes its size
    const char *sha256;
};

struct source {
    const char *name, *title;
    const char *page;     // a page about it for people
    struct source_part part[SOURCE_PARTS_MAX];  // ends with a NULL url
    // If not NULL: an embedded file with a line "SHA-256 BYTES NAME" for each of many small files. They are downloaded one by
    // one; part[0].url is then the address of their folder, and part[0].bytes the sum of their sizes.
    const char *list;
    // If not NULL: all files of the archives below this folder are extracted, with their names below it, and `file` is empty.
    const char *tree;
    const char *folder;                         // the target, below the folder of all data sets
    bool packed;                                // packed into NAME.dawnpack (data/pack) instead of that folder
    struct source_file file[SOURCE_FILES_MAX];  // ends with a NULL name
    const char *content[SPLIT_COUNT];           // dataset_content_digest of the published records
    const char *checked;                        // the checks and their reasons, one paragraph for people
};

const struct source *source_at(int i);               // all published data sets in turn; NULL after the last
const char *source_part_name(const struct source_part *);
const struct source_file *source_part_file(const struct source *, const struct source_part *);  // NULL: an archive
const struct source *source_find(const char *name);  // NULL if it is not a published data set
// The defaults of a kind (data/kind.h): the files of facts.folder are compared with the list of names and SHA-256. The digest of
// a split is the SHA-256 of its file or, for several files, the SHA-256 of the lines "SHA-256  NAME".
int source_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;
int source_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
// The folder with the file `needs`: `given` itself, or the data set's folder in it. free() it.
int source_folder(const struct source *, const char *given, const char *needs, char **found) MUST_CHECK;
// The same for a data set without a publication, whose folder has this name. False: there is no such file, and *found is NULL.
bool source_find_folder(const char *folder, const char *given, const char *needs, char **found) MUST_CHECK;
// The failure to find a needed file of the data set in `given`, which may be a file itself.
int source_absent(const struct source *, const char *given, const char *needs) MUST_CHECK;
