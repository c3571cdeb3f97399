// SPDX-License-Identifier: Apache-2.0
// Fuzzes the packing of a picture: its header, decoding, resizing, encoding. For any input the result must be a picture of the
// stated size.
#include "data/image/head.h"
#include "data/pack/convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static struct converter *converter;
    struct head head;
    struct converted out;
    if (converter == NULL) converter = converter_new(&(struct convert_choice){32, 75});
    if (head_read("picture", bytes, count, &head) == 0 && (int64_t)head.width * head.height > 1 << 16) return 0;  // slow alone
    BUG_IF(converter_run(converter, "picture", bytes, count, &out) < 0);
    if (out.codec == PACK_NONE) {
        BUG_IF(out.why[0] == '\0' || out.bytes != NULL);
        return 0;
    }
    BUG_IF(head_read("packed", out.bytes, out.count, &head) < 0 || head.components != 3 || head.format != HEAD_JPEG);
    BUG_IF(head.width != out.width || head.height != out.height);
    return 0;
}
