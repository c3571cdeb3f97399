// SPDX-License-Identifier: Apache-2.0
// Attention with a warp for each query or key. Lanes are keys (or queries) while scores are computed, and channels while rows
// are summed. Forward keeps a running maximum: sums so far are scaled down when it grows.
#include "runtime/cuda/kernels/k_attention.h"

#include "runtime/cuda/kernels/k_attention.cuh"

enum { WARPS = K_BLOCK / K_WARP, EACH = K_ATTENTION_CHANNELS / K_WARP };  // EACH: channels of a lane

// A warp's row: of one head of one sample.
struct spot {
    int64_t row;        // among [B,H,T]
    int b, h, t, n;     // n: tokens of the sample
    int lane, channels;
    bool there;
};

__device__ static inline spot spot_of(const struct k_attention &k)
{
    spot s;
    s.row = (int64_t)blockIdx.x * WARPS + threadIdx.x / K_WARP;
    s.there = s.row < (int64_t)k.samples * k.heads * k.tokens;
    int64_t row = s.there ? s.row : 0;
    s.t = (int)(row % k.tokens);
    s.h = (int)(row / k.tokens % k.heads);
    s.b = (int)(row / k.tokens / k.heads);
    s.n = k.length ? k.length[s.b] : k.tokens;
    s.n = s.n < 0 ? 0 : s.n > k.tokens ? k.tokens : s.n;
    s.lane = (int)threadIdx.x % K_WARP, s.channels = k.channels;
    return s;
}

// Row t of part 0 (q), 1 (k) or 2 (v) of the head; of a result of the head.
template <typename T> __device__ static inline T *part_at(const struct k_attention &k, const void *qkv, const spot &s,
                                                                  int t, int part)
{
    return (T *)qkv + (((int64_t)s.b * k.tokens + t) * 3 + part) * k.heads * k.channels + s.h * k.channels;
}
template <typename T> __device__ static inline T *head_at(const struct k_attention &k, const void *y, const spot &s, int t)
{
    return (T *)y + (((int64_t)s.b * k.tokens + t) * k.heads + s.h) * k.channels;
}

template <typename T> __device__ static inline float dot_of(const float *mine, const T *row, int channels)
{
    float sum = 0.0f;
    for (int i = 0; i < channels; i++) sum += mine[i] * to_float(row[i]);
    return sum;
}

template <typename T> __device__ static inline void read_row(const spot &s, const T *from, float *to)
{
    for (int i = s.lane; i < s.channels; i += K_WARP) to[i] = to_float(from[i]);
}

// sum += weight of each lane's row times that row; the rows begin at `from`, `pitch` apart, and `count` of them count.
template <typename T>
__device__ static inline void add_rows(const spot &s, const T *from, int64_t pitch, int count, float weight, float (&sum)[EACH])
{
    for (int j = 0; j < count; j++) {
        float one = __shfl_sync(0xffffffffu, weight, j);
        const T *row = from + j * pitch;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (i * K_WARP + s.lane < s.channels) sum[i] += one * to_float(row[i * K_WARP + s.lane]);
    }
}

template <typename T> __device__ static inline void write_row(const spot &s, const float (&sum)[EACH], float factor, T *to)
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (i * K_WARP + s.lane < s.channels) to[i * K_WARP + s.lane] = from_float<T>(sum[i] * factor);
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend(const struct k_attention k)
{
    __shared__ float room[WARPS][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k);
    float *q = room[threadIdx.x / K_WARP], sum[EACH] = {0.0f}, top = -INFINITY, total = 0.0f;
    const bool reads = s.there && s.t < s.n;
    if (reads) read_row(s, part_at<T>(k, k.qkv, s, s.t, 0), q);
    __syncthreads();
    for (int first = 0; reads && first < s.n; first += K_WARP) {
        const int key = first + s.lane, count = s.n - first < K_WARP ? s.n - first : K_WARP;
        float score = key < s.n ? k.scale * dot_of(q, part_at<T>(k, k.qkv, s, key, 1), k.channels) : -INFINITY;
        const float higher = fmaxf(top, warp_most(score)), fade = element_exp(top - higher);
        float p = key < s.n ? element_exp(score - higher) : 0.0f;
        top = higher, total = total * fade + p;
        if (key < s.n) p *= mask_of(k, s.row, key);
#pragma unroll
        for (int i = 0; i < EACH; i++) sum[i] *= fade;
        add_rows(s, part_at<T>(k, k.qkv, s, first, 2), (int64_t)3 * k.heads * k.channels, count, p, sum);
    }
    total = warp_sum(total);
    if (!s.there) return;
    if (k.to) write_row(s, sum, reads ? 1.0f / total : 0.0f, head_at<T>(k, k.to, s, s.t));
    if (k.lse && s.lane == 0) k.lse[s.row] = reads ? top + logf(total) : 0.0f;
}

