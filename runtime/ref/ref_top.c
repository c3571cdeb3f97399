// SPDX-License-Identifier: Apache-2.0
// The k largest of a row, found one after the other.
#include "runtime/ref/ref.h"

// True if element i of a row comes before element j: larger, or equal and earlier; any number comes before NaN.
static bool precedes(const double *x, int64_t i, int64_t j)
{
    bool same = x[i] == x[j] || (x[i] != x[i] && x[j] != x[j]);
    return same ? i < j : x[i] > x[j] || x[j] != x[j];
}

void ref_top(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t n = shape_last(shape), rows = shape_rows(shape), k = s->node->attr.top.k;
    const double *x = ref_read(s, 0);
    double *y = ref_zeros(s, rows * k), *at = ref_zeros(s, rows * k);
    for (int64_t r = 0; r < rows; r++, x += n) {
        int64_t last = -1;
        for (int64_t j = r * k; j < (r + 1) * k; j++) {
            int64_t best = -1;
            for (int64_t i = 0; i < n; i++)
                if (i != last && (last < 0 || precedes(x, last, i)) && (best < 0 || precedes(x, i, best))) best = i;
            y[j] = x[best], at[j] = (double)(best + (s->node->attr.top.flat ? r * n : 0)), last = best;
        }
    }
    ref_write(s, 0, y);
    ref_write(s, 1, at);
}

void ref_top_grad(const struct ref_step *s)
{
    int64_t k = shape_last(&ref_in(s, 0)->shape), n = s->node->attr.top.n, rows = shape_rows(&ref_in(s, 0)->shape);
    const double *at = ref_read(s, 0), *dy = ref_read(s, 1);
    double *dx = ref_zeros(s, rows * n);
    for (int64_t j = 0; j < rows * k; j++) {
        double i = at[j] - (s->node->attr.top.flat ? (double)(j / k * n) : 0.0);
        if (i >= 0 && i < (double)n) dx[j / k * n + (int64_t)i] += dy[j];
    }
    ref_write(s, 0, dx);
}
