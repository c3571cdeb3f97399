// SPDX-License-Identifier: Apache-2.0
// A thread computes one pixel of the result: 16 bytes of adjacent channels, or up to four channels one by one. Backward is a
// sum over the pixels that read this one, in order, and so needs no atomics. Cost: the small tensor is written once, the large
// one read about once (four times from the cache).
#include "runtime/cuda/kernels/k_resize.h"

#include "runtime/cuda/kernels/k_divide.h"
#include "runtime/cuda/kernels/k_layout.cuh"

// A launch computes `images` of them from `first` on, few enough to count threads in 31 bits.
struct resizing {
    struct k_resize k;
    int64_t first;
    uint32_t threads;
    struct k_divide groups, columns, rows;  // of the result
    struct k_divide down, across;           // 2 p, 2 q
    float unit_down, unit_across;           // 1 / (2 p), 1 / (2 q)
};

// A thread's work: channels [channel, channel + count) of the pixel at (y, x) of an image.
struct resize_spot {
    int64_t image, channel;
    int y, x, count;
    bool any;
};

template <int N> __device__ static inline struct resize_spot resize_spot_of(const struct resizing &r)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    uint32_t i = blockIdx.x * K_BLOCK + threadIdx.x;
    struct resize_spot o;
    o.any = i < r.threads;
    o.channel = (int64_t)k_split(r.groups, &i) * EACH;
    o.count = r.k.channels - o.channel < EACH ? (int)(r.k.channels - o.channel) : (int)EACH;
    o.x = (int)k_split(r.columns, &i), o.y = (int)k_split(r.rows, &i);
    o.image = r.first + i;
    return o;
}

// Launches for results of h rows and w columns.
static cudaError_t resize_launch(void (*kernel)(const struct resizing), const struct k_resize *k, int h, int w, int each,
                                 cudaStream_t stream)
{
    const int64_t most = INT32_MAX - K_BLOCK;
    int64_t groups = k_divide_up(k->channels, each), image = groups * h * w, at_once = most / image;
    if (at_once < 1) return cudaErrorInvalidValue;  // cuda_resize.c rejects such images
    struct resizing r = {*k, 0, 0, k_divide_by(groups), k_divide_by(w), k_divide_by(h), k_divide_by(2 * k->p),
                         k_divide_by(2 * k->q), 0.5f / (float)k->p, 0.5f / (float)k->q};
    for (; r.first < k->images; r.first += at_once) {
        int64_t images = k->images - r.first < at_once ? k->images - r.first : at_once;
        r.threads = (uint32_t)(images * image);
        TRY_CUDA(launch(kernel, blocks_for(r.threads), K_BLOCK, stream, r));
    }
    return cudaSuccess;
}

// Adds weight * from[0 .. count).
template <typename T, int N, int EACH>
__device__ static inline void add_weighted(const T *from, int count, float weight, float (&sum)[EACH])
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

template <typename T, int N, int EACH> __device__ static inline void store_sums(T *to, int count, const float (&sum)[EACH])
{
    if (N > 1) {
        store<EACH>(to, sum);
    } else {
        for (int i = 0; i < EACH; i++)
            if (i < count) to[i] = from_float<T>(sum[i]);
    }
}

// Position i of `to` lies between low and low + 1 (or on the border) of `from`; returns the weight of the latter. by and unit:
// 2 to and its inverse.
__device__ static inline float resize_source(int i, int from, int to, struct k_divide by, float unit, int *low)
{
    int at = (2 * i + 1) * from - to;
    if (at < 0) at = 0;
    uint32_t whole = (uint32_t)at, rest = k_split(by, &whole);
    *low = (int)whole;
    return (float)rest * unit;
}

template <typename T, int N> __global__ void resize(const struct resizing r)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    const struct k_resize &k = r.k;
    struct resize_spot o = resize_spot_of<N>(r);
    if (!o.any) return;
    int y, x;
    float below = resize_source(o.y, k.h, k.p, r.down, r.unit_down, &y);
    float right = resize_source(o.x, k.w, k.q, r.across, r.unit_across, &x);
    int64_t down = y + 1 < k.h ? k.w * k.channels : 0, across = x + 1 < k.w ? k.channels : 0;
    const T *from = (const T *)k.from + ((o.image * k.h + y) * k.w + x) * k.channels + o.channel;
    float sum[EACH] = {0.0f};
    add_weighted<T, N>(from, o.count, (1.0f - below) * (1.0f - right), sum);
    add_weighted<T, N>(from + across, o.count, (1.0f - below) * right, sum);
    add_weighted<T, N>(from + down, o.count, below * (1.0f - right), sum);
    add_weighted<T, N>(from + down + across, o.count, below * right, sum);
    store_sums<T, N>((T *)k.to + ((o.image * k.p + o.y) * k.q + o.x) * k.channels + o.channel, o.count, sum);
}

K_LAUNCHER(k_resize)
{
    const struct k_resize *k = (const struct k_resize *)args;
    int lanes = k_lanes(k->type, k->channels);
    int each = lanes > 1 ? lanes : (int)K_RESIZE_FEW;
    BY_LANES(k->type, lanes, T, N, return resize_launch(resize<T, N>, k, k->p, k->q, each, stream));
    return cudaErrorInvalidValue;
}

// ---- backward

// The first position of `to` at or behind position `at` of `from`: low(i) >= at.
__device__ static inline int first_at(int at, int from, int to)
{
    int above = to * (2 * at + 1) - from;
    return above <= 0 || at <= 0 ? 0 : (above + 2 * from - 1) / (2 * from);
}

// The weight of position `at` of `from` in position i of `to`.
__device__ static inline float weight_at(int i, int at, int from, int to, struct k_divide by, float unit)
{
    int low;
    float high = resize_source(i, from, to, by, unit, &low);
    if (low == at) return at + 1 < from ? 1.0f - high : 1.0f;
    return low + 1 == at ? high : 0.0f;
}

template <typename T, int N> __global__ void __launch_bounds__(K_BLOCK, 4) resize_grad(const struct resizing r)
{
    enum { EACH = N > 1 ? N : K_RESIZE_FEW };
    const struct k_resize &k = r.k;
    struct resize_spot o = resize_spot_of<N>(r);
    if (!o.any) return;
    int top = first_at(o.y - 1, k.h, k.p), bottom = min(first_at(o.y + 1, k.h, k.p), k.p);
    int left = first_at(o.x - 1, k.w, k.q), right = min(first_at(o.x + 1, k.w, k.q), k.q);
    float sum[EACH] = {0.0f};
    for (int y = top; y < bottom; y++) {
        float down = weight_at(y, o.y, k.h, k.p, r.down, r.unit_down);
        const T *from = (const T *)k.from + (o.image * k.p + y) * k.q * k.channels + o.channel;
        for (int x = left; x < right; x++)
            add_weighted<T, N>(from + x * k.channels, o.count,
                      down * weight_at(x, o.x, k.w, k.q, r.across, r.unit_across), sum);
    }
    store_sums<T, N>((T *)k.to + ((o.image * k.h + o.y) * k.w + o.x) * k.channels + o.channel, o.count, sum);
}

K_LAUNCHER(k_resize_grad)
{
    const struct k_resize *k = (const struct k_resize *)args;
    int lanes = k_lanes(k->type, k->channels);
    int each = lanes > 1 ? lanes : (int)K_RESIZE_FEW;
    BY_LANES(k->type, lanes, T, N, return resize_launch(resize_grad<T, N>, k, k->h, k->w, each, stream));
    return cudaErrorInvalidValue;
}
