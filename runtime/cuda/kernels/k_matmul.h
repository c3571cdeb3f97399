// SPDX-License-Identifier: Apache-2.0
// y = alpha op(a) op(b) + beta c + bias, one row-major matrix or a batch. f32 by f32 is multiplied in f32 (no TF32). If one
// factor has 16 bits, the other is rounded to its type when read, and tensor cores multiply. Sums are f32. If the result has too
// few tiles for the GPU, the depth is cut into slices that are added in order.
#pragma once

#include "runtime/cuda/kernels/k_many.h"

#ifdef __cplusplus
extern "C" {
#endif

struct k_matmul {
    int m, n, k;             // at most 2^31 - 4096
    int64_t batch;           // at least 1
    bool ta, tb;             // a[m, k] or, transposed, a[k, m]; b[k, n] or b[n, k]
    int pitch_a;             // of a transposed a: elements from a row in memory to the next; 0: rows are adjacent
    float alpha, beta;
    const void *a, *b, *c;   // c[m, n] in the type of y, or NULL
    void *y, *work;          // k_matmul_work() bytes
    const float *bias;       // [n], or NULL
    enum dtype a_type, b_type, out;
};
K_LAUNCHER(k_matmul);
// Small products of f32 without a batch. A launch of its own adds the slices of those that have some.
K_MANY_LAUNCHER(k_matmul);
bool k_matmul_is_small(const struct k_matmul *);  // for k_matmul_many
size_t k_matmul_work(const struct k_matmul *);  // depends on sizes and types only

#ifdef __cplusplus
}
#endif
