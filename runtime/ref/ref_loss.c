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

// The smoothed target of class i.
static double target_of(double smoothing, int64_t classes, int64_t label, int64_t i)
{
    return (i == label ? 1.0 - smoothing : 0.0) + smoothing / (double)classes;
}

static bool is_class(double label, int64_t classes) { return label >= 0.0 && label < (double)classes; }

static double labelled_rows(const double *labels, int64_t rows, int64_t classes)
{
    double count = 0.0;
    for (int64_t r = 0; r < rows; r++) count += is_class(labels[r], classes);
    return count > 0.0 ? count : 1.0;
}

void ref_xent(const struct ref_step *s)
{
    const struct loss_attr *a = &s->node->attr.loss;
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape->dim[0], n = shape->dim[1];
    double *x = ref_read(s, 0), *labels = ref_read(s, 1), *raw = ref_zeros(s, n), loss = 0.0;
    for (int64_t r = 0; r < rows; r++) {
        double *row = x + r * n;
        for (int64_t i = 0; i < n; i++) raw[i] = row[i];
        double all = softmax_row(row, n);
        for (int64_t i = 0; i < n && is_class(labels[r], n); i++)
            loss += target_of(a->smoothing, n, (int64_t)labels[r], i) * (all - raw[i]);
    }
    if (a->mean) loss /= labelled_rows(labels, rows, n);
    ref_write(s, 0, &loss);
    ref_write(s, 1, x);
}

void ref_xent_grad(const struct ref_step *s)
{
    const struct loss_attr *a = &s->node->attr.loss;
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape->dim[0], n = shape->dim[1];
    double *p = ref_read(s, 0), *labels = ref_read(s, 1);
    double factor = ref_get(s, 2, 0) / (a->mean ? labelled_rows(labels, rows, n) : 1.0);
    for (int64_t i = 0; i < rows * n; i++)
        p[i] = is_class(labels[i / n], n) ? (p[i] - target_of(a->smoothing, n, (int64_t)labels[i / n], i % n)) * factor : 0.0;
    ref_write(s, 0, p);
}

void ref_correct(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t rows = shape->dim[0], n = shape->dim[1];
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
