// SPDX-License-Identifier: Apache-2.0
// A picture of attention as SVG: one row per symbol of the answer, one column per symbol of the source. The attention of a row
// sums to 1; a darker square means more attention to its column.
#pragma once

#include "runtime/common/base/text.h"

struct attention_map {
    int64_t rows, columns;
    const int32_t *row, *column;  // ids of the symbols
    void (*name)(const void *context, int32_t id, struct text *into);
    const void *context;
    const float *share;           // of row r and column c at share[r * stride + c]
    int64_t stride;
};
void attention_map_draw(const struct attention_map *, struct text *svg);
