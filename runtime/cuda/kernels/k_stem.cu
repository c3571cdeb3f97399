// SPDX-License-Identifier: Apache-2.0
// Forward convolution with few input channels, bound by memory: a thread computes eight channels of four pixels, with the
// filters in shared memory as [tap, c][k]. From 3 to 24 channels in 16 bits, 2 x 2, a pixel is 6 bytes read, 48 written and 288
// multiplications: by estimate the arithmetic takes no longer than the memory of an H100.
#include "runtime/cuda/kernels/k_conv.cuh"
#include "runtime/cuda/kernels/k_stem.h"

enum { STEM_FILTERS = 4096, STEM_K = 8, STEM_PIXELS = 4, STEM_C = 8 };

typedef float stem_sums[STEM_PIXELS][STEM_K];

struct stem {
    conv of;
    int pixels, filters;           // at a time in a block; all elements of the filters
    k_divide by_filter, by_parts;  // r s c elements of a filter; K / 8 threads per pixel
};

// Multiplies eight filters by one element of x of each pixel.
__device__ static inline void stem_step(stem_sums &sum, const float *filters, const float (&x)[STEM_PIXELS])
{
    float low[STEM_K / 2], high[STEM_K / 2];
    load<STEM_K / 2>(filters, low);
    load<STEM_K / 2>(filters + STEM_K / 2, high);
#pragma unroll
    for (int i = 0; i < STEM_PIXELS; i++)
#pragma unroll
        for (int j = 0; j < STEM_K; j++) sum[i][j] += x[i] * (j < STEM_K / 2 ? low[j % 4] : high[j % 4]);
}

// No window leaves the image: the elements at a row of the filter are contiguous.
template <typename T>
__device__ static inline void stem_inside(const conv &k, const pixel *corner, const float *filters, stem_sums &sum)
{
    const int line = k.is.s * k.is.c, c = k.is.c;
    const T *from[STEM_PIXELS];
#pragma unroll
    for (int i = 0; i < STEM_PIXELS; i++)
        from[i] = (const T *)k.x + (((int64_t)corner[i].image * k.is.h + corner[i].y) * k.is.w + corner[i].x) * c;
    for (int r = 0; r < k.is.r; r++) {
#pragma unroll 2
        for (int j = 0; j < line; j++, filters += k.is.k) {
            float x[STEM_PIXELS];
#pragma unroll
            for (int i = 0; i < STEM_PIXELS; i++) x[i] = to_float(from[i][j]);
            stem_step(sum, filters, x);
        }
#pragma unroll
        for (int i = 0; i < STEM_PIXELS; i++) from[i] += (int64_t)k.is.w * c;
    }
}

template <typename T>
__device__ static inline void stem_padded(const conv &k, const pixel *corner, const float *filters, stem_sums &sum)
{
    tap t;
    for (t.r = 0; t.r < k.is.r; t.r++)
        for (t.s = 0; t.s < k.is.s; t.s++)
            for (t.channel = 0; t.channel < k.is.c; t.channel++, filters += k.is.k) {
                float x[STEM_PIXELS];
#pragma unroll
                for (int i = 0; i < STEM_PIXELS; i++) {
                    const T *at = x_under<T>(k, corner[i], t, 0);
                    x[i] = at ? to_float(*at) : 0.0f;
                }
                stem_step(sum, filters, x);
            }
}

// A block has K_BLOCK / (K / 8) threads for pixels, four pixels each, and K / 8 adjacent threads share a pixel, so all writes
// of a warp coalesce. Surplus threads idle.
template <typename T, bool PADDED> static __global__ void __launch_bounds__(K_BLOCK) conv_stem(const stem o)
{
    const conv &k = o.of;
    alignas(16) __shared__ float filters[STEM_FILTERS];
    const int pixels = o.pixels, t = (int)threadIdx.x;
    for (int i = t; i < o.filters; i += K_BLOCK) {
        uint32_t out = (uint32_t)i, element = k_split(o.by_filter, &out);
        filters[(int)element * k.is.k + (int)out] = to_float(((const T *)k.w)[i]);
    }
    __syncthreads();
    uint32_t mine = (uint32_t)t;
    const int part = (int)k_split(o.by_parts, &mine) * STEM_K;
    if ((int)mine >= pixels) return;
    const int first = (int)blockIdx.x * pixels * STEM_PIXELS + (int)mine;
    stem_sums sum = {};
    pixel corner[STEM_PIXELS];
#pragma unroll
    for (int i = 0; i < STEM_PIXELS; i++) {
        int m = first + i * pixels;
        corner[i] = corner_of(k, m < k.rows ? m : 0);
    }
    if (PADDED) stem_padded<T>(k, corner, filters + part, sum);
    else stem_inside<T>(k, corner, filters + part, sum);
    float bias[STEM_K] = {};
    if (k.bias)
#pragma unroll
        for (int j = 0; j < STEM_K; j++) bias[j] = k.bias[part + j];
#pragma unroll
    for (int i = 0; i < STEM_PIXELS; i++) {
        int m = first + i * pixels;
        if (m >= k.rows) break;
#pragma unroll
        for (int j = 0; j < STEM_K; j++) sum[i][j] += bias[j];
        if (k.act != ACT_NONE)
#pragma unroll
            for (int j = 0; j < STEM_K; j++) sum[i][j] = act_value(k.act, sum[i][j]);
        store<STEM_K>((T *)k.to + (int64_t)m * k.is.k + part, sum[i]);
    }
}

// ---- launching

bool k_conv_is_stem(const struct k_conv_shape *s)
{
    bool few = s->groups == 1 && s->c <= STEM_C && s->k % STEM_K == 0 && s->k <= K_BLOCK;
    return few && (int64_t)s->r * s->s * s->c * s->k <= STEM_FILTERS;
}

template <typename T> static cudaError_t stem_by(cudaStream_t stream, const stem &k)
{
    const k_conv_shape &is = k.of.is;
    bool inside = is.before[0] == 0 && (is.p - 1) * is.stride[0] + is.r <= is.h && is.before[1] == 0 &&
                  (is.q - 1) * is.stride[1] + is.s <= is.w;
    unsigned blocks = tiles(k.of.rows, k.pixels * STEM_PIXELS);
    if (inside) return launch(conv_stem<T, false>, blocks, K_BLOCK, stream, k);
    return launch(conv_stem<T, true>, blocks, K_BLOCK, stream, k);
}

K_LAUNCHER(k_stem)
{
    const struct k_conv_forward *a = (const struct k_conv_forward *)args;
    int parts = a->shape.k / STEM_K, each = a->shape.r * a->shape.s * a->shape.c;
    stem k = {conv_of(&a->shape), K_BLOCK / parts, a->shape.k * each, k_divide_by(each), k_divide_by(parts)};
    k.of.x = a->x, k.of.w = a->w, k.of.bias = a->bias, k.of.to = a->y, k.of.act = a->act;
    k.of.rows = a->shape.n * a->shape.p * a->shape.q;
    BY_FLOAT(a->type, T, return stem_by<T>(stream, k));
}
