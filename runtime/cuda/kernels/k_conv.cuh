// SPDX-License-Identifier: Apache-2.0
// Shared by DAWN's convolutions: the geometry as kernels take it, pixels and taps by divisions that are multiplications, the
// element of x at a tap.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_conv.h"

// ---- common to the three

struct conv {
    k_conv_shape is;
    const void *x, *w, *dy;  // dy: gradient of y
    void *to;
    const float *bias;
    enum act act;
    bool four_c, four_k;     // a group's channels of x, and of y, come by fours at aligned addresses
    int cg, kg, taps;        // channels of a group, r s
    int rows, columns, depth;
    int slice, slices;       // wgrad: depth of a slice
    k_divide by_q, by_p, by_w, by_h, by_s, by_cg, by_kg, by_row, by_column;  // the last two: strides
};

struct pixel {
    int image, y, x;
};

__device__ static inline pixel pixel_of(int i, const k_divide &by_row, const k_divide &by_image)
{
    uint32_t at = (uint32_t)i;
    pixel p;
    p.x = (int)k_split(by_row, &at);
    p.y = (int)k_split(by_image, &at);
    p.image = (int)at;
    return p;
}

struct tap {
    int r, s, channel;
};

__device__ static inline tap tap_of(int i, const conv &k, const k_divide &by_channel)
{
    uint32_t at = (uint32_t)i;
    tap t;
    t.channel = (int)k_split(by_channel, &at);
    t.s = (int)k_split(k.by_s, &at);
    t.r = (int)at;
    return t;
}

// The pixel of x at the first tap for pixel i of y.
__device__ static inline pixel corner_of(const conv &k, int i)
{
    pixel p = pixel_of(i, k.by_q, k.by_p);
    p.y = p.y * k.is.stride[0] - k.is.before[0];
    p.x = p.x * k.is.stride[1] - k.is.before[1];
    return p;
}

// x at tap t of a window; NULL outside of the image.
template <typename T> __device__ static inline const T *x_under(const conv &k, const pixel &corner, const tap &t, int group)
{
    int h = corner.y + t.r, w = corner.x + t.s;
    if ((unsigned)h >= (unsigned)k.is.h || (unsigned)w >= (unsigned)k.is.w) return NULL;
    int64_t at = ((int64_t)corner.image * k.is.h + h) * k.is.w + w;
    return (const T *)k.x + at * k.is.c + group * k.cg + t.channel;
}

// ---- launching

static inline int max_int(int a, int b) { return a > b ? a : b; }
static inline unsigned tiles(int count, int tile) { return (unsigned)k_divide_up(count, tile); }

static inline bool by_fours(int channels, enum dtype type, const void *at)
{
    return channels % 4 == 0 && (uintptr_t)at % (type == F32 ? 16 : 8) == 0;
}

static inline conv conv_of(const k_conv_shape *s)
{
    conv k = {};
    k.is = *s;
    k.cg = s->c / s->groups, k.kg = s->k / s->groups, k.taps = s->r * s->s;
    k.by_q = k_divide_by(s->q), k.by_p = k_divide_by(s->p), k.by_w = k_divide_by(s->w), k.by_h = k_divide_by(s->h);
    k.by_s = k_divide_by(s->s), k.by_cg = k_divide_by(k.cg), k.by_kg = k_divide_by(k.kg);
    k.by_row = k_divide_by(s->stride[0]), k.by_column = k_divide_by(s->stride[1]);
    return k;
}
