// SPDX-License-Identifier: Apache-2.0
// ImageNet (ILSVRC2012) and Imagenette: JPEGs with labels, in a pack or in folders.
#ifndef DAWN_DATA_IMAGENET_H
#define DAWN_DATA_IMAGENET_H

#include "data/kind.h"
#include "data/read/listing.h"

// What the two have of their own.
struct imagenet_flavour {
    const char *name, *title, *noun;        // noun: of the command that gets or makes it
    const struct synsets *(*synsets)(void);
    int64_t count[SPLIT_COUNT];             // as published
    int64_t longest;                        // bytes that no published picture exceeds
    const char *roots[5];                   // where train and val lie below the folder; ends with NULL
};
const struct imagenet_flavour *imagenet_flavour(const char *name);  // NULL: neither of the two

struct imagenet {
    const struct imagenet_flavour *flavour;
    struct listing listing;
    char content[SPLIT_COUNT][DIGEST_HEX];  // empty until it was asked for
};

int imagenet_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int imagenet_content_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
int imagenet_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;

// What becomes of a digest of a picture: the label, two bytes, little endian, and the bytes of the picture.
void imagenet_record_digest(int label, const void *bytes, size_t count, uint8_t digest[32]);

#endif
