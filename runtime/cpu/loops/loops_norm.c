// SPDX-License-Identifier: Apache-2.0
// Batch norm and activations, forward and backward: element i uses entry i % width of the period. Cost: one load of each input,
// one store; the slopes of silu and gelu take about 25 operations per element. Sums are kept per entry in f32; the caller
// flushes them to double every few hundred rows.
#include "runtime/cpu/loops/loops_inside.h"

#include <math.h>

ALWAYS void sums_of(enum dtype t, const void *x, int64_t n, const struct period *k, float *sum, float *square)
{
    const float *mean = k->mean;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i);
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) {
            float d = get(t, row, c) - mean[c];
            sum[c] += d;
            square[c] += d * d;
        }
    }
}

void LOOPS_NAME(sums)(enum dtype t, const void *x, int64_t n, const struct period *k, float *sum, float *square)
{
    EACH_TYPE(t, sums_of, x, n, k, sum, square);
}

void LOOPS_NAME(flush)(float *acc, double *total, int64_t width, int64_t channels)
{
    for (int64_t i = 0; i < width; i += channels) {
        INDEPENDENT
        for (int64_t c = 0; c < channels; c++) {
            total[c] += acc[i + c];
            acc[i + c] = 0;
        }
    }
}

ALWAYS void apply_of(enum dtype t, enum act act, const void *x, int64_t n, const struct period *k, void *y)
{
    const float *mean = k->mean, *a = k->a, *b = k->b;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i);
        void *to = into(t, y, i);
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) put(t, to, c, activate(act, (get(t, row, c) - mean[c]) * a[c] + b[c]));
    }
}

void LOOPS_NAME(apply)(enum dtype t, enum act act, const void *x, int64_t n, const struct period *k, void *y)
{
    EACH_ACT(t, act, apply_of, x, n, k, y);
}

ALWAYS void apply_add_of(enum dtype t, enum act act, const void *x, const void *shortcut, int64_t n,
                         const struct period *k, void *y)
{
    const float *mean = k->mean, *a = k->a, *b = k->b;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i), *more = from(t, shortcut, i);
        void *to = into(t, y, i);
        INDEPENDENT
        for (int64_t c = 0; c < width; c++)
            put(t, to, c, activate(act, (get(t, row, c) - mean[c]) * a[c] + b[c] + get(t, more, c)));
    }
}

void LOOPS_NAME(apply_add)(enum dtype t, bool relu, const void *x, const void *shortcut, int64_t n, const struct period *k,
                           void *y)
{
    if (relu)
        EACH_TYPE(t, apply_add_of, ACT_RELU, x, shortcut, n, k, y);
    else
        EACH_TYPE(t, apply_add_of, ACT_NONE, x, shortcut, n, k, y);
}

ALWAYS void gate_sums_of(enum dtype t, bool write, const void *dy, const void *y, const void *x, int64_t n,
                         const struct period *k, void *dz, float *sum, float *dot)
{
    const float *mean = k->mean;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i), *y_row = from(t, y, i), *dy_row = from(t, dy, i);
        void *to = write ? into(t, dz, i) : NULL;
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) {
            float d = get(t, dy_row, c) * element_relu_slope(get(t, y_row, c));
            if (write) put(t, to, c, d);
            sum[c] += d;
            dot[c] += d * (get(t, row, c) - mean[c]);
        }
    }
}

void LOOPS_NAME(gate_sums)(enum dtype t, const void *dy, const void *y, const void *x, int64_t n, const struct period *k,
                           void *dz, float *sum, float *dot)
{
    if (dz)
        EACH_TYPE(t, gate_sums_of, true, dy, y, x, n, k, dz, sum, dot);
    else
        EACH_TYPE(t, gate_sums_of, false, dy, y, x, n, k, NULL, sum, dot);
}

ALWAYS void back_sums_of(enum dtype t, enum act act, const void *dy, const void *x, int64_t n, const struct period *k,
                         float *sum, float *dot)
{
    const float *mean = k->mean, *a = k->a, *b = k->b;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i), *dy_row = from(t, dy, i);
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) {
            float d = get(t, row, c) - mean[c];
            float dz = get(t, dy_row, c) * slope(act, d * a[c] + b[c]);
            sum[c] += dz;
            dot[c] += dz * d;
        }
    }
}

