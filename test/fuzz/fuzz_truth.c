// SPDX-License-Identifier: Apache-2.0
// Fuzzes ground truth lists: every picture of a list that is accepted has a label.
#include "data/read/imagenet/truth.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct truth truth;
    const struct synsets *synsets = synsets_imagenet();
    if (truth_parse("list", (const char *)bytes, count, synsets, &truth) < 0) {
        BUG_IF(truth.label != NULL || error_text()[0] == '\0');
        return 0;
    }
    BUG_IF(truth.count < 1 || truth.count > TRUTH_LINES_MAX);
    for (int64_t i = 0; i < truth.count; i++) BUG_IF(truth.label[i] < 0 || truth.label[i] >= synsets->count);
    truth_free(&truth);
    return 0;
}
