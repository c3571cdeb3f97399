// SPDX-License-Identifier: Apache-2.0
// The loss of a row and its gradient: logits are read twice, the second time from the cache, and written once. Sums are over
// threads in a fixed order. Invariant: every exponential is of z - top, which is at most 0, so large logits cannot overflow.
#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_linear_xent.h"

__device__ static inline float logit_of(const struct k_linear_xent &k, float z, int64_t i)
{
    if (k.bias) z += k.bias[i];
    return k.cap > 0.0f ? k.cap * element_tanh(z / k.cap) : z;
}

// The largest of a block, returned to every thread.
__device__ static inline float block_most(float x, float (&scratch)[K_BLOCK / K_WARP])
{
    x = warp_most(x);
    if (threadIdx.x % K_WARP == 0) scratch[threadIdx.x / K_WARP] = x;
    __syncthreads();
    for (int i = 0; i < K_BLOCK / K_WARP; i++) x = fmaxf(x, scratch[i]);
    __syncthreads();
    return x;
}

// Of the N elements at i, the number that are classes; the others are padding.
template <int N> __device__ static inline int classes_at(const struct k_linear_xent &k, int64_t i)
{
    return k.classes - i < N ? (int)(k.classes - i) : N;
}

struct row_sums {
    float top, power, flat, above;  // of e^(z - top), of z - origin; classes that rank above the label
};

template <typename T, int N>
__device__ static inline row_sums row_sums_of(const struct k_linear_xent &k, const T *z, int64_t label, float own)
{
    row_sums s = {-3e38f, 0.0f, 0.0f, 0.0f};
    for (int64_t i = (int64_t)threadIdx.x * N; i < k.classes; i += K_BLOCK * N) {
        float v[N], higher = s.top;
        const int n = classes_at<N>(k, i);
        load<N>(z + i, v);
        for (int j = 0; j < N; j++)
            if (j < n) v[j] = logit_of(k, v[j], i + j), higher = fmaxf(higher, v[j]);
        s.power *= element_exp(s.top - higher);
        s.top = higher;
        for (int j = 0; j < N; j++) {
            if (j >= n) continue;
            s.power += element_exp(v[j] - s.top);
            s.flat += v[j] - own;
            s.above += v[j] > own || (v[j] == own && i + j < label) ? 1.0f : 0.0f;
        }
    }
    return s;
}

template <typename T, int N>
__device__ static inline void row_back(const struct k_linear_xent &k, T *z, int64_t label, float top, float part, float weight)
{
    const float even = k.smoothing / (float)k.classes;
    for (int64_t i = (int64_t)threadIdx.x * N; i < k.classes; i += K_BLOCK * N) {
        float v[N];
        const int n = classes_at<N>(k, i);
        load<N>(z + i, v);
        for (int j = 0; j < N; j++) {
            if (j >= n) continue;
            const float logit = logit_of(k, v[j], i + j), y = k.cap > 0.0f ? logit / k.cap : 0.0f;
            const float target = even + (i + j == label ? 1.0f - k.smoothing : 0.0f);
            v[j] = (element_exp(logit - top) * part - target) * weight * (1.0f - y * y);
        }
        store<N>(z + i, v);
    }
}

