// SPDX-License-Identifier: Apache-2.0
// Walks the segments of a JPEG up to its frame header, or reads the first chunk of a PNG. So the size and the coding of a
// picture are known before a decoder allocates anything, and undecodable pictures are refused.
//
// Cost: about ten steps per picture; no pixel is read. Fuzzed: test/fuzz/fuzz_convert.c.
#include "data/image/head.h"

#include <string.h>

static int two_bytes(const uint8_t *at)
{
    return at[0] << 8 | at[1];
}

static int check_size(const char *name, int64_t width, int64_t height)
{
    if (width < 1 || height < 1)
        return fail(ERR_INPUT, "%s: a picture of %lld x %lld pixels", name, (long long)width, (long long)height);
    if (width > HEAD_MAX_SIDE || height > HEAD_MAX_SIDE || width * height > HEAD_MAX_PIXELS)
        return fail(ERR_INPUT, "%s: a picture of %lld x %lld pixels is too large (at most %d a side, %lld in all)", name,
                    (long long)width, (long long)height, HEAD_MAX_SIDE, (long long)HEAD_MAX_PIXELS);
    return 0;
}

static int read_png(const char *name, const uint8_t *bytes, size_t count, struct head *head)
{
    if (count < 24 || memcmp(bytes + 12, "IHDR", 4) != 0) return fail(ERR_INPUT, "%s: a PNG without its header", name);
    int64_t width = (int64_t)two_bytes(bytes + 16) << 16 | two_bytes(bytes + 18);
    int64_t height = (int64_t)two_bytes(bytes + 20) << 16 | two_bytes(bytes + 22);
    TRY(check_size(name, width, height));
    *head = (struct head){.format = HEAD_PNG, .width = (int)width, .height = (int)height};
    return 0;
}

// A frame header: precision, height, width, components. libjpeg-turbo decodes the codings 0xc0 to 0xc2 and, with
// arithmetic coding, 0xc9 and 0xca.
static int read_frame(const char *name, int marker, const uint8_t *at, struct head *head)
{
    static const char *const codings[16] = {[3] = "lossless", [5] = "hierarchical", [6] = "hierarchical", [7] = "lossless",
                                            [11] = "lossless", [13] = "hierarchical", [14] = "hierarchical", [15] = "lossless"};
    if (codings[marker & 15] != NULL) return fail(ERR_INPUT, "%s: a %s JPEG cannot be decoded", name, codings[marker & 15]);
    if (at[0] != 8) return fail(ERR_INPUT, "%s: a JPEG of %d bits cannot be decoded, only one of 8", name, at[0]);
    TRY(check_size(name, two_bytes(at + 3), two_bytes(at + 1)));
    if (at[5] != 1 && at[5] != 3 && at[5] != 4)
        return fail(ERR_INPUT, "%s: a JPEG has 1, 3 or 4 components; got %d", name, at[5]);
    *head = (struct head){HEAD_JPEG, two_bytes(at + 3), two_bytes(at + 1), at[5], marker};
    return 0;
}

static int read_jpeg(const char *name, const uint8_t *bytes, size_t count, struct head *head)
{
    size_t at = 2;
    while (count - at >= 4) {
        int marker = bytes[at + 1];
        if (bytes[at] != 0xff || marker == 0xff || marker == 0) {  // fill bytes, and markers that libjpeg skips with a warning
            at++;
            continue;
        }
        if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {  // markers without a length
            at += 2;
            continue;
        }
        if (marker == 0xd9 || marker == 0xda) return fail(ERR_INPUT, "%s: a JPEG without a frame header", name);
        size_t length = (size_t)two_bytes(bytes + at + 2);
        bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (frame && length >= 8 && count - at >= 10) return read_frame(name, marker, bytes + at + 4, head);
        if (length < 2 || length + 2 > count - at || frame) break;
        at += length + 2;
    }
    return fail(ERR_INPUT, "%s: a JPEG that ends before its frame header", name);
}

int head_read(const char *name, const uint8_t *bytes, size_t count, struct head *head)
{
    *head = (struct head){0};
    if (count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) return read_png(name, bytes, count, head);
    if (count >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) return read_jpeg(name, bytes, count, head);
    return fail(ERR_INPUT, "%s is %s", name, count == 0 ? "empty" : "neither a PNG nor a JPEG");
}
