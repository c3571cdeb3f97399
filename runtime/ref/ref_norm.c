// SPDX-License-Identifier: Apache-2.0
// Layer norm, RMS norm. Batch norm over all but the last dimension: for training (alone and after a 2x2 max pool), its gradient,
// for inference, and folded into the weights of the preceding convolution. With xhat = (x - mean) * rstd:
//   y = act(xhat * scale + bias)     dx = scale * rstd * (dz - mean(dz) - xhat * mean(dz * xhat)), dz = dy * act'
#include "runtime/ref/ref.h"

#include <math.h>

static double or_one(const double *scale, int64_t c) { return scale ? scale[c] : 1.0; }
static double or_zero(const double *bias, int64_t c) { return bias ? bias[c] : 0.0; }

// True for the rows of x[B,T,..,C] that count: all, or the rows of frames below the length of their sample (input `lengths`).
struct norm_rows {
    int64_t rows, channels;
    double *counts, n;  // 1 or 0 per row; their sum, at least 1
};

static struct norm_rows rows_that_count(const struct ref_step *s, const struct shape *x, const double *length)
{
    struct norm_rows o = {.rows = shape_rows(x), .channels = shape_last(x)};
    int64_t each = o.rows / x->dim[0];
    o.counts = ref_zeros(s, o.rows);
    for (int64_t r = 0; r < o.rows; r++) {
        o.counts[r] = !length || (double)(r % each / (each / x->dim[1])) < length[r / each];
        o.n += o.counts[r];
    }
    if (o.n == 0.0) o.n = 1.0;
    return o;
}

// Statistics of the rows of x that count. Outputs `first` and `first + 1` are mean and rstd; `running` and the next are the
// running values, which are also inputs 1 and 2. Replaces x by y.
static void norm_train(const struct ref_step *s, double *x, const struct norm_rows *o, int first, int running)
{
    const struct norm_attr *a = &s->node->attr.norm;
    double *run_mean = ref_read(s, 1), *run_var = ref_read(s, 2), *scale = ref_read(s, 3), *bias = ref_read(s, 4);
    double *shortcut = ref_read(s, 5);
    int64_t rows = o->rows, channels = o->channels;
    double *mean = ref_zeros(s, channels), *rstd = ref_zeros(s, channels);
    double keep = a->momentum, n = o->n;
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t r = 0; r < rows; r++) sum += o->counts[r] != 0.0 ? x[r * channels + c] : 0.0;
        mean[c] = sum / n;
        for (int64_t r = 0; r < rows; r++) {
            double d = x[r * channels + c] - mean[c];
            squares += o->counts[r] != 0.0 ? d * d : 0.0;
        }
        rstd[c] = 1.0 / sqrt(squares / n + (double)a->eps);
        run_mean[c] = keep * run_mean[c] + (1.0 - keep) * mean[c];
        run_var[c] = keep * run_var[c] + (1.0 - keep) * squares / (n > 1.0 ? n - 1.0 : 1.0);
        for (int64_t r = 0; r < rows; r++) {
            double z = (x[r * channels + c] - mean[c]) * rstd[c] * or_one(scale, c) + or_zero(bias, c);
            if (shortcut) z += shortcut[r * channels + c];
            x[r * channels + c] = o->counts[r] != 0.0 ? ref_act_value(a->act, z) : 0.0;
        }
    }
    ref_write(s, first, mean);
    ref_write(s, first + 1, rstd);
    ref_write(s, running, run_mean);
    ref_write(s, running + 1, run_var);
    ref_write(s, 0, x);
}

void ref_norm(const struct ref_step *s)
{
    struct norm_rows o = rows_that_count(s, &ref_in(s, 0)->shape, ref_read(s, 6));
    norm_train(s, ref_read(s, 0), &o, 1, 3);
}

// The 2x2 pool of pool_norm: an odd last row or column is dropped; the first of equal values wins.
static double pool_four(const double *x, int64_t row, int64_t channels, int *at)
{
    double best = x[0];
    *at = 0;
    for (int i = 1; i < 4; i++) {
        double v = x[(i / 2 * row + i % 2) * channels];
        if (v > best || (isnan(best) && !isnan(v))) best = v, *at = i;
    }
    return best;
}

