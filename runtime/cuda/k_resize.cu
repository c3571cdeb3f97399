// SPDX-License-Identifier: Apache-2.0
// A thread makes one pixel of the result: 16 bytes of neighbouring channels, or up to four channels one by one. The way
// back is a sum over the pixels that read this one, in their order, and so needs no atomics. Cost: the small tensor is
// written once, the large one read about once (four times out of the cache).
#include "runtime/cuda/k_resize.h"

#include "runtime/cuda/k_layout.cuh"

// What a thread does: channels [channel, channel + count) of the pixel at (y, x) of an image.
struct pixel {
    int64_t image, channel;
    int y, x, count;
    bool any;
};

template <int N> __device__ static inline struct pixel pixel_of(const struct k_resize &k, int h, int w)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    uint64_t i = (uint64_t)blockIdx.x * K_BLOCK + threadIdx.x, groups = (uint64_t)(k.channels + EACH - 1) / EACH;
    struct pixel o;
    uint64_t at = i / groups, row = at / (unsigned)w, image = row / (unsigned)h;
    o.channel = (int64_t)(i - at * groups) * EACH;
    o.count = k.channels - o.channel < EACH ? (int)(k.channels - o.channel) : EACH;
    o.x = (int)(at - row * (unsigned)w), o.y = (int)(row - image * (unsigned)h), o.image = (int64_t)image;
    o.any = o.image < k.images;
    return o;
}

template <int N> static unsigned pixel_blocks(const struct k_resize *k, int h, int w)
{
    return blocks_for(k->images * h * w * k_divide_up(k->channels, N > 1 ? N : (int)K_RESIZE_FEW));
}

// Adds weight * from[0 .. count).
template <typename T, int N, int EACH>
__device__ static inline void add(const T *from, int count, float weight, float (&sum)[EACH])
{
    if (N > 1) {
        float v[EACH];
        load<EACH>(from, v);
        for (int i = 0; i < EACH; i++) sum[i] += weight * v[i];
    } else {
        for (int i = 0; i < EACH; i++)
            if (i < count) sum[i] += weight * to_float(from[i]);
    }
}

template <typename T, int N, int EACH> __device__ static inline void put(T *to, int count, const float (&sum)[EACH])
{
    if (N > 1) {
        store<EACH>(to, sum);
    } else {
        for (int i = 0; i < EACH; i++)
            if (i < count) to[i] = from_float<T>(sum[i]);
    }
}

// Place i of `to` lies between low and low + 1 (or on the border) of `from`: the weight of the latter.
__device__ static inline float resize_place(int i, int from, int to, int *low)
{
    int at = (2 * i + 1) * from - to;
    if (at < 0) at = 0;
    *low = at / (2 * to);
    return (float)(at - *low * 2 * to) / (float)(2 * to);
}

template <typename T, int N> __global__ void resize(const struct k_resize k)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    struct pixel o = pixel_of<N>(k, k.p, k.q);
    if (!o.any) return;
    int y, x;
    float below = resize_place(o.y, k.h, k.p, &y), right = resize_place(o.x, k.w, k.q, &x);
    int64_t down = y + 1 < k.h ? k.w * k.channels : 0, across = x + 1 < k.w ? k.channels : 0;
    const T *from = (const T *)k.from + ((o.image * k.h + y) * k.w + x) * k.channels + o.channel;
    float sum[EACH] = {0.0f};
    add<T, N>(from, o.count, (1.0f - below) * (1.0f - right), sum);
    add<T, N>(from + across, o.count, (1.0f - below) * right, sum);
    add<T, N>(from + down, o.count, below * (1.0f - right), sum);
    add<T, N>(from + down + across, o.count, below * right, sum);
    put<T, N>((T *)k.to + ((o.image * k.p + o.y) * k.q + o.x) * k.channels + o.channel, o.count, sum);
}

K_LAUNCHER(k_resize)
{
    const struct k_resize *k = (const struct k_resize *)args;
    int lanes = k_lanes(k->type, k->channels);
    BY_LANES(k->type, lanes, T, N,
             return launch(resize<T, N>, pixel_blocks<N>(k, k->p, k->q), K_BLOCK, stream, *k));
    return cudaErrorInvalidValue;
}

// ---- the way back

// The first place of `to` that lies at `at` of `from` or behind: low(i) >= at.
__device__ static inline int first_at(int at, int from, int to)
{
    int above = to * (2 * at + 1) - from;
    return above <= 0 || at <= 0 ? 0 : (above + 2 * from - 1) / (2 * from);
}

// How much place i of `to` reads of place `at` of `from`.
__device__ static inline float weight_at(int i, int at, int from, int to)
{
    int low;
    float high = resize_place(i, from, to, &low);
    if (low == at) return at + 1 < from ? 1.0f - high : 1.0f;
    return low + 1 == at ? high : 0.0f;
}

template <typename T, int N> __global__ void resize_grad(const struct k_resize k)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    struct pixel o = pixel_of<N>(k, k.h, k.w);
    if (!o.any) return;
    int top = first_at(o.y - 1, k.h, k.p), bottom = min(first_at(o.y + 1, k.h, k.p), k.p);
    int left = first_at(o.x - 1, k.w, k.q), right = min(first_at(o.x + 1, k.w, k.q), k.q);
    float sum[EACH] = {0.0f};
    for (int y = top; y < bottom; y++) {
        float down = weight_at(y, o.y, k.h, k.p);
        const T *from = (const T *)k.from + (o.image * k.p + y) * k.q * k.channels + o.channel;
        for (int x = left; x < right; x++)
            add<T, N>(from + x * k.channels, o.count, down * weight_at(x, o.x, k.w, k.q), sum);
    }
    put<T, N>((T *)k.to + ((o.image * k.h + o.y) * k.w + o.x) * k.channels + o.channel, o.count, sum);
}

K_LAUNCHER(k_resize_grad)
{
    const struct k_resize *k = (const struct k_resize *)args;
    int lanes = k_lanes(k->type, k->channels);
    BY_LANES(k->type, lanes, T, N,
             return launch(resize_grad<T, N>, pixel_blocks<N>(k, k->h, k->w), K_BLOCK, stream, *k));
    return cudaErrorInvalidValue;
}
