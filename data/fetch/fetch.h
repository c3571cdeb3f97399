// SPDX-License-Identifier: Apache-2.0
// Brings a published data set here: download, check, unpack.
#ifndef DAWN_DATA_FETCH_H
#define DAWN_DATA_FETCH_H

#include "data/fetch/source.h"

struct fetch_options {
    const char *mirror;  // NULL: the source's URL; else an archive's URL, or the URL of the folder it lies in
    const char *from;    // an archive that is here already; NULL: download
    const char *to;      // the folder that gets the source's folder
    int attempts;        // tries in a row that bring nothing new; 0: 4
    int pause_ms;        // before the second try, doubled each time; 0: 1,000
    void (*progress)(void *context, int64_t have, int64_t total);  // may be NULL; about ten times a second
    void (*note)(void *context, const char *sentence);             // may be NULL
    void *context;
};

// The archive is checked for its size and SHA-256 before anything is unpacked. A download that broke is kept as
// ARCHIVE.part and goes on from there the next time; one with a wrong digest is kept as ARCHIVE.bad.
int fetch_source(const struct source *, const struct fetch_options *) MUST_CHECK;

#endif
