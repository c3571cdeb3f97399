// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file. An accepted file must satisfy the parser's invariant: the tensors cover the data exactly,
// each with the bytes that its shape needs. Every byte is read, so that the sanitizers detect one outside.
#include "runtime/checkpoint/checkpoint.h"

static size_t sum(const uint8_t *bytes, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += bytes[i];
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct safetensors_view view;
    if (checkpoint_parse("fuzz", bytes, count, &view) < 0) {
        BUG_IF(strncmp(error_text(), "fuzz", 4) != 0);
        return 0;
    }
    size_t header = 0, at = 0;
    for (int i = 7; i >= 0; i--) header = header << 8 | bytes[i];
    for (int i = 0; i < view.tensors; i++) {
        const struct safetensor *t = &view.tensor[i];
        BUG_IF(t->offset != at || t->bytes != bytes + 8 + header + at);
        BUG_IF((size_t)shape_count(&t->shape) * checkpoint_type_size(t->dtype) != t->size);
        BUG_IF(!*t->name || strlen(t->name) > CHECKPOINT_NAME_LIMIT);
        BUG_IF(sum(t->bytes, t->size) > 255 * t->size);  // reads each byte; the sum itself cannot be wrong
        at += t->size;
    }
    BUG_IF(8 + header + at != count);
    for (int i = 0; i < view.metas; i++) BUG_IF(!view.meta[i].key || !view.meta[i].value);
    checkpoint_view_free(&view);
    return 0;
}
