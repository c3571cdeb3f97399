// SPDX-License-Identifier: Apache-2.0
// Sums over dimensions, and their gradient. A thread adds at most some hundreds of elements in f32 before sums are combined in
// pairs, so the error is close to pairwise summation. Cost: x is read once; partial sums are at most 528 rows of
// results.
#include "runtime/cuda/kernels/k_reduce.h"

#include "runtime/cuda/kernels/k_layout.cuh"

__device__ static inline void store_element(enum dtype type, void *to, int64_t i, float x)
{
    if (type == F32) ((float *)to)[i] = x;
    else if (type == BF16) ((__nv_bfloat16 *)to)[i] = from_float<__nv_bfloat16>(x);
    else ((__half *)to)[i] = from_float<__half>(x);
}

// ---- partial sums to results: one warp each; adjacent warps read adjacent columns

static __global__ void reduce_finish(const struct k_finish k)
{
    int64_t result = (int64_t)blockIdx.x * (K_BLOCK / K_WARP) + threadIdx.x / K_WARP;
    if (result >= k.results) return;
    int64_t batch = result / k.columns, column = result - batch * k.columns;
    const float *partial = k.partial + batch * k.chunks * k.columns + column;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x % K_WARP; i < k.chunks; i += K_WARP) sum += partial[i * k.columns];
    sum = warp_sum(sum);
    if (threadIdx.x % K_WARP == 0) store_element(k.type, k.to, result, sum * k.factor);
}

K_LAUNCHER(k_finish)
{
    const struct k_finish *k = (const struct k_finish *)args;
    return launch(reduce_finish, blocks_for(k->results, K_BLOCK / K_WARP), K_BLOCK, stream, *k);
}

// ---- columns

template <typename T, int N> __global__ void reduce_columns(const struct k_reduce_columns k)
{
    __shared__ float scratch[N * K_BLOCK];
    struct columns_spot s = columns_begin(k.of);
    const T *x = (const T *)k.x + s.batch * k.of.rows * k.of.columns + s.column;
    float sum[N] = {0.0f};
    for (int64_t row = s.row; row < s.end; row += k.of.down) {
        float v[N];
        load<N>(x + row * k.of.columns, v);
        for (int i = 0; i < N; i++) sum[i] += v[i];
    }
    if (!columns_join<N>(k.of, s, sum, scratch)) return;
    if (k.of.chunks > 1) {
        store<N>(k.partial + (s.batch * k.of.chunks + s.chunk) * k.of.columns + s.column, sum);
        return;
    }
    for (int i = 0; i < N; i++) store_element(k.to, k.y, s.batch * k.of.columns + s.column + i, sum[i] * k.factor);
}

K_LAUNCHER(k_reduce_columns)
{
    const struct k_reduce_columns *k = (const struct k_reduce_columns *)args;
    cudaError_t error = cudaErrorInvalidValue;
    BY_LANES(k->from, k->of.lanes, T, N,
             error = launch(reduce_columns<T, N>, columns_grid(k->of), K_BLOCK, stream, *k));
    if (error != cudaSuccess || k->of.chunks == 1) return error;
    struct k_finish f = {k->partial, k->y, k->to, k->factor, k->of.batch * k->of.columns, k->of.columns, k->of.chunks};
    return k_finish(stream, &f);
}

// ---- runs: one block per run, or per part of one

template <typename T, int N> __global__ void reduce_runs(const struct k_reduce_runs k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    int64_t batch = blockIdx.x / (unsigned)k.chunks, chunk = blockIdx.x - batch * k.chunks;
    int64_t at = chunk * k.chunk_length, end = at + k.chunk_length;
    if (end > k.length) end = k.length;
    const T *x = (const T *)k.x + batch * k.length;
    float sum[N] = {0.0f}, total = 0.0f;
    for (at += (int64_t)threadIdx.x * N; at < end; at += K_BLOCK * N) {
        float v[N];
        load<N>(x + at, v);
        for (int i = 0; i < N; i++) sum[i] += v[i];
    }
    for (int i = 0; i < N; i++) total += sum[i];
    total = block_sum<K_BLOCK>(total, scratch);
    if (threadIdx.x) return;
    if (k.chunks > 1) k.partial[blockIdx.x] = total;
    else store_element(k.to, k.y, batch, total * k.factor);
}

K_LAUNCHER(k_reduce_runs)
{
    const struct k_reduce_runs *k = (const struct k_reduce_runs *)args;
    int lanes = k->chunk_length % k_lanes(k->from, k->length) ? 1 : k_lanes(k->from, k->length);
    unsigned grid = (unsigned)(k->batch * k->chunks);
    cudaError_t error = cudaErrorInvalidValue;
    BY_LANES(k->from, lanes, T, N, error = launch(reduce_runs<T, N>, grid, K_BLOCK, stream, *k));
    if (error != cudaSuccess || k->chunks == 1) return error;
    struct k_finish f = {k->partial, k->y, k->to, k->factor, k->batch, 1, k->chunks};
    return k_finish(stream, &f);
}

// ---- general case: one warp per result, or one thread if there is little to add

template <typename T> __global__ void reduce_any(const struct k_reduce_any k)
{
    int together = k.terms < K_WARP ? 1 : K_WARP;
    int64_t result = ((int64_t)blockIdx.x * K_BLOCK + threadIdx.x) / together;
    if (result >= k.results) return;  // a whole warp at once, where its threads cooperate
    const T *x = (const T *)k.x + dims_offset(k.kept, result);
    float sum = 0.0f;
    for (int64_t i = threadIdx.x % together; i < k.terms; i += together) sum += to_float(x[dims_offset(k.added, i)]);
    if (together > 1) sum = warp_sum(sum);
    if (threadIdx.x % together == 0) store_element(k.to, k.y, result, sum * k.factor);
}

K_LAUNCHER(k_reduce_any)
{
    const struct k_reduce_any *k = (const struct k_reduce_any *)args;
    unsigned grid = blocks_for(k->results * (k->terms < K_WARP ? 1 : K_WARP));
    BY_FLOAT(k->from, T, return launch(reduce_any<T>, grid, K_BLOCK, stream, *k));
}

// ---- gradient: a thread writes N adjacent elements of one run of the innermost dimension

template <typename T, int N> __global__ void broadcast(const struct k_broadcast k)
{
    int64_t i = ((int64_t)blockIdx.x * K_BLOCK + threadIdx.x) * N;
    if (i >= k.count) return;
    const T *x = (const T *)k.x + dims_offset(k.of, i);
    float v[N];
    if (!k.repeated) load<N>(x, v);
    for (int j = 0; k.repeated && j < N; j++) v[j] = to_float(*x);
    for (int j = 0; j < N; j++) v[j] *= k.factor;
    store<N>((T *)k.y + i, v);
}

K_LAUNCHER(k_broadcast)
{
    const struct k_broadcast *k = (const struct k_broadcast *)args;
    int lanes = k_lanes(k->type, k->inner);
    BY_LANES(k->type, lanes, T, N, return launch(broadcast<T, N>, blocks_for(k->count / N), K_BLOCK, stream, *k));
    return cudaErrorInvalidValue;
}
