// SPDX-License-Identifier: Apache-2.0
// One instruction for eight bytes if the processor has it (SSE 4.2), else eight tables.
//
// Cost: 10 GB/s with the instruction and 2.7 GB/s with tables: a picture of 20 KB takes 2 us or 7 us.
#include "runtime/common/base/crc32c.h"

#include <pthread.h>
#include <string.h>

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t add_by_instruction(uint32_t crc, const uint8_t *at, size_t count)
{
    uint64_t wide = crc;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t eight;
        memcpy(&eight, at, sizeof eight);
        wide = _mm_crc32_u64(wide, eight);
    }
    crc = (uint32_t)wide;
    for (; count > 0; at++, count--) crc = _mm_crc32_u8(crc, *at);
    return crc;
}
#endif

static uint32_t table[8][256];  // table[k][b]: byte b, followed by k zero bytes
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

static uint32_t add_by_table(uint32_t crc, const uint8_t *at, size_t count)
{
    pthread_once(&table_once, fill_table);
    for (; count >= 8; at += 8, count -= 8) {
        uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    }
    for (; count > 0; at++, count--) crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
    return crc;
}

uint32_t crc32c_add(uint32_t crc, const void *bytes, size_t count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) return ~add_by_instruction(~crc, bytes, count);
#endif
    return ~add_by_table(~crc, bytes, count);
}
