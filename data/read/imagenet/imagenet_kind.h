// SPDX-License-Identifier: Apache-2.0
// ImageNet (ILSVRC2012) and Imagenette: JPEGs with labels, in a pack or in folders.
#pragma once

#include "data/kind.h"
#include "data/read/imagenet/listing.h"
#include "data/read/imagenet/pack.h"

// Differences between the two data sets.
struct imagenet_flavour {
    const char *name, *title;
    const char *command, *gets;             // `dawn data COMMAND`, and the verb of the sentence that names it
    const struct synsets *(*synsets)(void);
    int64_t count[SPLIT_COUNT];             // as published
    int64_t longest;                        // upper bound of a published picture in bytes
    const char *roots[5];                   // folders below the given one that may hold train and val; ends with NULL
    // The content digest of packs of the published archives. Pictures may not be published, so it is SHA-256 of the text
    // "NAME SPLIT MD5" (for ImageNet's validation also of its labels: docs/data.md).
    const char *official[SPLIT_COUNT];
};
const struct imagenet_flavour *imagenet_flavour(const char *name);  // NULL if it is neither

// The folder below GIVEN that has a folder train or val; NULL if there is none. free() it.
char *imagenet_find_root(const struct imagenet_flavour *, const char *given);

struct imagenet {
    const struct imagenet_flavour *flavour;
    struct pack *pack;       // NULL: the pictures are in `listing`
    struct listing listing;
    char content[SPLIT_COUNT][DIGEST_HEX];  // "" before it was computed
};

int imagenet_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int imagenet_content_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int imagenet_layout(struct dataset *, char hex[DIGEST_HEX]) MUST_CHECK;
int imagenet_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;

// The digest of a picture, over the label (two bytes, little endian) and the bytes of the picture.
void imagenet_record_digest(int label, const void *bytes, size_t count, uint8_t digest[32]);
