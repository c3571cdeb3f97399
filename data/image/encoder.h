// SPDX-License-Identifier: Apache-2.0
// Encodes pixels as a JPEG.
#pragma once

#include "runtime/common/base/error.h"

struct encoder;  // belongs to one thread

struct encoder *encoder_new(void);    // never NULL
void encoder_free(struct encoder *);  // NULL is fine

// Encodes pixels[height, width, 3] as baseline JPEG with halved chroma in both directions (4:2:0) and its own Huffman
// tables. The same pixels and quality give the same bytes, which are valid until the next call. An error is a sentence that
// begins with `what`.
int encoder_draw(struct encoder *, const char *what, const uint8_t *pixels, int height, int width, int quality,
                 const uint8_t **bytes, size_t *count) MUST_CHECK;
