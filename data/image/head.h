// SPDX-License-Identifier: Apache-2.0
// Format, size and coding of a picture from its first bytes, without a decoder.
#pragma once

#include "runtime/common/base/error.h"

enum head_format { HEAD_JPEG, HEAD_PNG };
struct head {
    enum head_format format;
    int width, height;
    int components;  // of a JPEG: 1 gray, 3 colour, 4 CMYK or YCCK; 0 for PNG
    int coding;      // of a JPEG: the low byte of its frame marker, 0xc0 baseline, 0xc2 progressive; 0 for PNG
};

enum { HEAD_MAX_SIDE = 65500, HEAD_BYTES = 1 << 16 };  // libjpeg's own limit; nearly always enough for a whole head
#define HEAD_MAX_PIXELS (INT64_C(1) << 26)             // as DECODER_LIMITS: 201 MB as RGB

// Pure. An error is a sentence that begins with `name`: neither JPEG nor PNG, bytes that end too soon, 12 bits, lossless, or
// more pixels than HEAD_MAX_PIXELS.
int head_read(const char *name, const uint8_t *bytes, size_t count, struct head *) MUST_CHECK;
