// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes in memory as a data set, from any source.
//
// Fields: "jpeg" (u8, ragged: a JPEG or a PNG), "objects" (i32[n,5], ragged: enum voc_member of each), "sizes" (i32[2]: width,
// height) and, in sets with masks, "labels" (u8[height * width], ragged: of each pixel 0 or its object, from 1). Objects without
// an area are left out, and `dawn data verify` names them. Cost: the files are kept in memory, 8 MB for BCCD, and the labels, 33
// MB for Penn-Fudan.
#pragma once

#include "data/kind.h"
#include "data/read/voc/voc.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

struct voc_sample {
    char name[VOC_NAME];
    uint8_t *jpeg;
    int64_t bytes;
    struct voc is;
    uint8_t *labels;  // [height, width]; NULL: no masks
};
struct voc_set {
    char *folder;
    const char *photographs, *ending;  // a photograph is PHOTOGRAPHS/NAME and this ending; NULL: it has no file
    struct voc_split {
        struct voc_sample *sample;
        int64_t count;
    } split[SPLIT_COUNT];
    char digest[SPLIT_COUNT][DIGEST_HEX];
    struct text left_out[SPLIT_COUNT];  // the file and line of each object that was left out: "A.xml:7, B.xml:19"
};

// `pixels`: of the largest picture; 0: there are no masks.
void voc_fields(struct dataset_facts *, const char *const *classes, int64_t longest, int64_t pixels);
// Sets counts and fields, and leaves out the objects without an area.
void voc_filled(struct dataset *);
// The samples of the list in the folder of the set; sets the digest of the split: the SHA-256 of a line "SHA-256  NAME" per file.
int voc_open_split(struct dataset *, enum split, const char *list) MUST_CHECK;
// Reads FOLDER/NAME and adds the line of its digest.
int voc_read_file(const struct voc_set *, const char *name, struct text *lines, char **bytes, size_t *count) MUST_CHECK;
// Returns rc; a sentence about a file of the set begins with its name, and gets the folder of the set in front.
int voc_named(const struct voc_set *, int rc) MUST_CHECK;

// Members of struct kind.
void voc_close(struct dataset *);
int voc_read(struct dataset *, enum split, const struct field *, int64_t first, int64_t count, void *into) MUST_CHECK;
int voc_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
             int64_t *length) MUST_CHECK;
int voc_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
void voc_sample_name(struct dataset *, enum split, int64_t index, struct text *);
int voc_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
void voc_remark(struct dataset *, enum split, struct text *);
int voc_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;
int voc_draw(struct dataset *, enum split, int64_t number, const char *path) MUST_CHECK;
int voc_whole(struct dataset *, enum split, const char *path) MUST_CHECK;
int voc_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;
