// SPDX-License-Identifier: Apache-2.0
// An unfinished pack, DST.part. A later packer of the same source goes on with it.
#ifndef DAWN_DATA_PART_H
#define DAWN_DATA_PART_H

#include "data/read/imagenet/pack.h"

struct part {
    char *path, *target;
    int fd;
    bool resumed, restarted;             // goes on with an existing part; replaces one of another source or other options
    bool ours;                           // no other packer writes it
    bool finished;                       // what was there lacked nothing but its name
    uint32_t found;                      // its flags then
    struct pack_header header;           // done and end move on
    uint64_t kept;                       // records whose index is in the file
    uint8_t *index;                      // PACK_RECORD bytes a record
    uint8_t (*digest)[PACK_DIGEST];      // imagenet_record_digest of each record; zeros of those without bytes
    struct pack_record last;             // that was added
};

// `header` describes the pack. Its `source` identifies the source; its first `content` identifies the version of the source until
// the pack is finished. `names` are its names_bytes, one after the other. Goes on with a DST.part that has the same header: reads
// and checks every picture in it, up to the first that is not sound.
int part_open(struct part *, const char *target, const struct pack_header *, const void *names) MUST_CHECK;
// The next record, in order; `record` without offset and crc.
int part_add(struct part *, const struct pack_record *, const void *bytes) MUST_CHECK;
int part_keep(struct part *) MUST_CHECK;              // a later packer will find the records added so far
int part_commit(struct part *, uint32_t flags) MUST_CHECK;  // all were added: the file is finished and gets its name
void part_close(struct part *);                       // the file stays, unless nothing was added to it; {0} is fine

#endif
