// SPDX-License-Identifier: Apache-2.0
// Fetches a published data set: download, check, unpack.
#pragma once

#include "data/fetch/source.h"

struct fetch_options {
    const char *mirror;  // NULL: the source's URL; else an archive's URL, or the URL of its folder
    const char *from;    // a local archive, or a folder with the single files of a source; NULL: download
    const char *to;      // the parent of the source's folder
    int attempts;        // consecutive tries without new bytes; 0: 4
    int pause_ms;        // before the second try, doubled each time; 0: 1,000
    void (*progress)(void *context, int64_t have, int64_t total);  // may be NULL; about ten times per second
    void (*packing)(void *context, int64_t done, int64_t total);   // may be NULL; counts pictures of a source that is packed
    void (*note)(void *context, const char *sentence);             // may be NULL
    void *context;
};

// The size and SHA-256 of every archive are checked before anything is unpacked, and of every single file before it gets
// its name. An interrupted download is kept as NAME.part and resumed the next time; one with a wrong
// digest is kept as NAME.bad.
int fetch_source(const struct source *, const struct fetch_options *) MUST_CHECK;
// The part of fetch_source for a source of many files, with their list: lines as in source->list.
int fetch_list(const struct source *, const char *lines, const struct fetch_options *) MUST_CHECK;
