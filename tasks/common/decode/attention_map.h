// SPDX-License-Identifier: Apache-2.0
// A picture of attention as SVG: a row for each symbol of the answer, a column for each symbol of the source. The attention of a
// row sums to 1; the darker a square is, the more of it went to the column.
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
