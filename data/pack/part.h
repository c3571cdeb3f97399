// SPDX-License-Identifier: Apache-2.0
// An unfinished pack, DST.part. A later packer of the same source continues it.
#pragma once

#include "data/read/imagenet/pack.h"

struct part {
    char *path, *target;
    int fd;
    bool resumed, restarted;             // continues an existing part; replaces one of another source or other options
    bool ours;                           // no other packer writes to it
    bool finished;                       // the existing file lacked only its final name
    uint32_t found;                      // flags of that file
    struct pack_header header;           // done and end advance
    uint64_t kept;                       // records whose index has been written
    uint8_t *index;                      // PACK_RECORD bytes per record
    uint8_t (*digest)[PACK_DIGEST];      // imagenet_record_digest of each record; zeros for those without bytes
    struct pack_record last;             // the last record added
};

// `header` describes the pack. Its `source` identifies the source; its first `content` identifies the version of the source until
// the pack is finished. `names` are its names_bytes, one after the other. Continues a DST.part that has the same header: reads
// and checks every picture in it, up to the first that is not sound.
int part_open(struct part *, const char *target, const struct pack_header *, const void *names) MUST_CHECK;
// Adds the next record, in order; `record` has neither offset nor crc.
int part_add(struct part *, const struct pack_record *, const void *bytes) MUST_CHECK;
int part_keep(struct part *) MUST_CHECK;              // makes the records so far available to a later packer
int part_commit(struct part *, uint32_t flags) MUST_CHECK;  // after the last record: finishes the file and gives it its name
void part_close(struct part *);                       // keeps the file unless nothing was added; {0} is fine
