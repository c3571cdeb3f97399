// SPDX-License-Identifier: Apache-2.0
// What the own convolutions share: their geometry as a kernel takes it, pixels and taps found by divisions that are
// multiplications, elements of x and of the filters read at the precision of x.
#ifndef DAWN_K_CONV_CUH
#define DAWN_K_CONV_CUH

#include "runtime/cuda/k_common.cuh"
#include "runtime/cuda/k_conv.h"

// ---- division by what is known when a kernel is launched, for numbers below 2^31

struct divider {
    uint32_t by, magic, shift;
};

static inline struct divider divider_of(int by)
{
    struct divider d = {(uint32_t)by, 0, 0};
    while (((uint64_t)1 << d.shift) < d.by) d.shift++;
    d.magic = (uint32_t)(((((uint64_t)1 << d.shift) - d.by) << 32) / d.by + 1);
    return d;
}

__device__ static inline int divide(int n, const divider &d, int *rest)
{
    uint32_t u = (uint32_t)n, high = (uint32_t)((uint64_t)u * d.magic >> 32), quotient = (high + u) >> d.shift;
    *rest = (int)(u - quotient * d.by);
    return (int)quotient;
}

// ---- what the three have in common

struct conv {
    k_conv_shape is;
    const void *x, *w, *dy;  // dy: the gradient of y
    void *to;
    const float *bias;
    enum act act;
    bool wide;               // the filters are f32
    int cg, kg, taps;        // channels of a group, r s
    int rows, columns, depth;
    int slice, slices;       // wgrad: depth of a slice
    divider by_q, by_p, by_w, by_h, by_s, by_cg, by_kg, by_row, by_column;  // the last two: strides
};

struct pixel {
    int image, y, x;
};

__device__ static inline pixel pixel_of(int i, const divider &by_row, const divider &by_image)
{
    pixel p;
    int line = divide(i, by_row, &p.x);
    p.image = divide(line, by_image, &p.y);
    return p;
}

struct tap {
    int r, s, channel;
};

__device__ static inline tap tap_of(int i, const conv &k, const divider &by_channel)
{
    tap t;
    t.r = divide(divide(i, by_channel, &t.channel), k.by_s, &t.s);
    return t;
}

template <typename T> __device__ static inline float filter(const conv &k, int64_t i)
{
    return k.wide ? to_float(from_float<T>(((const float *)k.w)[i])) : to_float(((const T *)k.w)[i]);
}

// x under tap t where y has pixel p (its corner, stride and padding counted); zero outside of the image.
template <typename T> __device__ static inline float x_under(const conv &k, const pixel &corner, const tap &t, int group)
{
    int h = corner.y + t.r, w = corner.x + t.s;
    if ((unsigned)h >= (unsigned)k.is.h || (unsigned)w >= (unsigned)k.is.w) return 0.0f;
    int64_t at = ((int64_t)corner.image * k.is.h + h) * k.is.w + w;
    return to_float(((const T *)k.x)[at * k.is.c + group * k.cg + t.channel]);
}

__device__ static inline pixel corner_of(const conv &k, int i)
{
    pixel p = pixel_of(i, k.by_q, k.by_p);
    p.y = p.y * k.is.stride[0] - k.is.before[0];
    p.x = p.x * k.is.stride[1] - k.is.before[1];
    return p;
}

// ---- launching

static inline int larger(int a, int b) { return a > b ? a : b; }
static inline unsigned tiles(int count, int tile) { return (unsigned)((count - 1) / tile + 1); }

static inline conv conv_of(const k_conv_shape *s)
{
    conv k = {};
    k.is = *s;
    k.cg = s->c / s->groups, k.kg = s->k / s->groups, k.taps = s->r * s->s;
    k.by_q = divider_of(s->q), k.by_p = divider_of(s->p), k.by_w = divider_of(s->w), k.by_h = divider_of(s->h);
    k.by_s = divider_of(s->s), k.by_cg = divider_of(k.cg), k.by_kg = divider_of(k.kg);
    k.by_row = divider_of(s->stride[0]), k.by_column = divider_of(s->stride[1]);
    return k;
}

#endif
