// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, RFC 3720): detects damage of storage, not forgery.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Continues a checksum: `crc` covers the bytes before, or is 0 at the beginning.
uint32_t crc32c_add(uint32_t crc, const void *bytes, size_t count);
