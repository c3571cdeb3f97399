// SPDX-License-Identifier: Apache-2.0
// The loops of matrix.c, one table for each instruction set (runtime/common/base/isa.h). Only matrix*.c includes this.
#pragma once

#include <stdint.h>

enum { MATRIX_ROWS = 4, MATRIX_COLUMNS = 8 };  // of a tile: eight accumulators of 4 doubles hide the latency of AVX2's additions

struct matrix_turn {
    const double *v, *w, *with;
    int64_t n;
};
struct matrix_loops {
    // tile[r][c] = sum over i of a[i][r] * b[i][c]; a[k, MATRIX_ROWS], b[k, MATRIX_COLUMNS]
    void (*tile)(const double *a, const double *b, int64_t k, double tile[MATRIX_ROWS][MATRIX_COLUMNS]);
    // row[i] -= of_v * w[i] + of_w * v[i], and returns the sum over i of row[i] * with[i]
    double (*turn)(double *row, const struct matrix_turn *, double of_v, double of_w);
};

extern const struct matrix_loops matrix_loops_base;
#ifndef ISA_ONLY_BASE
extern const struct matrix_loops matrix_loops_avx2, matrix_loops_avx512;
#endif
