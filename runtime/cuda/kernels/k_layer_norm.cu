// SPDX-License-Identifier: Apache-2.0
// Layer norm, RMS norm. A lane reads N adjacent elements at a time, and the same ones in every pass over its row, so that no pass
// waits for another lane's stores.
#include "runtime/cuda/kernels/k_layer_norm.h"

#include "runtime/cuda/kernels/k_layout.cuh"

// The threads of a row: a warp, or a part of one that suffices for a short row.
static inline int threads_of(int64_t channels, int lanes)
{
    int threads = 1;
    while (threads < K_WARP && threads * lanes < channels) threads *= 2;
    return threads;
}

__device__ static inline int64_t row_of(int threads) { return ((int64_t)blockIdx.x * K_BLOCK + threadIdx.x) / threads; }

// The sum over the threads of a row, returned to each. All threads of the warp call it.
__device__ static inline float row_sum(float x, int threads)
{
    for (int apart = threads / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}

template <int N> __device__ static inline void load_or(const float *from, int64_t at, float otherwise, float (&into)[N])
{
    if (from) return load<N>(from + at, into);
    for (int i = 0; i < N; i++) into[i] = otherwise;
}

// element_keeps of element.h for N adjacent elements, the first a multiple of N; eight of them share a draw.
template <int N>
__device__ static inline void drop(const int32_t *key, const int32_t *step, uint32_t site, float p, float factor, int64_t at,
                                   float (&v)[N])
{
    if constexpr (N < 4)
        for (int i = 0; i < N; i++)
            v[i] = element_keeps(key, (uint32_t)*step, site, (uint64_t)(at + i), p) ? v[i] * factor : 0.0f;
    else
        drop_adjacent<N>(element_dropout_draw(key, (uint32_t)*step, site, (uint64_t)at / DROPOUT_DRAW), at, element_least(p),
                         factor, v);
}

// The value to normalise: x, or the sum, rounded to its stored type.
template <typename T, int N> __device__ static inline void load_sum(const struct k_layer_norm &k, int64_t at, float (&v)[N])
{
    load<N>((const T *)k.x + at, v);
    if (!k.residual) return;
    float other[N];
    load<N>((const T *)k.residual + at, other);
    if (k.key) drop<N>(k.key, k.step, k.site, k.p, k.factor, at, v);
    for (int i = 0; i < N; i++) v[i] = to_float(from_float<T>(v[i] + other[i]));
}

struct norm_rows {
    struct k_layer_norm k;
    int threads;  // of a row
};
struct grad_rows {
    struct k_layer_norm_grad k;
    int threads;
};

template <typename T, int N> static __global__ void __launch_bounds__(K_BLOCK) layer_norm(const struct norm_rows o)
{
    const struct k_layer_norm &k = o.k;
    const int64_t row = row_of(o.threads), begin = row * k.channels, end = row < k.rows ? k.channels : 0;
    const int first = (int)threadIdx.x % o.threads * N, step = o.threads * N;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t c = first; c < end && (!k.rms || k.sum); c += step) {
        float v[N];
        load_sum<T, N>(k, begin + c, v);
        if (k.sum) store<N>((T *)k.sum + begin + c, v);
        for (int i = 0; i < N; i++) sum += v[i];
    }
    const float mean = k.rms ? 0.0f : row_sum(sum, o.threads) / (float)k.channels;
    for (int64_t c = first; c < end; c += step) {
        float v[N];
        if (k.sum) load<N>((const T *)k.sum + begin + c, v);
        else load_sum<T, N>(k, begin + c, v);
        for (int i = 0; i < N; i++) squares += (v[i] - mean) * (v[i] - mean);
    }
    const float rstd = 1.0f / sqrtf(row_sum(squares, o.threads) / (float)k.channels + k.eps);
    for (int64_t c = first; k.y && c < end; c += step) {
        float v[N], scale[N], bias[N];
        if (k.sum) load<N>((const T *)k.sum + begin + c, v);
        else load_sum<T, N>(k, begin + c, v);
        load_or<N>(k.scale, c, 1.0f, scale), load_or<N>(k.bias, c, 0.0f, bias);
        for (int i = 0; i < N; i++) v[i] = (v[i] - mean) * rstd * scale[i] + bias[i];
        store<N>((T *)k.y + begin + c, v);
    }
    if (first > 0 || end == 0) return;
    if (k.mean) k.mean[row] = mean;
    if (k.rstd) k.rstd[row] = rstd;
}

K_LAUNCHER(k_layer_norm)
{
    const struct k_layer_norm *k = (const struct k_layer_norm *)args;
    const int lanes = k_lanes(k->type, k->channels), threads = threads_of(k->channels, lanes);
    struct norm_rows o = {*k, threads};
    BY_LANES(k->type, lanes, T, N, return launch(layer_norm<T, N>, blocks_for(k->rows, K_BLOCK / threads), K_BLOCK, stream, o));
    return cudaErrorInvalidValue;
}

