// SPDX-License-Identifier: Apache-2.0
// A thread takes 16 bytes at a time and strides over the tensor; the thread at the end takes the remaining elements one by one.
// Per-element work is kept out of the loop: the operator is chosen once per vector, and a vector's channel follows from the
// previous one by an addition. Cost: every operand is read once, every result written once.
#include "runtime/cuda/kernels/k_element.h"

#include "runtime/cuda/kernels/k_layout.cuh"

// ---- act

// Adds the bias to N adjacent elements; the first belongs to `channel`.
template <int N>
__device__ static inline void add_bias(const float *bias, int64_t channel, int64_t channels, float (&v)[N])
{
    if (channels % N == 0) {
        float b[N];
        load<N>(bias + channel, b);
        for (int i = 0; i < N; i++) v[i] += b[i];
        return;
    }
    for (int i = 0; i < N; i++) {
        v[i] += bias[channel];
        if (++channel == channels) channel = 0;
    }
}

template <typename T> __global__ void act(const struct k_act k)
{
    enum { N = wide<T>::N };
    const T *x = (const T *)k.x;
    T *y = (T *)k.y;
    int64_t at = first_lane(N), stride = next_lane(N), channel = at % k.channels, step = stride % k.channels;
    for (; at + N <= k.count; at += stride) {
        float v[N];
        load<N>(x + at, v);
        if (k.bias) add_bias<N>(k.bias, channel, k.channels, v);  // a convolution may lack one
        act_all<N>(k.act, v);
        store<N>(y + at, v);
        channel += step;
        if (channel >= k.channels) channel -= k.channels;
    }
    for (; at < k.count; at++, channel = channel + 1 == k.channels ? 0 : channel + 1)
        y[at] = from_float<T>(act_value(k.act, to_float(x[at]) + (k.bias ? k.bias[channel] : 0.0f)));
}

K_LAUNCHER(k_act)
{
    const struct k_act *k = (const struct k_act *)args;
    BY_FLOAT(k->type, T, return launch(act<T>, stride_blocks(k->count, wide<T>::N), K_BLOCK, stream, *k));
}

// ---- act_grad: element-wise without a bias gradient, else down the columns

template <typename T> __global__ void act_grad(const struct k_act_grad k)
{
    enum { N = wide<T>::N };
    const T *x = (const T *)k.x, *dy = (const T *)k.dy;
    T *dx = (T *)k.dx;
    int64_t count = k.rows * k.channels, at = first_lane(N), stride = next_lane(N), channel = at % k.channels;
    const int64_t step = stride % k.channels;
    for (; at + N <= count; at += stride) {
        float v[N], d[N];
        load<N>(x + at, v);
        load<N>(dy + at, d);
        add_bias<N>(k.bias, channel, k.channels, v);
        slope_all<N>(k.act, v, d);
        store<N>(dx + at, d);
        channel += step;
        if (channel >= k.channels) channel -= k.channels;
    }
    for (; at < count; at++, channel = channel + 1 == k.channels ? 0 : channel + 1)
        dx[at] = from_float<T>(to_float(dy[at]) *
                               act_slope(k.act, to_float(x[at]) + k.bias[channel]));
}

struct bias_grad {
    struct k_act_grad k;
    struct k_columns of;
    float *to;  // dbias, or partial sums
};

template <typename T, int N> __global__ void act_grad_bias(const struct bias_grad o)
{
    __shared__ float scratch[N * K_BLOCK];
    const struct k_act_grad &k = o.k;
    struct columns_spot s = columns_begin(o.of);
    float bias[N] = {0.0f}, sum[N] = {0.0f};
    if (s.row < s.end) load<N>(k.bias + s.column, bias);
    for (int64_t row = s.row; row < s.end; row += o.of.down) {
        int64_t at = row * k.channels + s.column;
        float d[N];
        load<N>((const T *)k.dy + at, d);
        if (k.act != ACT_NONE) {
            float v[N];
            load<N>((const T *)k.x + at, v);
            for (int i = 0; i < N; i++) v[i] += bias[i];
            slope_all<N>(k.act, v, d);
        }
        if (k.dx) store<N>((T *)k.dx + at, d);
        for (int i = 0; i < N; i++) sum[i] += d[i];
    }
    if (columns_join<N>(o.of, s, sum, scratch)) store<N>(o.to + s.chunk * k.channels + s.column, sum);
}

K_LAUNCHER(k_act_grad)
{
    const struct k_act_grad *k = (const struct k_act_grad *)args;
    if (!k->dbias) {
        int64_t count = k->rows * k->channels;
        BY_FLOAT(k->type, T, return launch(act_grad<T>, stride_blocks(count, wide<T>::N), K_BLOCK, stream, *k));
    }
    struct bias_grad o = {*k, k_columns_of(k->type, 1, k->rows, k->channels), k->dbias};
    if (o.of.chunks > 1) o.to = k->partial;
    unsigned grid = columns_grid(o.of);
    cudaError_t error = cudaErrorInvalidValue;
    BY_LANES(k->type, o.of.lanes, T, N, error = launch(act_grad_bias<T, N>, grid, K_BLOCK, stream, o));
    if (error != cudaSuccess || o.of.chunks == 1) return error;
    struct k_finish finish = {k->partial, k->dbias, F32, 1.0f, k->channels, k->channels, o.of.chunks};
    return k_finish(stream, &finish);
}

// ---- cast: through f32, exact except for i32 to floats, where the specification rounds to f32 first as well