void ref_pool_norm(const struct ref_step *s)
{
    const struct shape *x = &ref_in(s, 0)->shape;
    int64_t n = x->dim[0], h = x->dim[1], w = x->dim[2], c = x->dim[3], p = h / 2, q = w / 2;
    const double *from = ref_read(s, 0);
    double *pooled = ref_zeros(s, n * p * q * c), *where = ref_zeros(s, n * p * q * c);
    for (int64_t i = 0; i < n * p * q * c; i++) {
        int64_t channel = i % c, column = i / c % q, line = i / c / q % p, image = i / c / q / p;
        int at;
        pooled[i] = pool_four(from + ((image * h + 2 * line) * w + 2 * column) * c + channel, w, c, &at);
        where[i] = at;
    }
    ref_write(s, 3, pooled);
    ref_write(s, 4, where);
    struct norm_rows o = rows_that_count(s, &SHAPE(n, p, q, c), NULL);
    norm_train(s, pooled, &o, 1, 5);
}

// dx of the normalised values; outputs 1 and 2 are dscale and dbias. Inputs 0..5 are the same in both gradients. With y the
// slope is y's; dz is then the gradient of the shortcut, too.
static double *norm_back(const struct ref_step *s, const double *y, const double *length)
{
    struct norm_rows o = rows_that_count(s, &ref_in(s, 1)->shape, length);
    int64_t rows = o.rows, channels = o.channels;
    double *dz = ref_read(s, 0), *xhat = ref_read(s, 1), *mean = ref_read(s, 2), *rstd = ref_read(s, 3);
    double *scale = ref_read(s, 4), *bias = ref_read(s, 5), n = o.n;
    double *dscale = ref_zeros(s, channels), *dbias = ref_zeros(s, channels);
    double *shortcut = y ? ref_zeros(s, rows * channels) : NULL;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t i = r * channels + c;
            if (o.counts[r] == 0.0) {
                xhat[i] = dz[i] = 0.0;
                continue;
            }
            xhat[i] = (xhat[i] - mean[c]) * rstd[c];
            double z = y ? y[i] : xhat[i] * or_one(scale, c) + or_zero(bias, c);
            dz[i] *= ref_act_slope(s->node->attr.norm.act, z);
            dbias[c] += dz[i];
            dscale[c] += dz[i] * xhat[i];
        }
        for (int64_t i = c; shortcut && i < rows * channels; i += channels) shortcut[i] = dz[i];
        for (int64_t r = 0, i = c; r < rows; r++, i += channels)
            dz[i] = o.counts[r] * or_one(scale, c) * rstd[c] * (dz[i] - dbias[c] / n - xhat[i] * dscale[c] / n);
    }
    ref_write(s, 1, dscale);
    ref_write(s, 2, dbias);
    if (shortcut) ref_write(s, 3, shortcut);
    return dz;
}

void ref_norm_grad(const struct ref_step *s) { ref_write(s, 0, norm_back(s, ref_read(s, 6), ref_read(s, 7))); }

void ref_pool_norm_grad(const struct ref_step *s)
{
    const struct shape *y = &ref_in(s, 1)->shape;
    int64_t n = y->dim[0], p = y->dim[1], q = y->dim[2], c = y->dim[3];
    int64_t h = s->node->attr.norm.x_h, w = s->node->attr.norm.x_w;
    const double *d = norm_back(s, NULL, NULL), *where = ref_read(s, 6);
    double *dx = ref_zeros(s, n * h * w * c);
    for (int64_t i = 0; i < n * p * q * c; i++) {
        int64_t channel = i % c, column = i / c % q, line = i / c / q % p, image = i / c / q / p;
        int64_t at = (int64_t)where[i];
        dx[((image * h + 2 * line + at / 2) * w + 2 * column + at % 2) * c + channel] = d[i];
    }
    ref_write(s, 0, dx);
}

void ref_norm_infer(const struct ref_step *s)
{
    const struct norm_attr *a = &s->node->attr.norm;
    const struct shape *shape = &ref_in(s, 0)->shape;
    struct norm_rows o = rows_that_count(s, shape, ref_read(s, 5));
    int64_t channels = o.channels, count = shape_count(shape);
    double *x = ref_read(s, 0), *mean = ref_read(s, 1), *var = ref_read(s, 2), *scale = ref_read(s, 3),
           *bias = ref_read(s, 4);
    for (int64_t i = 0; i < count; i++) {
        int64_t c = i % channels;
        double xhat = (x[i] - mean[c]) / sqrt(var[c] + (double)a->eps);
        x[i] = o.counts[i / channels] != 0.0 ? ref_act_value(a->act, xhat * or_one(scale, c) + or_zero(bias, c)) : 0.0;
    }
    ref_write(s, 0, x);
}

