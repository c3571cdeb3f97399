// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of events. Checksums are made right first, so that the code after them is reached: the first byte chooses.
// Only whole records are used, with anything after them, and reading in two parts gives the same scalars.
#include "tasks/tools/outside/events.h"

#include <stdlib.h>
#include <string.h>

static int take(void *context, const struct events_scalar *s)
{
    uint64_t *seen = context;
    BUG_IF(memchr(s->tag, 0, sizeof s->tag) == NULL);
    for (const char *c = s->tag; *c != 0; c++) *seen = (*seen ^ (unsigned char)*c) * 0x100000001b3;
    *seen = (*seen ^ (uint64_t)s->step) * 0x100000001b3;
    return 0;
}

static uint32_t masked_crc(const unsigned char *at, size_t count)
{
    uint32_t crc = ~(uint32_t)0;
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void put(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static void mend(unsigned char *at, size_t count)
{
    while (count >= 16) {
        size_t length = at[0] | (size_t)at[1] << 8;
        memset(at + 2, 0, 6);
        put(at + 8, masked_crc(at, 8));
        if (length > count - 16) return;
        put(at + 12 + length, masked_crc(at + 12, length));
        at += 16 + length, count -= 16 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 1) return 0;
    unsigned char *copy = malloc(count);
    uint64_t whole = 0, parts = 0;
    size_t used, first, second;
    BUG_IF(copy == NULL);
    memcpy(copy, bytes + 1, count - 1);
    if (bytes[0] & 1) mend(copy, count - 1);
    int rc = events_read(copy, count - 1, &used, take, &whole);
    BUG_IF(used > count - 1 || (rc < 0 && (rc != ERR_INPUT || *error_text() == 0)));
    if (rc == 0) {
        BUG_IF(events_read(copy, (count - 1) / 2, &first, take, &parts) < 0);
        BUG_IF(events_read(copy + first, count - 1 - first, &second, take, &parts) < 0);
        BUG_IF(first + second != used || whole != parts);
    }
    free(copy);
    return 0;
}
