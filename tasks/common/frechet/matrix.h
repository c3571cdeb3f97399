// SPDX-License-Identifier: Apache-2.0
// Matrices of doubles by rows, on the host: products, Cholesky's factor and the eigenvalues of symmetric matrices, for metrics.
// All threads work; same threads, same bytes.
#pragma once

#include "runtime/common/base/error.h"

// c[m,n] += scale * a[k,m]^T b[k,n]. A step is the distance of two rows. `upper`: c is square, and only numbers on and above its
// diagonal counts; the rest may be written, too.
struct matrix_product {
    const double *a, *b;
    double *c;
    int64_t k, m, n, a_step, b_step, c_step;
    double scale;
    bool upper;
};
int matrix_add_product(const struct matrix_product *) MUST_CHECK;  // fails only without memory

// Replaces a symmetric, positive semi-definite a[n,n] by u with a = u^T u. Directions below the rounding error of a[i,i] are
// dropped; their rows are zeros.
int matrix_factor(double *a, int64_t n) MUST_CHECK;

// The eigenvalues of a symmetric a[n,n], in any order, to about 1e-15 of the largest one. Reads both triangles of a and destroys
// it. Cost: 4/3 n^3 multiplications in n passes over the rest of a: 3 s for n = 2048 on two cores.
int matrix_eigenvalues(double *a, int64_t n, double *value) MUST_CHECK;

void matrix_mirror(double *a, int64_t n);  // copies the numbers above the diagonal to below it
double *matrix_new(int64_t rows, int64_t columns);  // zeros; free() ends it. NULL: there is no memory (matrix_no_memory)
int matrix_no_memory(int64_t rows, int64_t columns) MUST_CHECK;