// delta = sum of dy y over the channels of a query.
template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend_delta(const struct k_attention k)
{
    const spot s = spot_of(k);
    float sum = 0.0f;
    for (int i = s.lane; s.there && i < k.channels; i += K_WARP)
        sum += to_float(head_at<T>(k, k.dy, s, s.t)[i]) * to_float(head_at<T>(k, k.y, s, s.t)[i]);
    sum = warp_sum(sum);
    if (s.there && s.lane == 0) k.delta[s.row] = sum;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend_queries(const struct k_attention k)
{
    __shared__ float room[WARPS][2][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k);
    float *q = room[threadIdx.x / K_WARP][0], *dy = room[threadIdx.x / K_WARP][1], sum[EACH] = {0.0f};
    const bool reads = s.there && s.t < s.n;
    const float lse = reads ? k.lse[s.row] : 0.0f, delta = reads ? k.delta[s.row] : 0.0f;
    if (reads) {
        read_row(s, part_at<T>(k, k.qkv, s, s.t, 0), q);
        read_row(s, head_at<T>(k, k.dy, s, s.t), dy);
    }
    __syncthreads();
    for (int first = 0; reads && first < s.n; first += K_WARP) {
        const int key = first + s.lane, count = s.n - first < K_WARP ? s.n - first : K_WARP;
        float ds = 0.0f;
        if (key < s.n) {
            const float p = element_exp(k.scale * dot_of(q, part_at<T>(k, k.qkv, s, key, 1), k.channels) - lse);
            const float dp = dot_of(dy, part_at<T>(k, k.qkv, s, key, 2), k.channels) * mask_of(k, s.row, key);
            ds = p * (dp - delta) * k.scale;
        }
        add_rows(s, part_at<T>(k, k.qkv, s, first, 1), (int64_t)3 * k.heads * k.channels, count, ds, sum);
    }
    if (s.there) write_row(s, sum, 1.0f, part_at<T>(k, k.to, s, s.t, 0));
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend_keys(const struct k_attention k)
{
    __shared__ float room[WARPS][2][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k);  // t: the key
    float *key = room[threadIdx.x / K_WARP][0], *value = room[threadIdx.x / K_WARP][1], dk[EACH] = {0.0f}, dv[EACH] = {0.0f};
    const bool reads = s.there && s.t < s.n;
    const int64_t first_row = s.row - s.t;
    if (reads) {
        read_row(s, part_at<T>(k, k.qkv, s, s.t, 1), key);
        read_row(s, part_at<T>(k, k.qkv, s, s.t, 2), value);
    }
    __syncthreads();
    for (int first = 0; reads && first < s.n; first += K_WARP) {
        const int query = first + s.lane, count = s.n - first < K_WARP ? s.n - first : K_WARP;
        float ds = 0.0f, masked = 0.0f;
        if (query < s.n) {
            const int64_t row = first_row + query;
            const float mask = mask_of(k, row, s.t);
            const float p = element_exp(k.scale * dot_of(key, part_at<T>(k, k.qkv, s, query, 0), k.channels) - k.lse[row]);
            const float dp = dot_of(value, head_at<T>(k, k.dy, s, query), k.channels);
            ds = p * (dp * mask - k.delta[row]) * k.scale, masked = p * mask;
        }
        add_rows(s, part_at<T>(k, k.qkv, s, first, 0), (int64_t)3 * k.heads * k.channels, count, ds, dk);
        add_rows(s, head_at<T>(k, k.dy, s, first), (int64_t)k.heads * k.channels, count, masked, dv);
    }
    if (!s.there) return;
    write_row(s, dk, 1.0f, part_at<T>(k, k.to, s, s.t, 1));
    write_row(s, dv, 1.0f, part_at<T>(k, k.to, s, s.t, 2));
}

static unsigned grid_of(const struct k_attention *k) { return blocks_for((int64_t)k->samples * k->heads * k->tokens, WARPS); }

K_LAUNCHER(k_attention)
{
    const struct k_attention *k = (const struct k_attention *)args;
    BY_FLOAT(k->type, T, return launch(attend<T>, grid_of(k), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_attention_delta)
{
    const struct k_attention *k = (const struct k_attention *)args;
    BY_FLOAT(k->type, T, return launch(attend_delta<T>, grid_of(k), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_attention_grad)
{
    const struct k_attention *k = (const struct k_attention *)args;
    TRY_CUDA(k_attention_delta(stream, args));
    BY_FLOAT(k->type, T, {
        TRY_CUDA(launch(attend_queries<T>, grid_of(k), K_BLOCK, stream, *k));
        return launch(attend_keys<T>, grid_of(k), K_BLOCK, stream, *k);
    });
}
