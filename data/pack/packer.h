// SPDX-License-Identifier: Apache-2.0
// Makes a pack.
#pragma once

#include "data/read/imagenet/imagenet_kind.h"

struct packer_choice {
    const struct imagenet_flavour *flavour;
    const char *from, *to;    // a folder or an archive (origin.h); the file
    const char *truth;        // labels of a flat val; NULL: from the folders
    int short_side, quality;  // convert.h
    int64_t damaged;          // most damaged or undecodable pictures to accept
    uint64_t seed;            // of the order
    bool partial;             // classes may lack pictures
    bool own;                 // the folders name the classes
    double share;             // of own pictures, for the validation where there is no val
    void (*progress)(void *context, int64_t done, int64_t total);  // may be NULL; pictures
    void (*note)(void *context, const char *sentence);             // may be NULL
    void *context;
};

struct packer_report {
    int64_t count[SPLIT_COUNT], bytes;             // of the pack
    int64_t encoded, converted, damaged, absent;  // pack.h
    int64_t foreign;                              // files that are not pictures by their names
    int64_t resumed;                              // pictures that an earlier command had packed
    bool official;
    char says[ERROR_TEXT_MAX];                    // why the pack is official or not
};

// Refuses to overwrite. An interrupted call leaves TO.part, and the same call continues it. The bytes of the pack depend on
// the source, short_side, quality and seed alone (and on the version of libjpeg-turbo), not on threads or interruptions.
int packer_run(const struct packer_choice *, struct packer_report *) MUST_CHECK;