void LOOPS_NAME(back_sums)(enum dtype t, enum act act, const void *dy, const void *x, int64_t n, const struct period *k,
                           float *sum, float *dot)
{
    EACH_ACT(t, act, back_sums_of, dy, x, n, k, sum, dot);
}

ALWAYS void back_of(enum dtype t, enum act act, const void *dy, const void *x, int64_t n, const struct period *k,
                    void *dx)
{
    const float *mean = k->mean, *a = k->a, *b = k->b, *p = k->p, *q = k->q;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i), *dy_row = from(t, dy, i);
        void *to = into(t, dx, i);
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) {
            float d = get(t, row, c) - mean[c];
            float dz = get(t, dy_row, c) * slope(act, d * a[c] + b[c]);
            put(t, to, c, a[c] * dz - (d * p[c] + q[c]));
        }
    }
}

void LOOPS_NAME(back)(enum dtype t, enum act act, const void *dy, const void *x, int64_t n, const struct period *k,
                      void *dx)
{
    EACH_ACT(t, act, back_of, dy, x, n, k, dx);
}

ALWAYS void act_back_of(enum dtype t, enum act act, bool write, const void *dy, const void *x, int64_t n,
                        const struct period *k, void *dx, float *sum)
{
    const float *b = k->b;
    for (int64_t i = 0; i < n; i += k->width) {
        int64_t width = n - i < k->width ? n - i : k->width;
        const void *row = from(t, x, i), *dy_row = from(t, dy, i);
        void *to = write ? into(t, dx, i) : NULL;
        INDEPENDENT
        for (int64_t c = 0; c < width; c++) {
            float dz = get(t, dy_row, c) * slope(act, get(t, row, c) + b[c]);
            sum[c] += dz;
            if (write) put(t, to, c, dz);
        }
    }
}

void LOOPS_NAME(act_back)(enum dtype t, enum act act, const void *dy, const void *x, int64_t n, const struct period *k,
                          void *dx, float *sum)
{
    if (dx)
        EACH_ACT(t, act, act_back_of, true, dy, x, n, k, dx, sum);
    else
        EACH_ACT(t, act, act_back_of, false, dy, x, n, k, NULL, sum);
}

// ---- layer norm

// The sums of several short rows come first: a processor does not look far enough ahead to begin the next row's during a root.
enum { MANY = 8, SHORT = 2048 };  // bytes: eight such rows stay in the L1 cache
ALWAYS int64_t rows_at_once(int64_t bytes) { return bytes <= SHORT ? MANY : 1; }

// The sum of x, or with `mean` of its squared distances to it. LANE_GROUP parts are added in f32, and these in double.
ALWAYS double row_sum(bool squares, const float *x, int64_t n, float mean)
{
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    lanes part[PARTS] = {0}, v[PARTS];
    float all[LANE_GROUP];
    for (int64_t i = 0; i < whole; i += LANE_GROUP) {
        get_group(F32, x, i, v);
#pragma GCC unroll 4
        for (int k = 0; k < PARTS; k++) part[k] += squares ? (v[k] - mean) * (v[k] - mean) : v[k];
    }
    memcpy(all, part, sizeof all);
    for (int64_t i = whole; i < n; i++) all[i - whole] += squares ? (x[i] - mean) * (x[i] - mean) : x[i];
    return lanes_sum(all);
}

ALWAYS void layer_norm_of(enum dtype t, const float *x, int64_t rows, int64_t n, const float *scale, const float *bias, float eps,
                          void *y, float *mean, float *rstd)
{
    const int64_t most = rows_at_once(n * (int64_t)sizeof *x), whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t many = rows - r < most ? rows - r : most;
        for (int64_t k = r; k < r + many; k++) mean[k] = (float)(row_sum(false, x + k * n, n, 0) / (double)n);
        double square[MANY];
        for (int64_t k = 0; k < many; k++) square[k] = row_sum(true, x + (r + k) * n, n, mean[r + k]);
        for (int64_t k = 0; k < many; k++) rstd[r + k] = (float)(1.0 / sqrt(square[k] / (double)n + (double)eps));
        for (int64_t k = r; k < r + many; k++) {
            const float *row = x + k * n, m = mean[k], f = rstd[k];
            void *to = into(t, y, k * n);
            for (int64_t i = 0; i < whole; i += LANE_GROUP) {
                lanes v[PARTS];
                get_group(F32, row, i, v);
#pragma GCC unroll 4
                for (int j = 0; j < PARTS; j++) v[j] = (v[j] - m) * f * AT(scale + i + j * LANES) + AT(bias + i + j * LANES);
                put_group(t, to, i, v);
            }
            for (int64_t i = whole; i < n; i++) put(t, to, i, (row[i] - m) * f * scale[i] + bias[i]);
        }
    }
}

