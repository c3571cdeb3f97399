// SPDX-License-Identifier: Apache-2.0
// Shared by the scans of LSTM and GRU: a block goes through all words of a few samples of one direction.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"

enum { K_SCAN_SAMPLES = 4 };  // of a block

__device__ static inline int length_of(const int32_t *length, int b, int words)
{
    int n = length ? length[b] : words;
    return n < 0 ? 0 : n > words ? words : n;
}

// A block's samples: of direction blockIdx.y, from blockIdx.x * K_SCAN_SAMPLES on.
struct group {
    int first, count, d, most;  // most: words of the longest
    const int *n;               // words of each
};

// `n` is shared memory. All threads call it.
template <typename K> __device__ static inline group group_of(const K &k, int (&n)[K_SCAN_SAMPLES])
{
    group s = {(int)blockIdx.x * K_SCAN_SAMPLES, K_SCAN_SAMPLES, (int)blockIdx.y, 0, n};
    if (k.samples - s.first < K_SCAN_SAMPLES) s.count = k.samples - s.first;
    const int b = (int)threadIdx.x;
    if (b < K_SCAN_SAMPLES) n[b] = b < s.count ? length_of(k.length, s.first + b, k.words) : 0;
    __syncthreads();
    for (int i = 0; i < K_SCAN_SAMPLES; i++) s.most = n[i] > s.most ? n[i] : s.most;
    return s;
}

// Where unit j of word i, in the order of the direction, is in [B,T,D,H].
template <typename K> __device__ static inline int64_t unit_at(const K &k, const group &s, int b, int i, int j)
{
    const int64_t row = (int64_t)(s.first + b) * k.words + (s.d && i < s.n[b] ? s.n[b] - 1 - i : i);
    return (row * k.directions + s.d) * k.units + j;
}

// The weights w[D,gates H,H] in the type of the activations; forward as [D,H,gates H], so that neighbours read adjacent ones.
struct k_pack {
    const float *w;
    void *packed;
    int directions, units, gates;
    bool forward;
};

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) pack_weights(const struct k_pack k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x, side = (int64_t)k.gates * k.units, of = side * k.units;
    if (i >= k.directions * of) return;
    const int64_t at = i % of;
    ((T *)k.packed)[i] = from_float<T>(k.w[i - at + (k.forward ? at % side * k.units + at / side : at)]);
}

template <typename T, typename K> static cudaError_t pack(const K *k, int gates, cudaStream_t stream)
{
    const struct k_pack p = {k->w, k->packed, k->directions, k->units, gates, k->x != NULL};
    return launch(pack_weights<T>, blocks_for((int64_t)p.directions * gates * p.units * p.units), K_BLOCK, stream, p);
}

// The gradients d of the gates v of an LSTM's cell, in the order input, forget, candidate, output. all, dc: gradients of the
// state and of the cell; before, top: the cell of the word before, tanh of this word's. Returns the gradient of the cell before.
__device__ static inline float lstm_cell_back(const float (&v)[4], float all, float dc, float before, float top,
                                              float (&d)[4])
{
    dc += all * v[3] * (1.0f - top * top);
    d[0] = dc * v[2] * v[0] * (1.0f - v[0]), d[1] = dc * before * v[1] * (1.0f - v[1]);
    d[2] = dc * v[0] * (1.0f - v[2] * v[2]), d[3] = all * top * v[3] * (1.0f - v[3]);
    return dc * v[1];
}

// sums[b] = the product of the group's rows in shared memory, K_SCAN_SAMPLES wide, and a column of the weights.
template <typename T>
__device__ static inline void multiply(const T *w, int64_t pitch, const float *rows, int depth, float (&sum)[K_SCAN_SAMPLES])
{
    for (int b = 0; b < K_SCAN_SAMPLES; b++) sum[b] = 0.0f;
#pragma unroll 8
    for (int i = 0; i < depth; i++) {
        float row[K_SCAN_SAMPLES];
        const float one = to_float(w[i * pitch]);
        load<K_SCAN_SAMPLES>(rows + i * K_SCAN_SAMPLES, row);
        for (int b = 0; b < K_SCAN_SAMPLES; b++) sum[b] += one * row[b];
    }
}
