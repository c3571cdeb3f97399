// SPDX-License-Identifier: Apache-2.0
// MD5 (RFC 1321), because the publishers of these archives give no other digest. It detects damage, not forgery.
#pragma once

#include "runtime/common/base/error.h"

enum { MD5_HEX = 33 };

struct md5 {
    uint32_t state[4];
    uint64_t count;
    uint8_t block[64];
};
void md5_begin(struct md5 *);
void md5_add(struct md5 *, const void *bytes, size_t count);
void md5_end(struct md5 *, char hex[MD5_HEX]);
void md5_of(const void *bytes, size_t count, char hex[MD5_HEX]);  // of all bytes at once