template <typename T, int N> __global__ void linear_xent(const struct k_linear_xent k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const int64_t row = k.first + (int64_t)blockIdx.x;
    T *z = (T *)k.z + (int64_t)blockIdx.x * k.width;
    const int64_t given = k.label == U8 ? ((const uint8_t *)k.labels)[row] : ((const int32_t *)k.labels)[row];
    const bool counts = given >= 0 && given < k.classes;
    const int64_t label = counts ? given : 0;
    const float own = logit_of(k, to_float(z[label]), label), weight = !counts ? 0.0f : k.weights ? k.weights[row] : 1.0f;
    row_sums s = row_sums_of<T, N>(k, z, label, own);
    const float top = block_most(s.top, scratch);
    const float power = block_sum<K_BLOCK>(s.power * element_exp(s.top - top), scratch);
    const float flat = block_sum<K_BLOCK>(s.flat, scratch), above = block_sum<K_BLOCK>(s.above, scratch);
    if (threadIdx.x == 0) {
        const float loss = logf(power) + (top - own);  // log sum - own
        const float even = k.smoothing > 0.0f ? k.smoothing * (loss - flat / (float)k.classes) : 0.0f;  // flat may be infinite
        k.losses[row] = counts ? ((1.0f - k.smoothing) * loss + even) * weight : 0.0f;
        k.counted[row] = weight;
        if (k.hits) k.hits[row] = counts && own == own && above == 0.0f ? 1.0f : 0.0f;
    }
    if (!k.back) return;
    if (counts) {
        row_back<T, N>(k, z, label, top, 1.0f / power, weight);
        return;
    }
    float zeros[N] = {0.0f};
    for (int64_t i = (int64_t)threadIdx.x * N; i < k.classes; i += K_BLOCK * N) store<N>(z + i, zeros);
}

// A thread adds up the rows of a class, in their order.
template <typename T> __global__ void linear_xent_bias(const struct k_linear_xent k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.classes) return;
    float sum = 0.0f;
    for (int64_t r = 0; r < k.rows; r++) sum += to_float(((const T *)k.z)[r * k.width + i]);
    k.dbias[i] = k.first > 0 ? k.dbias[i] + sum : sum;
}

static __global__ void linear_xent_sum(const struct k_linear_xent_sum k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    float sum = 0.0f, counts = 0.0f;
    for (int64_t i = threadIdx.x; i < k.all; i += K_BLOCK) {
        sum += k.losses[i], counts += k.counted[i];
        if (k.rows) k.rows[i] = k.losses[i];
    }
    sum = block_sum<K_BLOCK>(sum, scratch);
    counts = block_sum<K_BLOCK>(counts, scratch);
    if (threadIdx.x > 0) return;
    if (k.loss) *k.loss = k.mean && counts != 0.0f ? sum / counts : sum;
    if (k.count) *k.count = counts;
}

template <typename T> __global__ void linear_xent_grad(const struct k_linear_xent_grad k)
{
    const float factor = *k.dloss / (k.count && *k.count != 0.0f ? *k.count : 1.0f);
    if (factor == 1.0f && k.d == k.to) return;
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i < k.elements) ((T *)k.to)[i] = from_float<T>(to_float(((const T *)k.d)[i]) * factor);
}

static cudaError_t rows(const struct k_linear_xent *k, cudaStream_t stream)
{
    BY_FLOAT(k->type, T,
             return k->width % wide<T>::N == 0 ? launch(linear_xent<T, wide<T>::N>, (unsigned)k->rows, K_BLOCK, stream, *k)
                                               : launch(linear_xent<T, 1>, (unsigned)k->rows, K_BLOCK, stream, *k));
}

static cudaError_t columns(const struct k_linear_xent *k, cudaStream_t stream)
{
    BY_FLOAT(k->type, T, return launch(linear_xent_bias<T>, blocks_for(k->classes), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_linear_xent)
{
    const struct k_linear_xent *k = (const struct k_linear_xent *)args;
    TRY_CUDA(rows(k, stream));
    return k->dbias ? columns(k, stream) : cudaSuccess;
}

K_LAUNCHER(k_linear_xent_sum)
{
    return launch(linear_xent_sum, 1, K_BLOCK, stream, *(const struct k_linear_xent_sum *)args);
}

K_LAUNCHER(k_linear_xent_grad)
{
    const struct k_linear_xent_grad *k = (const struct k_linear_xent_grad *)args;
    BY_FLOAT(k->type, T, return launch(linear_xent_grad<T>, blocks_for(k->elements), K_BLOCK, stream, *k));
}
