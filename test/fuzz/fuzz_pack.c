// SPDX-License-Identifier: Apache-2.0
// Fuzzes the parsers of packs: the header and the index. Every second input gets a right checksum of the header, so that the
// checks behind it are reached. An accepted header must be sound, and printing it must give the same bytes.
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/crc32c.h"
#include "data/read/imagenet/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_index(const struct pack_header *h, const uint8_t *bytes, size_t count)
{
    uint64_t offset = pack_begin(h);
    for (uint64_t i = 0; i < pack_records(h) && (i + 1) * PACK_RECORD <= count; i++) {
        uint8_t printed[PACK_RECORD], print_again[PACK_RECORD];
        struct pack_record r, again;
        uint64_t before = offset;
        if (pack_parse_record("pack", h, i, bytes + i * PACK_RECORD, &offset, &r) < 0) return;
        BUG_IF(r.label >= h->classes || r.offset != before || offset > h->end || offset < before);
        BUG_IF((uint64_t)r.name + r.name_length > h->names_bytes || r.length > PACK_PICTURE_MAX);
        pack_print_record(&r, printed);
        BUG_IF(pack_parse_record("pack", h, i, printed, &before, &again) < 0);
        pack_print_record(&again, print_again);
        BUG_IF(memcmp(printed, print_again, PACK_RECORD) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    uint8_t head[PACK_HEADER], printed[PACK_HEADER];
    struct pack_header h, again;
    if (count < PACK_HEADER) return 0;
    memcpy(head, bytes, PACK_HEADER);
    if (count & 1) {
        uint32_t crc = crc32c_add(0, head, PACK_HEADER - sizeof crc);
        memcpy(head + PACK_HEADER - sizeof crc, &crc, sizeof crc);
    }
    if (pack_parse_header("pack", head, -1, &h) < 0) return 0;
    BUG_IF(h.classes < 1 || h.done > pack_records(&h) || h.end < pack_begin(&h));
    pack_print_header(&h, printed);
    BUG_IF(pack_parse_header("pack", printed, (int64_t)h.end, &again) < 0);
    check_index(&h, bytes + PACK_HEADER, count - PACK_HEADER);
    return 0;
}
