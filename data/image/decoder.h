// SPDX-License-Identifier: Apache-2.0
// Turns a part of a JPEG or a PNG into a sample: decoded no larger than needed (a PNG whole), resized, mirrored, written into a
// batch.
//
//     decoder_size(decoder, "train 7", bytes, n, &width, &height);
//     area = crop_random(seed, epoch, 7, width, height, 0.25, 1);
//     decoder_draw(decoder, "train 7", bytes, n, &(struct scale_into){&area, crop_mirror(seed, epoch, 7), 224, 224, into});
//
// Colour, grey, CMYK and YCCK become RGB (CMYK as Adobe writes it, inverted; profiles and EXIF orientation are ignored).
// Progressive and arithmetic files are decoded; 12-bit and lossless ones are refused.
//
// Invariant: the pixels depend on the arguments alone, not on earlier pictures. Any bytes give a sample or a sentence that
// starts with `what`. A picture's size is checked against the limits before memory of that size is allocated. Cost: decoding
// the rows down to the end of the area, the resize (about a tenth of that), and memory for the part.
#pragma once

#include "data/image/crop.h"
#include "data/image/image.h"
#include "data/image/scale.h"

struct decoder;  // belongs to one thread

// The largest sides that libjpeg reads. A progressive picture of this many pixels takes 400 MB while it is decoded.
#define DECODER_LIMITS ((struct image_limits){65500, 1 << 26})

struct decoder *decoder_new(void);     // never NULL
void decoder_free(struct decoder *);   // NULL is fine
void decoder_limit(struct decoder *, const struct image_limits *);  // instead of DECODER_LIMITS
// Allows libjpeg to shrink larger pictures by 2, 4 or 8; the default is true. Shrinking is faster, but differs at sharp
// edges by up to a few tens of levels from the resize of all pixels. It is meant for training, not for evaluation.
void decoder_shrink(struct decoder *, bool);

// A buffer for a picture's encoded bytes, for example for dataset_item. The next picture reuses it.
uint8_t *decoder_buffer(struct decoder *, size_t bytes);

int decoder_size(struct decoder *, const char *what, const uint8_t *bytes, size_t n, int *width, int *height) MUST_CHECK;
// The area is inside the picture. The resize also reads pixels around the area, as
// far as its filter reaches (Pillow's `box`).
int decoder_draw(struct decoder *, const char *what, const uint8_t *bytes, size_t n, const struct scale_into *) MUST_CHECK;
// libjpeg's message if the last decoder_draw met damaged or missing data (missing pixels are grey), else NULL. Only the
// needed rows are checked. Valid until the next call. A damaged PNG is an error.
const char *decoder_damage(const struct decoder *);
