// SPDX-License-Identifier: Apache-2.0
// A pack while it is made: DST.part, which a later packer of the same source goes on with.
#ifndef DAWN_DATA_PART_H
#define DAWN_DATA_PART_H

#include "data/read/pack.h"

struct part {
    char *path, *target;
    int fd;
    bool resumed, restarted;             // goes on with what was there; what was there was of another source or other options
    bool ours;                           // no other packer writes it
    struct pack_header header;           // done and end move on
    uint64_t kept;                       // records whose index is in the file
    uint8_t *index;                      // PACK_RECORD bytes a record
    uint8_t (*digest)[PACK_DIGEST];      // imagenet_record_digest of each record; zeros of those without bytes
    struct pack_record last;             // that was added
};

// `header` says what is to be made; its `source` tells sources apart. `names` are its names_bytes, one after the other. Goes on
// with a DST.part that has the same header: every picture in it is read and checked, and the first that is not sound ends it.
int part_open(struct part *, const char *target, const struct pack_header *, const void *names) MUST_CHECK;
// The next record, in order; `record` without offset and crc.
int part_add(struct part *, const struct pack_record *, const void *bytes) MUST_CHECK;
int part_keep(struct part *) MUST_CHECK;              // what was added so far is found by a later packer
int part_commit(struct part *, uint32_t flags) MUST_CHECK;  // all were added: the file is finished and gets its name
void part_close(struct part *);                       // the file stays, unless nothing was added to it; {0} is fine

#endif
