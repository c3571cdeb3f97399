// SPDX-License-Identifier: Apache-2.0
// Converts one picture to the form of a pack: a JPEG of 8 bits in colour that decodes without a warning.
#pragma once

#include "data/read/imagenet/pack.h"

struct convert_choice {
    int short_side;  // larger pictures are shrunk; 0: none
    int quality;     // of encoded pictures, 1 to 100
};

struct converted {
    enum pack_codec codec;  // PACK_NONE: cannot be decoded
    int marks;              // bits of enum pack_mark
    int width, height;
    const uint8_t *bytes;   // valid until the next call; may be the given bytes
    size_t count;
    char why[ERROR_TEXT_MAX];  // for PACK_NONE and PACK_DAMAGED: a sentence with the picture's name
};

struct converter;  // belongs to one thread
struct converter *converter_new(const struct convert_choice *);  // never NULL
void converter_free(struct converter *);                         // NULL is fine

// `what` names the picture. Fails only for lack of memory: a picture that cannot be decoded is a result.
int converter_run(struct converter *, const char *what, const uint8_t *bytes, size_t count, struct converted *) MUST_CHECK;
