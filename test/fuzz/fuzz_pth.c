// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of torch.save. All bytes of an accepted file's tensors are read, so that the sanitizers detect one outside.
#include "runtime/checkpoint/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct safetensors_view view;
    unsigned total = 0;
    if (checkpoint_parse_pth("fuzz", bytes, count, &view) < 0) {
        BUG_IF(strncmp(error_text(), "fuzz", 4) != 0);
        return 0;
    }
    for (int i = 0; i < view.tensors; i++) {
        const struct safetensor *t = &view.tensor[i];
        const uint8_t *at = t->bytes;
        BUG_IF((size_t)shape_count(&t->shape) * checkpoint_type_size(t->dtype) != t->size);
        BUG_IF(!*t->name || strlen(t->name) > CHECKPOINT_NAME_LIMIT || (i > 0 && t->offset < t[-1].offset));
        for (size_t k = 0; k < t->size; k++) total += at[k];
    }
    BUG_IF(total > 255 * view.tensors * count);  // reads each byte; the sum itself cannot be wrong
    checkpoint_view_free(&view);
    return 0;
}
