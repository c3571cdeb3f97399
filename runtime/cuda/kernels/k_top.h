// SPDX-License-Identifier: Apache-2.0
// The k largest of each row, and their gradient.
#ifndef DAWN_K_TOP_H
#define DAWN_K_TOP_H

#include "runtime/cuda/kernel.h"

struct k_top {
    const void *x;     // [rows, n]; backward dy[rows, k]
    void *y;           // [rows, k], or NULL; backward dx[rows, n]
    int32_t *at;       // [rows, k], or NULL
    const int32_t *at_from;  // [rows, k]: backward; else NULL
    int64_t rows, n;
    int k;
    enum dtype type;
};
K_LAUNCHER(k_top);

#endif