// ---- backward

template <typename T, int N> static __global__ void __launch_bounds__(K_BLOCK) layer_norm_grad(const struct grad_rows o)
{
    const struct k_layer_norm_grad &k = o.k;
    const int64_t row = row_of(o.threads), begin = row * k.channels, end = row < k.rows ? k.channels : 0;
    const int first = (int)threadIdx.x % o.threads * N, step = o.threads * N;
    const float mean = k.mean && end ? k.mean[row] : 0.0f, rstd = end ? k.rstd[row] : 0.0f;
    float sum = 0.0f, dot = 0.0f;
    for (int64_t c = first; c < end; c += step) {
        float d[N], x[N], scale[N];
        load<N>((const T *)k.dy + begin + c, d), load<N>((const T *)k.x + begin + c, x);
        load_or<N>(k.scale, c, 1.0f, scale);
        for (int i = 0; i < N; i++) sum += d[i] * scale[i], dot += d[i] * scale[i] * ((x[i] - mean) * rstd);
    }
    sum = k.mean ? row_sum(sum, o.threads) / (float)k.channels : 0.0f;
    dot = row_sum(dot, o.threads) / (float)k.channels;
    for (int64_t c = first; c < end; c += step) {
        float d[N], x[N], scale[N];
        load<N>((const T *)k.dy + begin + c, d), load<N>((const T *)k.x + begin + c, x);
        load_or<N>(k.scale, c, 1.0f, scale);
        for (int i = 0; i < N; i++) d[i] = rstd * (d[i] * scale[i] - sum - (x[i] - mean) * rstd * dot);
        if (k.dsum) store<N>((T *)k.dsum + begin + c, d);
        if (!k.dx) continue;
        drop<N>(k.key, k.step, k.site, k.p, k.factor, begin + c, d);
        store<N>((T *)k.dx + begin + c, d);
    }
}

struct scale_grad {
    struct k_layer_norm_grad k;
    struct k_columns of;
    float *dscale, *dbias;  // results, or partial sums
};

template <typename T, int N> static __global__ void __launch_bounds__(K_BLOCK) layer_norm_scale_grad(const struct scale_grad o)
{
    __shared__ float scratch[N * K_BLOCK];
    const struct k_layer_norm_grad &k = o.k;
    struct columns_spot s = columns_begin(o.of);
    float scale[N] = {0.0f}, bias[N] = {0.0f};
    for (int64_t row = s.row; row < s.end; row += o.of.down) {
        float d[N], x[N];
        load<N>((const T *)k.dy + row * k.channels + s.column, d), load<N>((const T *)k.x + row * k.channels + s.column, x);
        const float mean = k.mean ? k.mean[row] : 0.0f, rstd = k.rstd[row];
        for (int i = 0; i < N; i++) scale[i] += d[i] * ((x[i] - mean) * rstd), bias[i] += d[i];
    }
    const int64_t to = s.chunk * k.channels + s.column;
    if (columns_join<N>(o.of, s, scale, scratch) && o.dscale) store<N>(o.dscale + to, scale);
    __syncthreads();
    if (columns_join<N>(o.of, s, bias, scratch) && o.dbias) store<N>(o.dbias + to, bias);
}

static cudaError_t scale_and_bias(const struct k_layer_norm_grad *k, cudaStream_t stream)
{
    struct scale_grad o = {*k, k_columns_of(k->type, 1, k->rows, k->channels), k->dscale, k->dbias};
    const bool parts = o.of.chunks > 1;
    if (parts) o.dscale = k->dscale ? k->partial[0] : NULL, o.dbias = k->dbias ? k->partial[1] : NULL;
    cudaError_t error = cudaErrorInvalidValue;
    BY_LANES(k->type, o.of.lanes, T, N, error = launch(layer_norm_scale_grad<T, N>, columns_grid(o.of), K_BLOCK, stream, o));
    for (int i = 0; i < 2 && error == cudaSuccess && parts; i++) {
        struct k_finish finish = {k->partial[i], i ? k->dbias : k->dscale, F32, 1.0f, k->channels, k->channels, o.of.chunks};
        if (finish.to) error = k_finish(stream, &finish);
    }
    return error;
}

K_LAUNCHER(k_layer_norm_grad)
{
    const struct k_layer_norm_grad *k = (const struct k_layer_norm_grad *)args;
    cudaError_t error = cudaSuccess;
    if (k->dsum || k->dx) {
        const int lanes = k_lanes(k->type, k->channels), threads = threads_of(k->channels, lanes);
        struct grad_rows o = {*k, threads};
        error = cudaErrorInvalidValue;
        BY_LANES(k->type, lanes, T, N,
                 error = launch(layer_norm_grad<T, N>, blocks_for(k->rows, K_BLOCK / threads), K_BLOCK, stream, o));
    }
    if (error != cudaSuccess || (!k->dscale && !k->dbias)) return error;
    return scale_and_bias(k, stream);
}