void LOOPS_NAME(layer_norm)(const float *x, int64_t rows, int64_t n, const float *scale, const float *bias, float eps,
                            enum dtype t, void *y, float *mean, float *rstd)
{
    EACH_TYPE(t, layer_norm_of, x, rows, n, scale, bias, eps, y, mean, rstd);
}

struct back_means {
    float a, b;  // of dz, of dz times the normalised x
};

ALWAYS struct back_means back_means_of(enum dtype t, const void *dy, const void *x, float mean, float rstd, const float *scale,
                                       int64_t n, float *dscale, float *dbias)
{
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    lanes sum[PARTS] = {0}, dot[PARTS] = {0}, d[PARTS], v[PARTS];
    float sums[LANE_GROUP], dots[LANE_GROUP];
    for (int64_t i = 0; i < whole; i += LANE_GROUP) {
        get_group(t, dy, i, d), get_group(t, x, i, v);
#pragma GCC unroll 4
        for (int k = 0; k < PARTS; k++) {
            lanes xhat = (v[k] - mean) * rstd, dz = d[k] * AT(scale + i + k * LANES);
            AT(dscale + i + k * LANES) += d[k] * xhat, AT(dbias + i + k * LANES) += d[k];
            sum[k] += dz, dot[k] += dz * xhat;
        }
    }
    memcpy(sums, sum, sizeof sums), memcpy(dots, dot, sizeof dots);
    for (int64_t i = whole; i < n; i++) {
        float e = get(t, dy, i), xhat = (get(t, x, i) - mean) * rstd, dz = e * scale[i];
        dscale[i] += e * xhat, dbias[i] += e;
        sums[i - whole] += dz, dots[i - whole] += dz * xhat;
    }
    return (struct back_means){(float)(lanes_sum(sums) / (double)n), (float)(lanes_sum(dots) / (double)n)};
}

ALWAYS void layer_norm_back_of(enum dtype t, const void *dy, const void *x, const float *mean, const float *rstd,
                               const float *scale, int64_t rows, int64_t n, float *dx, float *dscale, float *dbias)
{
    const int64_t most = rows_at_once(n * (int64_t)sizeof *dx), whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t many = rows - r < most ? rows - r : most;
        struct back_means of[MANY];
        for (int64_t k = 0; k < many; k++)
            of[k] = back_means_of(t, from(t, dy, (r + k) * n), from(t, x, (r + k) * n), mean[r + k], rstd[r + k], scale, n,
                                  dscale, dbias);
        for (int64_t k = 0; k < many; k++) {
            const void *dy_row = from(t, dy, (r + k) * n), *row = from(t, x, (r + k) * n);
            const float m = mean[r + k], f = rstd[r + k];
            float *to = dx + (r + k) * n;
            for (int64_t i = 0; i < whole; i += LANE_GROUP) {
                lanes d[PARTS], v[PARTS];
                get_group(t, dy_row, i, d), get_group(t, row, i, v);
#pragma GCC unroll 4
                for (int j = 0; j < PARTS; j++)
                    AT(to + i + j * LANES) = f * (d[j] * AT(scale + i + j * LANES) - of[k].a - (v[j] - m) * f * of[k].b);
            }
            for (int64_t i = whole; i < n; i++)
                to[i] = f * (get(t, dy_row, i) * scale[i] - of[k].a - (get(t, row, i) - m) * f * of[k].b);
        }
    }
}

void LOOPS_NAME(layer_norm_back)(enum dtype t, const void *dy, const void *x, const float *mean, const float *rstd,
                                 const float *scale, int64_t rows, int64_t n, float *dx, float *dscale, float *dbias)
{
    EACH_TYPE(t, layer_norm_back_of, dy, x, mean, rstd, scale, rows, n, dx, dscale, dbias);
}

// ---- RMS norm: rows may be short (heads of queries and keys), so a call takes many. Sums stay in f32, and in registers

