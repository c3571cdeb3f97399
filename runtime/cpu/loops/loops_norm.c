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

ALWAYS void layer_norm_of(enum dtype t, const float *x, int64_t n, const float *scale, const float *bias, float eps, void *y,
                          float *mean, float *rstd)
{
    float part[LANE_GROUP] = {0};
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t i = 0; i < whole; i += LANE_GROUP)
        for (int j = 0; j < LANE_GROUP; j++) part[j] += x[i + j];
    for (int64_t i = whole; i < n; i++) part[i - whole] += x[i];
    float m = (float)(lanes_sum(part) / (double)n);
    memset(part, 0, sizeof part);
    for (int64_t i = 0; i < whole; i += LANE_GROUP)
        for (int j = 0; j < LANE_GROUP; j++) part[j] += (x[i + j] - m) * (x[i + j] - m);
    for (int64_t i = whole; i < n; i++) part[i - whole] += (x[i] - m) * (x[i] - m);
    float r = (float)(1.0 / sqrt(lanes_sum(part) / (double)n + (double)eps));
    *mean = m, *rstd = r;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) put(t, y, i, (x[i] - m) * r * scale[i] + bias[i]);
}

void LOOPS_NAME(layer_norm)(const float *x, int64_t n, const float *scale, const float *bias, float eps, enum dtype t, void *y,
                            float *mean, float *rstd)
{
    EACH_TYPE(t, layer_norm_of, x, n, scale, bias, eps, y, mean, rstd);
}

ALWAYS void layer_norm_back_of(enum dtype t, const void *dy, const void *x, float mean, float rstd, const float *scale, int64_t n,
                               float *dx, float *dscale, float *dbias)
{
    float sum[LANE_GROUP] = {0}, dot[LANE_GROUP] = {0};
    int64_t whole = n / LANE_GROUP * LANE_GROUP;
    for (int64_t i = 0; i < whole; i += LANE_GROUP)
        for (int j = 0; j < LANE_GROUP; j++) {
            float d = get(t, dy, i + j), xhat = (get(t, x, i + j) - mean) * rstd, dz = d * scale[i + j];
            dscale[i + j] += d * xhat, dbias[i + j] += d;
            sum[j] += dz, dot[j] += dz * xhat;
        }
    for (int64_t i = whole; i < n; i++) {
        float d = get(t, dy, i), xhat = (get(t, x, i) - mean) * rstd, dz = d * scale[i];
        dscale[i] += d * xhat, dbias[i] += d;
        sum[i - whole] += dz, dot[i - whole] += dz * xhat;
    }
    float a = (float)(lanes_sum(sum) / (double)n), b = (float)(lanes_sum(dot) / (double)n);
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) dx[i] = rstd * (get(t, dy, i) * scale[i] - a - (get(t, x, i) - mean) * rstd * b);
}

void LOOPS_NAME(layer_norm_back)(enum dtype t, const void *dy, const void *x, float mean, float rstd, const float *scale,
                                 int64_t n, float *dx, float *dscale, float *dbias)
{
    EACH_TYPE(t, layer_norm_back_of, dy, x, mean, rstd, scale, n, dx, dscale, dbias);
}

// ---- RMS norm: rows may be short (heads of queries and keys), so a call takes many. Sums stay in f32, and in registers

enum { PARTS = LANE_GROUP / LANES };
#if defined __AVX512F__
#define BF16_AT(address) ((lanes)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(address))), 16))
#else
typedef uint16_t half_lanes __attribute__((vector_size(LANE_BYTES / 2), aligned(2), may_alias));
typedef uint32_t wide_lanes __attribute__((vector_size(LANE_BYTES)));
#define BF16_AT(address) ((lanes)(__builtin_convertvector(*(const half_lanes *)(address), wide_lanes) << 16))
#endif

// Elements i .. i + LANE_GROUP of x.
ALWAYS void get_group(enum dtype t, const void *x, int64_t i, lanes into[PARTS])
{
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++, i += LANES) {
        if (t == F32) into[k] = AT((const float *)x + i);
        else if (t == BF16) into[k] = BF16_AT(from(t, x, i));
        else
            for (int j = 0; j < LANES; j++) into[k][j] = get(t, x, i + j);
    }
}

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

// The sums of several short rows come first: a processor does not look far enough ahead to begin the next row's during a root.
ALWAYS void rms_norm_of(enum dtype t, bool scaled, const void *x, int64_t rows, int64_t n, const float *scale, float eps,
                        void *y, float *rstd)
{
    enum { MANY = 8, SHORT = 2048 };  // bytes: eight such rows stay in the L1 cache
    const int64_t most = n * (int64_t)dtype_size(t) <= SHORT ? MANY : 1;
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