void ref_norm_fold(const struct ref_step *s)
{
    const struct shape *shape = &ref_in(s, 0)->shape;
    int64_t k = shape->dim[0], each = shape_count(shape) / k;
    double *w = ref_read(s, 0), *mean = ref_read(s, 1), *var = ref_read(s, 2), *scale = ref_read(s, 3),
           *bias = ref_read(s, 4), *before = ref_read(s, 5), *folded = ref_zeros(s, k);
    for (int64_t i = 0; i < k; i++) {
        double factor = or_one(scale, i) / sqrt(var[i] + (double)s->node->attr.norm.eps);
        for (int64_t j = 0; j < each; j++) w[i * each + j] *= factor;
        folded[i] = (or_zero(before, i) - mean[i]) * factor + or_zero(bias, i);
    }
    ref_write(s, 0, w);
    ref_write(s, 1, folded);
}

// ---- layer norm
void ref_layer_norm(const struct ref_step *s)
{
    const struct layer_norm_attr *a = &s->node->attr.layer_norm;
    const struct value *v = ref_in(s, 0);
    int64_t rows = shape_rows(&v->shape), n = shape_last(&v->shape);
    double *x = ref_read(s, 0), *residual = ref_read(s, 1), *scale = ref_read(s, 2), *bias = ref_read(s, 3);
    double *means = ref_zeros(s, rows), *rstds = ref_zeros(s, rows);
    if (ref_in(s, 4)) ref_drop(s, x, rows * n, 4, a->p, a->site);
    for (int64_t i = 0; i < rows * n && residual; i++) x[i] += residual[i];
    ref_round_all(v->dtype, x, rows * n);  // normalises the stored, rounded sum
    ref_write(s, 1, x);
    for (int64_t r = 0; r < rows; r++) {
        double *row = x + r * n, sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++) sum += row[i];
        double mean = a->rms ? 0.0 : sum / (double)n;
        for (int64_t i = 0; i < n; i++) squares += (row[i] - mean) * (row[i] - mean);
        means[r] = mean, rstds[r] = 1.0 / sqrt(squares / (double)n + (double)a->eps);
        for (int64_t i = 0; i < n; i++) row[i] = (row[i] - mean) * rstds[r] * or_one(scale, i) + or_zero(bias, i);
    }
    ref_write(s, 0, x);
    ref_write(s, 2, means);
    ref_write(s, 3, rstds);
}

// dsum = rstd (dz - mean(dz) - xhat mean(dz xhat)), dz = dy scale; without a mean in xhat, mean(dz) is left out, too
void ref_layer_norm_grad(const struct ref_step *s)
{
    const struct layer_norm_attr *a = &s->node->attr.layer_norm;
    const struct value *v = ref_in(s, 0);
    int64_t rows = shape_rows(&v->shape), n = shape_last(&v->shape);
    double *dy = ref_read(s, 0), *x = ref_read(s, 1), *mean = ref_read(s, 2), *rstd = ref_read(s, 3), *scale = ref_read(s, 4);
    double *dscale = ref_zeros(s, n), *dbias = ref_zeros(s, n);
    for (int64_t r = 0; r < rows; r++, dy += n, x += n) {
        double sum = 0.0, dot = 0.0;
        for (int64_t i = 0; i < n; i++) {
            x[i] = (x[i] - (a->rms ? 0.0 : mean[r])) * rstd[r];
            dscale[i] += dy[i] * x[i];
            dbias[i] += dy[i];
            dy[i] *= or_one(scale, i);
            sum += a->rms ? 0.0 : dy[i], dot += dy[i] * x[i];
        }
        for (int64_t i = 0; i < n; i++) dy[i] = rstd[r] * (dy[i] - sum / (double)n - x[i] * dot / (double)n);
    }
    dy -= rows * n;
    ref_write(s, 0, dy);
    if (ref_in(s, 5)) ref_drop(s, dy, rows * n, 5, a->p, a->site);
    ref_write(s, 1, dy);
    ref_write(s, 2, dscale);
    ref_write(s, 3, dbias);
}