// Rounds to nearest even and saturates; NaN becomes 0.
template <> __device__ inline uint8_t from_float<uint8_t>(float x)
{
    x = rintf(x);
    return x >= 255.0f ? 255 : x > 0.0f ? (uint8_t)x : 0;
}
template <> __device__ inline int32_t from_float<int32_t>(float x)
{
    x = rintf(x);
    return x >= 2147483648.0f ? INT32_MAX : x > -2147483648.0f ? (int32_t)x : x == x ? INT32_MIN : 0;
}

template <typename A, typename B> __global__ void cast(const struct k_cast k)
{
    enum { N = 16 / (int)(sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B)) };
    const A *x = (const A *)k.x;
    B *y = (B *)k.y;
    int64_t at = first_lane(N), stride = next_lane(N);
    for (; at + N <= k.count; at += stride) {
        float v[N];
        load<N>(x + at, v);
        store<N>(y + at, v);
    }
    for (; at < k.count; at++) y[at] = from_float<B>(to_float(x[at]));
}

#define BY_TYPE(dtype, T, ...)                                                                                         \
    switch (dtype) {                                                                                                   \
    case F32: { typedef float T; __VA_ARGS__; } break;                                                                 \
    case BF16: { typedef __nv_bfloat16 T; __VA_ARGS__; } break;                                                        \
    case F16: { typedef __half T; __VA_ARGS__; } break;                                                                \
    case U8: { typedef uint8_t T; __VA_ARGS__; } break;                                                                \
    case I32: { typedef int32_t T; __VA_ARGS__; } break;                                                               \
    default: break;                                                                                                    \
    }

template <typename A> static cudaError_t cast_from(const struct k_cast *k, cudaStream_t stream)
{
    BY_TYPE(k->to, B, return launch(cast<A, B>, stride_blocks(k->count, 4), K_BLOCK, stream, *k));
    return cudaErrorInvalidValue;
}

K_LAUNCHER(k_cast)
{
    const struct k_cast *k = (const struct k_cast *)args;
    if (k->from == k->to) return cudaErrorInvalidValue;  // i32 would lose bits in f32
    BY_TYPE(k->from, A, return cast_from<A>(k, stream));
    return cudaErrorInvalidValue;
}

// ---- dropout: element_keeps of element.h, with all pieces of a draw used at once

template <typename T> __global__ void dropout(const struct k_dropout k)
{
    enum { N = wide<T>::N };
    const T *x = (const T *)k.x;
    T *y = (T *)k.y;
    const uint32_t step = (uint32_t)*k.step, least = element_least(k.p);
    int64_t at = first_lane(N), stride = next_lane(N);
    for (; at + N <= k.count; at += stride) {
        float v[N];
        load<N>(x + at, v);
        drop_adjacent<N>(element_dropout_draw(k.key, step, k.site, (uint64_t)at / DROPOUT_DRAW), at, least, k.factor, v);
        store<N>(y + at, v);
    }
    for (; at < k.count; at++)
        y[at] = from_float<T>(element_keeps(k.key, step, k.site, (uint64_t)at, k.p) ? to_float(x[at]) * k.factor : 0.0f);
}

// One element a thread, because rows of any length begin anywhere in a draw.
template <typename T> __global__ void dropout_shared(const struct k_dropout k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.count) return;
    const uint64_t at = (uint64_t)(i / k.each * k.last + i % k.last);
    const float x = to_float(((const T *)k.x)[i]);
    ((T *)k.y)[i] = from_float<T>(element_keeps(k.key, (uint32_t)*k.step, k.site, at, k.p) ? x * k.factor : 0.0f);
}

K_LAUNCHER(k_dropout)
{
    const struct k_dropout *k = (const struct k_dropout *)args;
    if (k->each) {
        BY_FLOAT(k->type, T, return launch(dropout_shared<T>, blocks_for(k->count), K_BLOCK, stream, *k));
    }
    BY_FLOAT(k->type, T, return launch(dropout<T>, stride_blocks(k->count, wide<T>::N), K_BLOCK, stream, *k));
}

// ---- random: a draw serves four elements

template <typename T> __global__ void random_numbers(const struct k_random k)
{
    const int64_t at = first_lane(4);
    if (at >= k.count) return;
    const struct rng4 r = element_random_draw(k.key, (uint32_t)*k.step, k.site, (uint64_t)at);
    float v[4];
    if (k.normal) {
        element_normals(r.v[0], r.v[1], &v[0], &v[1]);
        element_normals(r.v[2], r.v[3], &v[2], &v[3]);
    } else {
        for (int i = 0; i < 4; i++) v[i] = rng_unit(r.v[i]);
    }
    for (int i = 0; i < 4; i++) v[i] = k.a + k.b * v[i];
    if (at + 4 <= k.count) store<4>((T *)k.y + at, v);
    else
        for (int i = 0; i < 4 && at + i < k.count; i++) ((T *)k.y)[at + i] = from_float<T>(v[i]);
}

K_LAUNCHER(k_random)
{
    const struct k_random *k = (const struct k_random *)args;
    BY_FLOAT(k->type, T, return launch(random_numbers<T>, blocks_for(k_divide_up(k->count, 4)), K_BLOCK, stream, *k));
}

// ---- mask

template <typename T> __global__ void mask(const struct k_mask k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.count) return;
    const int64_t row = i / k.row, t = (i - row * k.row) / k.below, sample = row / k.each;
    const bool in = t >= (k.first ? k.first[sample] : 0) && t < k.length[sample];
    ((T *)k.y)[i] = in ? ((const T *)k.x)[i] : from_float<T>(k.fill);
}

K_LAUNCHER(k_mask)
{
    const struct k_mask *k = (const struct k_mask *)args;
    BY_FLOAT(k->type, T, return launch(mask<T>, blocks_for(k->count), K_BLOCK, stream, *k));
}
