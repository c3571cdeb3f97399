// SPDX-License-Identifier: Apache-2.0
// Comparisons for qsort: the smallest first.
#pragma once

#include <stdint.h>

#define SORT_ASCENDING(name, type)                                                                                     \
    static inline int name(const void *a, const void *b)                                                               \
    {                                                                                                                  \
        type x = *(const type *)a, y = *(const type *)b;                                                               \
        return (x > y) - (x < y);                                                                                      \
    }
SORT_ASCENDING(sort_i32, int32_t)
SORT_ASCENDING(sort_i64, int64_t)
SORT_ASCENDING(sort_f32, float)
SORT_ASCENDING(sort_f64, double)
#undef SORT_ASCENDING