ALWAYS float group_sum(const lanes part[PARTS])
{
    typedef float four __attribute__((vector_size(16)));
    four f[LANE_GROUP / 4];
    memcpy(f, part, sizeof f);
    four sum = (f[0] + f[2]) + (f[1] + f[3]);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

ALWAYS float square_sum_of(enum dtype t, const void *row, int64_t n)
{
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    lanes part[PARTS] = {0}, v[PARTS];
    for (int64_t i = 0; i < whole; i += LANE_GROUP) {
        get_group(t, row, i, v);
#pragma GCC unroll 4
        for (int k = 0; k < PARTS; k++) part[k] += v[k] * v[k];
    }
    float sum = group_sum(part);
    for (int64_t i = whole; i < n; i++) sum += get(t, row, i) * get(t, row, i);
    return sum;
}

ALWAYS void rms_norm_of(enum dtype t, bool scaled, const void *x, int64_t rows, int64_t n, const float *scale, float eps,
                        void *y, float *rstd)
{
    const int64_t most = rows_at_once(n * (int64_t)dtype_size(t));
    float factor[MANY];
    for (int64_t r = 0; r < rows; r += most) {
        int64_t many = rows - r < most ? rows - r : most;
        for (int64_t k = 0; k < many; k++) factor[k] = square_sum_of(t, from(t, x, (r + k) * n), n);
        for (int64_t k = 0; k < many; k++) factor[k] = 1.0f / sqrtf(factor[k] / (float)n + eps);
        if (rstd) memcpy(rstd + r, factor, (size_t)many * sizeof *factor);
        for (int64_t k = 0; y && k < many; k++) {
            const void *row = from(t, x, (r + k) * n);
            void *to = into(t, y, (r + k) * n);
            const float f = factor[k];
            INDEPENDENT
            for (int64_t i = 0; i < n; i++) put(t, to, i, get(t, row, i) * f * (scaled ? scale[i] : 1.0f));
        }
    }
}

void LOOPS_NAME(rms_norm)(enum dtype t, const void *x, int64_t rows, int64_t n, const float *scale, float eps, void *y,
                          float *rstd)
{
    if (scale)
        EACH_TYPE(t, rms_norm_of, true, x, rows, n, scale, eps, y, rstd);
    else
        EACH_TYPE(t, rms_norm_of, false, x, rows, n, NULL, eps, y, rstd);
}

ALWAYS void rms_norm_back_of(enum dtype t, bool scaled, bool wide, const void *dy, const void *x, const float *rstd,
                             const float *scale, int64_t rows, int64_t n, void *dx, float *dscale)
{
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t r = 0; r < rows; r++) {
        const void *d = from(t, dy, r * n), *row = from(t, x, r * n);
        void *to = into(wide ? F32 : t, dx, r * n);
        const float factor = rstd[r];
        lanes part[PARTS] = {0}, v[PARTS], z[PARTS];
        for (int64_t i = 0; i < whole; i += LANE_GROUP) {
            get_group(t, d, i, z), get_group(t, row, i, v);
#pragma GCC unroll 4
            for (int k = 0; k < PARTS; k++) {
                lanes product = z[k] * (v[k] * factor);
                if (scaled) AT(dscale + i + k * LANES) += product;
                part[k] += scaled ? product * AT(scale + i + k * LANES) : product;
            }
        }
        float dot = group_sum(part);
        for (int64_t i = whole; i < n; i++) {
            float product = get(t, d, i) * (get(t, row, i) * factor);
            if (scaled) dscale[i] += product;
            dot += scaled ? product * scale[i] : product;
        }
        float mean = dot / (float)n;
        INDEPENDENT
        for (int64_t i = 0; i < n; i++) {
            float dz = scaled ? get(t, d, i) * scale[i] : get(t, d, i);
            put(wide ? F32 : t, to, i, factor * (dz - get(t, row, i) * factor * mean));
        }
    }
}

void LOOPS_NAME(rms_norm_back)(enum dtype t, const void *dy, const void *x, const float *rstd, const float *scale, int64_t rows,
                               int64_t n, enum dtype to, void *dx, float *dscale)
{
    if (scale && to == t)
        EACH_TYPE(t, rms_norm_back_of, true, false, dy, x, rstd, scale, rows, n, dx, dscale);
    else if (scale)
        EACH_TYPE(t, rms_norm_back_of, true, true, dy, x, rstd, scale, rows, n, dx, dscale);
    else if (to == t)
        EACH_TYPE(t, rms_norm_back_of, false, false, dy, x, rstd, NULL, rows, n, dx, NULL);
    else
        EACH_TYPE(t, rms_norm_back_of, false, true, dy, x, rstd, NULL, rows, n, dx, NULL);
}
