// SPDX-License-Identifier: Apache-2.0
// Forward convolution with few input channels, bound by memory: a thread makes eight channels of four pixels, with the
// filters in shared memory as [tap, c][k]. From 3 to 24 channels in 16 bits, 2 x 2, a pixel is 6 bytes read, 48 written
// and 288 multiplications: by estimate the arithmetic takes no longer than the memory of an H100.
#include "runtime/cuda/k_conv.cuh"
#include "runtime/cuda/k_stem.h"

enum { STEM_FILTERS = 4096, STEM_K = 8, STEM_PIXELS = 4, STEM_C = 8 };

typedef float stem_sums[STEM_PIXELS][STEM_K];

// Eight filters times one element of x of each pixel.
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

// No window leaves the image: the elements under a row of the filter lie side by side.
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

// A block has K_BLOCK / (K / 8) threads for pixels, four of them each, and K / 8 neighbours share a pixel: all writes of
// a warp join. Threads left over by that division rest.
template <typename T, bool PADDED> static __global__ void __launch_bounds__(K_BLOCK) conv_stem(const conv k)
{
    alignas(16) __shared__ float filters[STEM_FILTERS];
    const int pixels = k.slice, t = (int)threadIdx.x;  // slice: here pixels of a block at a time
    for (int i = t; i < k.is.k * k.depth; i += K_BLOCK) {
        uint32_t out = (uint32_t)i, element = k_split(k.by_cg, &out);  // by_cg: here r s c
        filters[(int)element * k.is.k + (int)out] = to_float(((const T *)k.w)[i]);
    }
    __syncthreads();
    uint32_t mine = (uint32_t)t;
    const int part = (int)k_split(k.by_kg, &mine) * STEM_K;  // by_kg: here K / 8
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

template <typename T> static cudaError_t stem_by(cudaStream_t stream, const conv &k)
{
    const k_conv_shape &is = k.is;
    bool inside = is.before[0] == 0 && (is.p - 1) * is.stride[0] + is.r <= is.h && is.before[1] == 0 &&
                  (is.q - 1) * is.stride[1] + is.s <= is.w;
    unsigned blocks = tiles(k.rows, k.slice * STEM_PIXELS);
    if (inside) return launch(conv_stem<T, false>, blocks, K_BLOCK, stream, k);
    return launch(conv_stem<T, true>, blocks, K_BLOCK, stream, k);
}

K_LAUNCHER(k_stem)
{
    const struct k_conv_forward *a = (const struct k_conv_forward *)args;
    conv k = conv_of(&a->shape);
    int parts = a->shape.k / STEM_K;
    k.x = a->x, k.w = a->w, k.bias = a->bias, k.to = a->y, k.act = a->act;
    k.rows = a->shape.n * a->shape.p * a->shape.q, k.depth = k.taps * k.cg;
    k.slice = K_BLOCK / parts;
    k.by_cg = k_divide_by(k.depth), k.by_kg = k_divide_by(parts);
    BY_FLOAT(a->type, T, return stem_by<T>(stream, k));
}
