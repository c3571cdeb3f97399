// SPDX-License-Identifier: Apache-2.0
// Attention with a warp for each query or key. Lanes are keys (or queries) while scores are computed, and channels while rows
// are summed. Forward keeps a running maximum: sums so far are scaled down when it grows.
#include "runtime/cuda/kernels/k_attention.h"

#include "runtime/cuda/kernels/k_attention.cuh"

enum { WARPS = K_BLOCK / K_WARP, EACH = K_ATTENTION_CHANNELS / K_WARP };  // EACH: channels of a lane

// A warp's row: of one head of one sample.
struct spot {
    int64_t row;  // among [B,H,rows]
    int b, h, t;
    valid n;
    int lane, channels;
    bool there;
};

__device__ static inline spot spot_of(const struct k_attention &k, int rows)
{
    spot s;
    s.row = (int64_t)blockIdx.x * WARPS + threadIdx.x / K_WARP;
    s.there = s.row < (int64_t)k.samples * k.heads * rows;
    int64_t row = s.there ? s.row : 0;
    s.t = (int)(row % rows);
    s.h = (int)(row / rows % k.heads);
    s.b = (int)(row / rows / k.heads);
    s.n = valid_of(k, s.b);
    s.lane = (int)threadIdx.x % K_WARP, s.channels = k.channels;
    return s;
}

// Row t of the head's queries, keys or values, or their gradients; of a result of the head.
template <typename T> __device__ static inline T *query_at(const struct k_attention &k, const void *q, const spot &s, int t)
{
    return (T *)q + ((int64_t)s.b * k.tokens + t) * k.pitch + s.h * k.channels;
}
template <typename T> __device__ static inline T *key_at(const struct k_attention &k, const void *kv, const spot &s, int t)
{
    return (T *)kv + ((int64_t)s.b * k.keys + t) * k.kv_pitch + s.h * k.channels;
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
    __shared__ float scratch[WARPS][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k, k.tokens);
    float *q = scratch[threadIdx.x / K_WARP], sum[EACH] = {0.0f}, top = -INFINITY, total = 0.0f;
    const int seen = s.there ? seen_by(k, s.n, s.t) : 0;
    if (seen > 0) read_row(s, query_at<T>(k, k.q, s, s.t), q);
    __syncthreads();
    for (int first = 0; first < seen; first += K_WARP) {
        const int key = first + s.lane, count = seen - first < K_WARP ? seen - first : K_WARP;
        float score = key < seen ? k.scale * dot_of(q, key_at<T>(k, k.kv[0], s, key), k.channels) : -INFINITY;
        const float higher = fmaxf(top, warp_most(score)), fade = element_exp(top - higher);
        float p = key < seen ? element_exp(score - higher) : 0.0f;
        top = higher, total = total * fade + p;
        if (key < seen) p *= mask_of(k, s.row, key);
#pragma unroll
        for (int i = 0; i < EACH; i++) sum[i] *= fade;
        add_rows(s, key_at<T>(k, k.kv[1], s, first), k.kv_pitch, count, p, sum);
    }
    total = warp_sum(total);
    if (!s.there) return;
    if (k.to) write_row(s, sum, seen > 0 ? 1.0f / total : 0.0f, head_at<T>(k, k.to, s, s.t));
    if (k.lse && s.lane == 0) k.lse[s.row] = seen > 0 ? top + logf(total) : 0.0f;
}

