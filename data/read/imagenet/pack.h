// SPDX-License-Identifier: Apache-2.0
// Packs: one file with all pictures of a data set, ready to be decoded (docs/pack-format.md).
#pragma once

#include "data/dataset.h"

#define PACK_ENDING ".dawnpack"
enum { PACK_VERSION = 2, PACK_HEADER = 256, PACK_RECORD = 32, PACK_NAME = 16, PACK_DIGEST = 32 };
enum {
    PACK_RECORDS_MAX = 1 << 27,
    PACK_NAMES_MAX = INT32_MAX,
    PACK_PICTURE_MAX = 1 << 26,  // bytes
};

enum pack_flag {
    PACK_OFFICIAL = 1,  // made of the published archives with all their pictures
    PACK_PARTIAL = 2,   // classes may lack pictures
    PACK_UNDONE = 4,    // unfinished: only a packer reads it
    PACK_OWN = 8,       // the classes are a person's own; the names of the pictures have them
    PACK_ASKED = PACK_PARTIAL | PACK_OWN,  // by options
};

struct pack_header {
    uint32_t version;                    // 1: the order has the draws of a training's first epoch (pack_unfit_seed)
    char name[PACK_NAME];  // of the data set: "imagenet"
    uint32_t flags, classes;
    uint32_t short_side, quality;        // 0: pictures keep their size; quality of encoded pictures
    uint64_t seed;                       // of the order
    uint64_t records[SPLIT_COUNT];       // pictures, including those that could not be decoded
    uint64_t names_bytes;
    uint64_t done;                       // records in the file; all of them unless PACK_UNDONE
    uint64_t end;                        // the end of the last payload and of the file
    uint8_t source[PACK_DIGEST];         // identifies the source
    uint8_t content[SPLIT_COUNT][PACK_DIGEST];
    uint32_t index_crc, names_crc;
};

enum pack_codec { PACK_NONE, PACK_JPEG };  // NONE: not decodable, only the name is kept
enum pack_mark {
    PACK_ENCODED = 1,    // encoded by the packer; else the source's bytes
    PACK_CONVERTED = 2,  // from gray, CMYK, YCCK, PNG
    PACK_DAMAGED = 4,    // the source had wrong or missing data, which is gray in the pack
};

struct pack_record {
    uint64_t offset;
    uint32_t length, crc;
    uint32_t name;  // position of its name among the names
    uint16_t width, height, label, name_length;
    uint8_t split, codec, marks;
};

// Pure; `file` names the file in errors. Checks the header against its checksum and, if file_bytes is not negative, against
// the size of the file.
int pack_parse_header(const char *file, const uint8_t bytes[PACK_HEADER], int64_t file_bytes, struct pack_header *) MUST_CHECK;
void pack_print_header(const struct pack_header *, uint8_t bytes[PACK_HEADER]);
// Parses record `i` of the index. Payloads follow each other without gaps: this one must begin at `offset`, which is then
// advanced.
int pack_parse_record(const char *file, const struct pack_header *, uint64_t i, const uint8_t bytes[PACK_RECORD],
                      uint64_t *offset, struct pack_record *) MUST_CHECK;
void pack_print_record(const struct pack_record *, uint8_t bytes[PACK_RECORD]);
// The seed of a training whose first epoch would undo the order of the pack, class by class; -1: none.
int64_t pack_unfit_seed(const struct pack_header *);
uint64_t pack_records(const struct pack_header *);
uint64_t pack_names_at(const struct pack_header *);  // position of the names, after the index
uint64_t pack_begin(const struct pack_header *);     // position of the first payload, after the names

struct pack {
    char *path;
    int fd;
    struct pack_header header;
    struct pack_record *record;       // only decodable pictures, train before val
    int64_t count[SPLIT_COUNT];
    int64_t longest;                  // size of the longest payload in bytes
    int64_t encoded, converted, damaged, absent;  // absent: not decodable, only named
};

int pack_open(const char *path, const char *name, struct pack **) MUST_CHECK;  // NAME: the data set that it must hold
void pack_close(struct pack *);                                                // NULL is fine
const struct pack_record *pack_at(const struct pack *, enum split, int64_t index);
// Thread-safe. A file that became shorter and a wrong checksum are errors that name the picture.
int pack_read(const struct pack *, enum split, int64_t index, void *into, size_t capacity, int64_t *bytes) MUST_CHECK;
// Starts reading pictures that will be needed soon into the page cache.
void pack_want(const struct pack *, enum split, int64_t first, int64_t count);
// The name of a picture, or "?" if it cannot be read. free() it.
char *pack_name(const struct pack *, const struct pack_record *);
