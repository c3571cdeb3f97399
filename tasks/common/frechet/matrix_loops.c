// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set (Makefile: ISAS). Every set adds in the same order; those with fused multiply-add round
// once where base rounds twice.
#include "tasks/common/frechet/matrix_inside.h"

typedef double lanes __attribute__((vector_size(8 * MATRIX_COLUMNS)));
typedef double lanes_anywhere __attribute__((vector_size(8 * MATRIX_COLUMNS), aligned(8), may_alias));
enum { LANES = MATRIX_COLUMNS };

static void multiply_tile(const double *a, const double *b, int64_t k, double tile[MATRIX_ROWS][MATRIX_COLUMNS])
{
    lanes sum[MATRIX_ROWS] = {{0}};
    for (int64_t i = 0; i < k; i++, a += MATRIX_ROWS, b += MATRIX_COLUMNS) {
        const lanes row = *(const lanes_anywhere *)b;
        for (int r = 0; r < MATRIX_ROWS; r++) sum[r] += a[r] * row;
    }
    for (int r = 0; r < MATRIX_ROWS; r++) *(lanes_anywhere *)tile[r] = sum[r];
}

static double turn_row(double *row, const struct matrix_turn *t, double of_v, double of_w)
{
    lanes sum = {0};
    int64_t i = 0;
    double rest = 0;
    for (; i + LANES <= t->n; i += LANES) {
        lanes_anywhere *at = (lanes_anywhere *)(row + i);
        const lanes v = *(const lanes_anywhere *)(t->v + i), w = *(const lanes_anywhere *)(t->w + i);
        const lanes now = *at - of_v * w - of_w * v;
        *at = now;
        sum += now * *(const lanes_anywhere *)(t->with + i);
    }
    for (; i < t->n; i++) {
        row[i] -= of_v * t->w[i] + of_w * t->v[i];
        rest += row[i] * t->with[i];
    }
    for (int l = 0; l < LANES; l++) rest += sum[l];
    return rest;
}

#define JOIN(a, b) a##b
#define TABLE(isa) JOIN(matrix_loops_, isa)
const struct matrix_loops TABLE(ISA) = {multiply_tile, turn_row};
