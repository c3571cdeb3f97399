// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of weights: safetensors files made by hand, in the test's own folder.
#pragma once

#include "test/unit/fixture_folder.h"

#include "runtime/checkpoint/checkpoint.h"

#include <sys/stat.h>

// ---- files made by hand

struct block {
    unsigned char *at;
    size_t count;
};

static inline struct block make(const char *header, size_t header_bytes, size_t data_bytes)
{
    struct block b = {.count = 8 + header_bytes + data_bytes};
    b.at = malloc(b.count);
    assert_non_null(b.at);
    for (int i = 0; i < 8; i++) b.at[i] = (unsigned char)((uint64_t)header_bytes >> 8 * i);
    memcpy(b.at + 8, header, header_bytes);
    for (size_t i = 0; i < data_bytes; i++) b.at[8 + header_bytes + i] = (unsigned char)(i + 1);
    return b;
}

static inline void put_file(const char *path, const void *bytes, size_t count)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static inline void assert_said(const char *part)
{
    if (!strstr(error_text(), part)) fail_msg("\"%s\" is not in: %s", part, error_text());
}

// One tensor of a header.
#define T(name, type, shape, offsets)                                                                                  \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static inline struct device *ref_device(void)
{
    struct device *d;
    assert_int_equal(device_open("ref", 1, &d), 0);
    return d;
}
