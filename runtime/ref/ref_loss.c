// SPDX-License-Identifier: Apache-2.0
// Softmax, cross-entropy with label smoothing, and evaluation counters.
#include "runtime/ref/ref.h"

#include <math.h>

// Replaces a row by its probabilities; returns log(sum(exp)).
static double softmax_row(double *x, int64_t n)
{
    double top = x[0], sum = 0.0;
    for (int64_t i = 1; i < n; i++) top = fmax(top, x[i]);
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - top);
    double all = top + log(sum);
    for (int64_t i = 0; i < n; i++) x[i] = exp(x[i] - all);
    return all;
}

void ref_softmax(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape_rows(shape), n = shape_last(shape);
    double *x = ref_read(s, 0);
    for (int64_t r = 0; r < rows; r++) softmax_row(x + r * n, n);
    ref_write(s, 0, x);
}

void ref_softmax_grad(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape_rows(shape), n = shape_last(shape);
    double *y = ref_read(s, 0), *dy = ref_read(s, 1);
    for (int64_t r = 0; r < rows; r++, y += n, dy += n) {
        double dot = 0.0;
        for (int64_t i = 0; i < n; i++) dot += y[i] * dy[i];
        for (int64_t i = 0; i < n; i++) dy[i] = y[i] * (dy[i] - dot);
    }
    ref_write(s, 0, dy - rows * n);
}

// The targets of all rows as probabilities, smoothed; total[r]: their sum, 0 for a row that does not count.
// kept: of the forward pass, if that ran.
static double *read_targets(const struct ref_step *s, int64_t rows, int64_t n, const double *kept, double *total)
{
    bool soft = ref_in(s, 1)->dtype == F32;
    double *given = ref_read(s, 1), *target = soft ? given : ref_zeros(s, rows * n), smoothing = s->node->attr.loss.smoothing;
    for (int64_t r = 0; r < rows; r++) {
        if (!soft && given[r] >= 0.0 && given[r] < (double)n) target[r * n + (int64_t)given[r]] = 1.0;
        for (int64_t i = 0; i < n; i++) total[r] += target[r * n + i];
        if (soft && kept) total[r] = kept[3 * r + 2];
        for (int64_t i = 0; i < n; i++) {
            double *t = &target[r * n + i];
            *t = (1.0 - smoothing) * *t + smoothing * total[r] / (double)n;
        }
    }
    return target;
}

void ref_xent(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape_rows(shape), n = shape_last(shape);
    const double *x = ref_read(s, 0), *weight = ref_read(s, 2);
    double *total = ref_zeros(s, rows), *target = read_targets(s, rows, n, NULL, total), *losses = ref_zeros(s, rows);
    double *kept = ref_zeros(s, 3 * rows), loss = 0.0, count = 0.0;
    for (int64_t r = 0; r < rows; r++, x += n, target += n) {
        double top = x[0], sum = 0.0, one = weight ? weight[r] : 1.0;
        for (int64_t i = 1; i < n; i++) top = fmax(top, x[i]);
        for (int64_t i = 0; i < n; i++) sum += exp(x[i] - top);
        for (int64_t i = 0; i < n && total[r] != 0.0; i++)  // what cannot be costs nothing where nothing is asked of it
            if (target[i] != 0.0) losses[r] += one * target[i] * (top + log(sum) - x[i]);
        kept[3 * r] = top, kept[3 * r + 1] = 1.0 / sum, kept[3 * r + 2] = total[r];
        loss += losses[r];
        count += total[r] != 0.0 ? one : 0.0;
    }
    if (s->node->attr.loss.mean && count != 0.0) loss /= count;
    ref_write(s, 0, &loss);
    ref_write(s, 1, losses);
    ref_write(s, 2, &count);
    ref_write(s, 3, kept);
}

void ref_xent_grad(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape_rows(shape), n = shape_last(shape);
    double *x = ref_read(s, 0), *weight = ref_read(s, 2), *kept = ref_read(s, 4), *drows = ref_read(s, 6);
    double *total = ref_zeros(s, rows), *target = read_targets(s, rows, n, kept, total);
    double count = s->node->attr.loss.mean ? ref_get(s, 3, 0) : 1.0;
    double dloss = ref_in(s, 5) ? ref_get(s, 5, 0) / (count != 0.0 ? count : 1.0) : 0.0;
    for (int64_t r = 0; r < rows; r++) {
        const double *k = kept + 3 * r;
        double factor = total[r] == 0.0 ? 0.0 : (weight ? weight[r] : 1.0) * (dloss + (drows ? drows[r] : 0.0));
        for (int64_t i = r * n; i < (r + 1) * n; i++) x[i] = (exp(x[i] - k[0]) * k[1] * total[r] - target[i]) * factor;
    }
    ref_write(s, 0, x);
}

void ref_correct(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape_rows(shape), n = shape_last(shape);
    const double *x = ref_read(s, 0);
    double counter = ref_get(s, 2, 0);
    for (int64_t r = 0; r < rows; r++, x += n) {
        int64_t label = (int64_t)ref_get(s, 1, r), above = 0;
        if (label < 0 || label >= n || isnan(x[label])) continue;  // an invalid label or a NaN is never correct
        for (int64_t i = 0; i < n; i++) above += x[i] > x[label] || (x[i] == x[label] && i < label);
        counter += above < s->node->attr.loss.k;
    }
    ref_write(s, 0, &counter);
}

void ref_accumulate(const struct ref_step *s)
{
    double total = ref_get(s, 0, 0) + ref_get(s, 1, 0);
    ref_write(s, 0, &total);
}
