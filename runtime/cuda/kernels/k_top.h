// SPDX-License-Identifier: Apache-2.0
// The k largest of each row, and their gradient.
#pragma once

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernel.h"

struct k_top {
    const void *x;     // [rows, n]; backward dy[rows, k]
    void *y;           // [rows, k], or NULL; backward dx[rows, n]
    int32_t *at;       // [rows, k], or NULL
    const int32_t *at_from;  // [rows, k]: backward; else NULL
    int64_t rows, n;
    int k;
    enum dtype type;
    bool flat;         // indices count over all rows
    uint64_t *sorted;  // k_top_bytes(rows, k)
};

// More than so many are selected and sorted, instead of being searched for one by one.
enum { K_TOP_SEARCHED = 64 };
DAWN_BOTH int64_t k_sort_capacity(int64_t n)  // numbers that are sorted: a power of two
{
    int64_t capacity = 1;
    while (capacity < n) capacity *= 2;
    return capacity;
}
static inline size_t k_top_bytes(int64_t rows, int64_t k)
{
    return k > K_TOP_SEARCHED ? (size_t)(rows * k_sort_capacity(k)) * sizeof(uint64_t) : 0;
}
K_LAUNCHER(k_top);
