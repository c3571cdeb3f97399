// SPDX-License-Identifier: Apache-2.0
// Pixels become a JPEG.
#ifndef DAWN_DATA_ENCODE_H
#define DAWN_DATA_ENCODE_H

#include "runtime/base/error.h"

struct encoder;  // belongs to one thread

struct encoder *encoder_new(void);    // never NULL
void encoder_free(struct encoder *);  // NULL is fine

// pixels[height, width, 3] as baseline JPEG, chroma halved in both directions (4:2:0), with Huffman tables of its own. The same
// pixels and quality give the same bytes. They live until the next call. An error is a sentence that begins with `what`.
int encoder_draw(struct encoder *, const char *what, const uint8_t *pixels, int height, int width, int quality,
                 const uint8_t **bytes, size_t *count) MUST_CHECK;

#endif
