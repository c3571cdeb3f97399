// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of MNIST: refused in a sentence that begins with its name, or all that its head says is there.
#include "data/read/mnist/idx.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct idx idx;
    if (idx_pictures("file", bytes, count, &idx) == 0)
        BUG_IF(idx.at != bytes + IDX_PICTURES_HEAD || (int64_t)count != IDX_PICTURES_HEAD + idx.count * IDX_PICTURE);
    else BUG_IF(strncmp(error_text(), "file", 4) != 0);
    if (idx_labels("file", bytes, count, &idx) < 0) {
        BUG_IF(strncmp(error_text(), "file", 4) != 0);
        return 0;
    }
    BUG_IF(idx.at != bytes + IDX_LABELS_HEAD || (int64_t)count != IDX_LABELS_HEAD + idx.count);
    for (int64_t i = 0; i < idx.count; i++) BUG_IF(idx.at[i] >= IDX_CLASSES);
    return 0;
}
