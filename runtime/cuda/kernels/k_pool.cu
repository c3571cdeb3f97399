// SPDX-License-Identifier: Apache-2.0
// Pooling. Forward, a thread reads its window; backward, a pixel gathers from the windows over it, so overlaps are added in one
// order and everything is written once, zeros included. Cost: x is read once (overlaps hit the cache), y written once; backward
// the reverse.
#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_pool.h"

// What one thread computes: the pixel of the result, and its first channel.
struct pool_spot {
    bool live;
    uint32_t image, line, column;
    int64_t channel, to;
};

template <int N> __device__ static inline pool_spot pool_spot_of(const struct k_pool &k)
{
    pool_spot s;
    uint32_t i = blockIdx.x * K_BLOCK + threadIdx.x;
    s.live = i < k.count;
    s.to = (int64_t)i * N;
    s.channel = (int64_t)k_split(k.across, &i) * N;
    s.column = k_split(k.columns, &i);
    s.line = k_split(k.lines, &i);
    s.image = i;
    return s;
}

// ---- forward

// A window whose first pixel may lie in the padding: rows [r0, r1) and columns [c0, c1) of it are inside.
struct pool_corner {
    int64_t line, column;
    int r0, r1, c0, c1;
};

__device__ static inline pool_corner corner_of(const struct k_pool &k, int64_t p, int64_t q)
{
    pool_corner o;
    o.line = p * k.stride[0].by - k.pad[0];
    o.column = q * k.stride[1].by - k.pad[1];
    o.r0 = o.line < 0 ? (int)-o.line : 0, o.c0 = o.column < 0 ? (int)-o.column : 0;
    o.r1 = k.h - o.line < k.k[0] ? (int)(k.h - o.line) : k.k[0];
    o.c1 = k.w - o.column < k.k[1] ? (int)(k.w - o.column) : k.k[1];
    return o;
}

// What the mean of window (p, q) divides its sum by.
__device__ static inline float mean_size(const struct k_pool &k, int p, int q)
{
    int rows = k.k[0], columns = k.k[1];
    if (!k.counts_pad) {
        const int top = p * (int)k.stride[0].by - k.pad[0], left = q * (int)k.stride[1].by - k.pad[1];
        rows = min(top + rows, (int)k.h) - max(top, 0);
        columns = min(left + columns, (int)k.w) - max(left, 0);
    }
    return (float)rows * (float)columns;
}

template <typename T>
__device__ static inline const T *pixel_at(const struct k_pool &k, const pool_spot &s, int64_t line, int64_t column)
{
    return (const T *)k.from + (((int64_t)s.image * k.h + line) * k.w + column) * k.c + s.channel;
}

template <typename T, int N> __global__ void pool_max(const struct k_pool k)
{
    const pool_spot s = pool_spot_of<N>(k);
    if (!s.live) return;
    const pool_corner corner = corner_of(k, s.line, s.column);
    const int r0 = corner.r0, r1 = corner.r1, c0 = corner.c0, c1 = corner.c1;
    float best[N];
    int where[N];
    load<N>(pixel_at<T>(k, s, corner.line + r0, corner.column + c0), best);
    for (int i = 0; i < N; i++) where[i] = r0 * k.k[1] + c0;
    for (int r = r0; r < r1; r++)
        for (int c = c0; c < c1; c++) {
            const int at = r * k.k[1] + c;
            float v[N];
            load<N>(pixel_at<T>(k, s, corner.line + r, corner.column + c), v);
            // the first of equal values wins, and any number wins over NaN
            for (int i = 0; i < N; i++) {
                bool wins = v[i] > best[i] || (best[i] != best[i] && v[i] == v[i]);
                best[i] = wins ? v[i] : best[i];
                where[i] = wins ? at : where[i];
            }
        }
    if (k.to) store<N>((T *)k.to + s.to, best);
    if (!k.at) return;
    lanes<uint8_t, N> bytes;
    for (int i = 0; i < N; i++) bytes.at[i] = (uint8_t)where[i];
    *(lanes<uint8_t, N> *)(k.at + s.to) = bytes;
}

template <typename T, int N> __global__ void pool_mean(const struct k_pool k)
{
    const pool_spot s = pool_spot_of<N>(k);
    if (!s.live) return;
    const pool_corner corner = corner_of(k, s.line, s.column);
    float sum[N] = {};
    for (int r = corner.r0; r < corner.r1; r++)
        for (int c = corner.c0; c < corner.c1; c++) {
            float v[N];
            load<N>(pixel_at<T>(k, s, corner.line + r, corner.column + c), v);
            for (int i = 0; i < N; i++) sum[i] += v[i];
        }
    const float count = mean_size(k, (int)s.line, (int)s.column);
    for (int i = 0; i < N; i++) sum[i] /= count;
    store<N>((T *)k.to + s.to, sum);
}

// ---- backward

// The windows first .. last cover position `at`; none if last < first.
__device__ static inline void windows_over(int at, int size, const struct k_divide &stride, int64_t windows, int *first,
                                           int *last)
{
    *first = at < size ? 0 : (int)k_divided(stride, (uint32_t)(at - size)) + 1;
    *last = (int)k_divided(stride, (uint32_t)at);
    if (*last >= windows) *last = (int)windows - 1;
}

template <typename T, int N, bool MOST> __global__ void pool_back(const struct k_pool k)
{
    const pool_spot s = pool_spot_of<N>(k);
    if (!s.live) return;
    const int line = (int)s.line + k.pad[0], column = (int)s.column + k.pad[1];
    int p0, p1, q0, q1;
    windows_over(line, k.k[0], k.stride[0], k.p, &p0, &p1);
    windows_over(column, k.k[1], k.stride[1], k.q, &q0, &q1);
    float sum[N] = {};
    for (int p = p0; p <= p1; p++)
        for (int q = q0; q <= q1; q++) {
            const int64_t from = (((int64_t)s.image * k.p + p) * k.q + q) * k.c + s.channel;
            float dy[N];
            load<N>((const T *)k.from + from, dy);
            if (MOST) {
                const lanes<uint8_t, N> where = *(const lanes<uint8_t, N> *)(k.at_from + from);
                const int mine = (line - p * (int)k.stride[0].by) * k.k[1] + column - q * (int)k.stride[1].by;
                for (int i = 0; i < N; i++) sum[i] += where.at[i] == mine ? dy[i] : 0.0f;
            } else {
                const float part = 1.0f / mean_size(k, p, q);
                for (int i = 0; i < N; i++) sum[i] += dy[i] * part;
            }
        }
    store<N>((T *)k.to + s.to, sum);
}

// ---- launcher

template <typename T, int N> static cudaError_t pool_of(const struct k_pool *k, cudaStream_t stream)
{
    const unsigned blocks = blocks_for(k->count);
    switch (k->kind) {
    case K_MAXPOOL: return launch(pool_max<T, N>, blocks, K_BLOCK, stream, *k);
    case K_MAXPOOL_GRAD: return launch(pool_back<T, N, true>, blocks, K_BLOCK, stream, *k);
    case K_AVGPOOL: return launch(pool_mean<T, N>, blocks, K_BLOCK, stream, *k);
    case K_AVGPOOL_GRAD: return launch(pool_back<T, N, false>, blocks, K_BLOCK, stream, *k);
    }
    return cudaErrorInvalidValue;
}

K_LAUNCHER(k_pool)
{
    const struct k_pool *k = (const struct k_pool *)args;
    BY_FLOAT(k->type, T, return k->per > 1 ? pool_of<T, wide<T>::N>(k, stream) : pool_of<T, 1>(k, stream));
}
