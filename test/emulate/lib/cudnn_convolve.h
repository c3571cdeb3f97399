// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the emulated cuDNN: a convolution or one of its gradients, on tensors with any strides, with f32 sums. Only
// libcudnn.so.9.c includes it. Cost: a multiplication and an addition per step, eight at a time if the host supports it.
#pragma once

#include <cudnn_graph.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fake_tensor {
    cudnnDataType_t type;
    int64_t dim[4], stride[4], uid, align;  // n, c, h, w, in any memory order
    void *at;
};
struct fake_convolution {
    int pass;  // 0 forward, 1 data, 2 filter
    struct fake_tensor x, w, y;
    int64_t before[2], stride[2], dilation[2], groups;
    float alpha, beta;
    void *work;
    size_t work_bytes;
};

static inline size_t fake_size(cudnnDataType_t type) { return type == CUDNN_DATA_FLOAT ? 4 : 2; }

// Bytes from the first element to the end of the last.
static inline size_t fake_span(const struct fake_tensor *t)
{
    int64_t last = 0;
    for (int i = 0; i < 4; i++) last += (t->dim[i] - 1) * t->stride[i];
    return (size_t)(last + 1) * fake_size(t->type);
}

static float fake_get(cudnnDataType_t type, const void *base, int64_t i)
{
    if (type == CUDNN_DATA_FLOAT) return ((const float *)base)[i];
    if (type == CUDNN_DATA_HALF) return (float)((const _Float16 *)base)[i];
    uint32_t bits = (uint32_t)((const uint16_t *)base)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fake_set(cudnnDataType_t type, void *base, int64_t i, float value)
{
    if (type == CUDNN_DATA_FLOAT) {
        ((float *)base)[i] = value;
    } else if (type == CUDNN_DATA_HALF) {
        ((_Float16 *)base)[i] = (_Float16)value;
    } else {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        ((uint16_t *)base)[i] = (uint16_t)(value != value ? (bits >> 16) | 0x40u : rounded);
    }
}

// Copies between a tensor and a dense array [n][h][w][c].
static void fake_move(const struct fake_tensor *t, float *dense, float alpha, float beta, int out)
{
    for (int64_t n = 0; n < t->dim[0]; n++)
        for (int64_t h = 0; h < t->dim[2]; h++)
            for (int64_t w = 0; w < t->dim[3]; w++)
                for (int64_t c = 0; c < t->dim[1]; c++, dense++) {
                    int64_t at = n * t->stride[0] + c * t->stride[1] + h * t->stride[2] + w * t->stride[3];
                    if (!out) *dense = fake_get(t->type, t->at, at);
                    else if (beta == 0.0f) fake_set(t->type, t->at, at, alpha * *dense);
                    else fake_set(t->type, t->at, at, alpha * *dense + beta * fake_get(t->type, t->at, at));
                }
}

static float *fake_dense(const struct fake_tensor *t, int read)
{
    size_t count = (size_t)(t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]);
    float *dense = calloc(count, sizeof *dense);
    if (!dense) abort();
    if (read) fake_move(t, dense, 0.0f, 0.0f, 0);
    return dense;
}

// w[k][taps][c] as w[taps][c][k] within each group, so that forward too runs over adjacent elements.
static float *fake_transposed(const struct fake_convolution *f, const float *w)
{
    int64_t k = f->w.dim[0], rest = f->w.dim[1] * f->w.dim[2] * f->w.dim[3];
    float *transposed = calloc((size_t)(k * rest), sizeof *transposed);
    if (!transposed) abort();
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < rest; j++) transposed[j * k + i] = w[i * rest + j];
    return transposed;
}

// One pixel of x, one of y, and the tap between them.
static void fake_tap(const struct fake_convolution *f, float *x, float *y, float *w, const float *transposed, int64_t tap)
{
    int64_t cg = f->w.dim[1], k = f->w.dim[0], kg = k / f->groups, taps = f->w.dim[2] * f->w.dim[3];
    for (int64_t g = 0; g < f->groups; g++) {
        float *xg = x + g * cg, *yg = y + g * kg;
        for (int64_t c = 0; f->pass == 0 && c < cg; c++) {
            const float *from = transposed + (tap * cg + c) * k + g * kg, times = xg[c];
#pragma omp simd
            for (int64_t i = 0; i < kg; i++) yg[i] += times * from[i];
        }
        for (int64_t i = 0; f->pass != 0 && i < kg; i++) {
            float *wi = w + ((g * kg + i) * taps + tap) * cg, times = yg[i];
            float *to = f->pass == 1 ? xg : wi;
            const float *from = f->pass == 1 ? wi : xg;
#pragma omp simd
            for (int64_t c = 0; c < cg; c++) to[c] += times * from[c];
        }
    }
}

static void fake_convolve(const struct fake_convolution *f)
{
    float *x = fake_dense(&f->x, f->pass != 1), *w = fake_dense(&f->w, f->pass != 2), *y = fake_dense(&f->y, f->pass != 0);
    float *transposed = f->pass == 0 ? fake_transposed(f, w) : NULL;
    int64_t height = f->x.dim[2], width = f->x.dim[3], p_all = f->y.dim[2], q_all = f->y.dim[3];
    for (int64_t at = 0; at < f->y.dim[0] * p_all * q_all; at++)
        for (int64_t tap = 0; tap < f->w.dim[2] * f->w.dim[3]; tap++) {
            int64_t n = at / (p_all * q_all), p = at / q_all % p_all, q = at % q_all;
            int64_t h = p * f->stride[0] - f->before[0] + tap / f->w.dim[3] * f->dilation[0];
            int64_t v = q * f->stride[1] - f->before[1] + tap % f->w.dim[3] * f->dilation[1];
            if (h < 0 || h >= height || v < 0 || v >= width) continue;
            fake_tap(f, x + ((n * height + h) * width + v) * f->x.dim[1], y + at * f->y.dim[1], w, transposed, tap);
        }
    const struct fake_tensor *result = f->pass == 0 ? &f->y : f->pass == 1 ? &f->x : &f->w;
    fake_move(result, f->pass == 0 ? y : f->pass == 1 ? x : w, f->alpha, f->beta, 1);
    free(x);
    free(w);
    free(y);
    free(transposed);
}