// delta = sum of dy y over the channels of a query.
template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend_delta(const struct k_attention k)
{
    const spot s = spot_of(k, k.tokens);
    float sum = 0.0f;
    for (int i = s.lane; s.there && i < k.channels; i += K_WARP)
        sum += to_float(head_at<T>(k, k.dy, s, s.t)[i]) * to_float(head_at<T>(k, k.y, s, s.t)[i]);
    sum = warp_sum(sum);
    if (s.there && s.lane == 0) k.delta[s.row] = sum;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK, 3) attend_queries(const struct k_attention k)
{
    __shared__ float scratch[WARPS][2][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k, k.tokens);
    float *q = scratch[threadIdx.x / K_WARP][0], *dy = scratch[threadIdx.x / K_WARP][1], sum[EACH] = {0.0f};
    const int seen = s.there ? seen_by(k, s.n, s.t) : 0;
    const float lse = seen > 0 ? k.lse[s.row] : 0.0f, delta = seen > 0 ? k.delta[s.row] : 0.0f;
    if (seen > 0) {
        read_row(s, query_at<T>(k, k.q, s, s.t), q);
        read_row(s, head_at<T>(k, k.dy, s, s.t), dy);
    }
    __syncthreads();
    for (int first = 0; first < seen; first += K_WARP) {
        const int key = first + s.lane, count = seen - first < K_WARP ? seen - first : K_WARP;
        float ds = 0.0f;
        if (key < seen) {
            const float p = element_exp(k.scale * dot_of(q, key_at<T>(k, k.kv[0], s, key), k.channels) - lse);
            const float dp = dot_of(dy, key_at<T>(k, k.kv[1], s, key), k.channels) * mask_of(k, s.row, key);
            ds = p * (dp - delta) * k.scale;
        }
        add_rows(s, key_at<T>(k, k.kv[0], s, first), k.kv_pitch, count, ds, sum);
    }
    if (s.there) write_row(s, sum, 1.0f, query_at<T>(k, k.dq, s, s.t));
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) attend_keys(const struct k_attention k)
{
    __shared__ float scratch[WARPS][2][K_ATTENTION_CHANNELS];
    const spot s = spot_of(k, k.keys);  // t: the key
    float *key = scratch[threadIdx.x / K_WARP][0], *value = scratch[threadIdx.x / K_WARP][1];
    float dk[EACH] = {0.0f}, dv[EACH] = {0.0f};
    const bool reads = s.there && s.t < s.n.keys;
    const int64_t first_row = ((int64_t)s.b * k.heads + s.h) * k.tokens;
    if (reads) {
        read_row(s, key_at<T>(k, k.kv[0], s, s.t), key);
        read_row(s, key_at<T>(k, k.kv[1], s, s.t), value);
    }
    __syncthreads();
    for (int first = first_to_see(k, s.n, s.t); reads && first < s.n.queries; first += K_WARP) {
        const int query = first + s.lane, count = s.n.queries - first < K_WARP ? s.n.queries - first : K_WARP;
        float ds = 0.0f, masked = 0.0f;
        if (query < s.n.queries) {
            const int64_t row = first_row + query;
            const float mask = mask_of(k, row, s.t);
            const float p = element_exp(k.scale * dot_of(key, query_at<T>(k, k.q, s, query), k.channels) - k.lse[row]);
            const float dp = dot_of(value, head_at<T>(k, k.dy, s, query), k.channels);
            ds = p * (dp * mask - k.delta[row]) * k.scale, masked = p * mask;
        }
        add_rows(s, query_at<T>(k, k.q, s, first), k.pitch, count, ds, dk);
        add_rows(s, head_at<T>(k, k.dy, s, first), (int64_t)k.heads * k.channels, count, masked, dv);
    }
    if (!s.there) return;
    write_row(s, dk, 1.0f, key_at<T>(k, k.dkv[0], s, s.t));
    write_row(s, dv, 1.0f, key_at<T>(k, k.dkv[1], s, s.t));
}

static unsigned grid_of(const struct k_attention *k, int rows)
{
    return blocks_for((int64_t)k->samples * k->heads * rows, WARPS);
}

K_LAUNCHER(k_attention)
{
    const struct k_attention *k = (const struct k_attention *)args;
    BY_FLOAT(k->type, T, return launch(attend<T>, grid_of(k, k->tokens), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_attention_delta)
{
    const struct k_attention *k = (const struct k_attention *)args;
    BY_FLOAT(k->type, T, return launch(attend_delta<T>, grid_of(k, k->tokens), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_attention_grad)
{
    const struct k_attention *k = (const struct k_attention *)args;
    TRY_CUDA(k_attention_delta(stream, args));
    BY_FLOAT(k->type, T, {
        if (k->dq) TRY_CUDA(launch(attend_queries<T>, grid_of(k, k->tokens), K_BLOCK, stream, *k));
        return k->dkv[0] ? launch(attend_keys<T>, grid_of(k, k->keys), K_BLOCK, stream, *k) : cudaSuccess;
    });
}
