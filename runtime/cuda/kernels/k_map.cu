// SPDX-License-Identifier: Apache-2.0
// A kernel for each formula and one for its gradients, so that a sum needs no registers of a gelu. A thread takes 16 bytes at a
// time and strides over the tensor. Cost: every operand is read once, every result written once.
#include "runtime/cuda/kernels/k_map.h"

#include "runtime/cuda/kernels/k_layout.cuh"

// Up to N elements; the last vector of a tensor may be short. Loops over N are unrolled, so that arrays stay in registers.
template <typename T, int N> __device__ static inline void load_some(const void *from, int64_t at, int n, float (&into)[N])
{
    const T *x = (const T *)from + at;
    if (!from) return;
    if (n == N) load<N>(x, into);
    else
        for (int i = 0; i < N; i++)
            if (i < n) into[i] = to_float(x[i]);
}
template <typename T, int N> __device__ static inline void store_some(T *y, int n, const float (&from)[N])
{
    if (n == N) store<N>(y, from);
    else
        for (int i = 0; i < N; i++)
            if (i < n) y[i] = from_float<T>(from[i]);
}

// Where an operand is whose `period` elements are repeated.
struct repeated {
    int64_t offset, step, period;
};
__device__ static inline repeated repeated_from(int64_t at, int64_t stride, int64_t period)
{
    repeated r = {at, stride, period};
    if (period) r.offset %= period, r.step %= period;
    return r;
}
__device__ static inline void repeated_move(repeated *r)
{
    r->offset += r->step;
    if (r->offset >= r->period) r->offset -= r->period;
}
template <typename T, int N>
__device__ static inline void load_repeated(const void *from, const repeated &r, int n, float (&into)[N])
{
    if (!from) return;
    if (r.period % N == 0) {
        load_some<T, N>(from, r.offset, n, into);
        return;
    }
    int64_t offset = r.offset;
    for (int i = 0; i < N; i++) {
        if (i < n) into[i] = to_float(((const T *)from)[offset]);
        if (++offset == r.period) offset = 0;
    }
}

// Part 0 is the value, part i dy times the slope of input i.
template <int FORMULA, int PART> struct formula;
#define A v[0][i]
#define B v[1][i]
#define C v[2][i]
#define Y v[3][i]
#define P k.p
#define Q k.q
#define F(name) element_##name
#define PART_OF(ID, part, expression)                                                                                  \
    template <> struct formula<MAP_##ID, part> {                                                                       \
        template <int N>                                                                                               \
        __device__ static inline float at(const struct k_map &k, const float (&v)[K_MAP_INPUTS][N], int i)             \
        {                                                                                                              \
            (void)k, (void)v, (void)i;                                                                                 \
            return expression;                                                                                         \
        }                                                                                                              \
    };
#define MAP(ID, name, inputs, flops, back, value, da, db, dc)                                                          \
    PART_OF(ID, 0, value) PART_OF(ID, 1, v[4][i] * (da)) PART_OF(ID, 2, v[4][i] * (db)) PART_OF(ID, 3, v[4][i] * (dc))
#include "runtime/map.def"
#undef MAP

template <typename T, int FORMULA, int PART, int N>
__device__ static inline void map_part(const struct k_map &k, const float (&v)[K_MAP_INPUTS][N], int64_t at, int n)
{
    if (!k.out[PART]) return;
    float result[N];
    for (int i = 0; i < N; i++) result[i] = formula<FORMULA, PART>::at(k, v, i);
    store_some<T, N>((T *)k.out[PART] + at, n, result);
}

template <typename T, int FORMULA, int INPUTS, bool BACK> __global__ void map_elements(const struct k_map k)
{
    enum { N = wide<T>::N };
    int64_t at = first_lane(N), stride = next_lane(N);
    repeated b = repeated_from(at, stride, k.period[0]), c = repeated_from(at, stride, k.period[1]);
    for (; at < k.count; at += stride) {
        const int n = k.count - at < N ? (int)(k.count - at) : N;
        float v[K_MAP_INPUTS][N] = {};
        load_some<T, N>(k.in[0], at, n, v[0]);
        if (INPUTS > 1) load_repeated<T, N>(k.in[1], b, n, v[1]);
        if (INPUTS > 2) load_repeated<T, N>(k.in[2], c, n, v[2]);
        if (BACK) {
            load_some<T, N>(k.in[3], at, n, v[3]);
            load_some<T, N>(k.in[4], at, n, v[4]);
            map_part<T, FORMULA, 1, N>(k, v, at, n);
            if (INPUTS > 1) map_part<T, FORMULA, 2, N>(k, v, at, n);
            if (INPUTS > 2) map_part<T, FORMULA, 3, N>(k, v, at, n);
        } else {
            map_part<T, FORMULA, 0, N>(k, v, at, n);
        }
        if (INPUTS > 1) repeated_move(&b);
        if (INPUTS > 2) repeated_move(&c);
    }
}

template <typename T> static cudaError_t map_of(const struct k_map *k, cudaStream_t stream)
{
    const unsigned blocks = stride_blocks(k->count, wide<T>::N);
    switch (k->formula) {
#define MAP(ID, name, inputs, ...)                                                                                     \
    case MAP_##ID:                                                                                                     \
        if (k->in[4]) return launch(map_elements<T, MAP_##ID, inputs, true>, blocks, K_BLOCK, stream, *k);             \
        return launch(map_elements<T, MAP_##ID, inputs, false>, blocks, K_BLOCK, stream, *k);
#include "runtime/map.def"
#undef MAP
    default: return cudaErrorInvalidValue;
    }
}

K_LAUNCHER(k_map)
{
    const struct k_map *k = (const struct k_map *)args;
    BY_FLOAT(k->type, T, return map_of<T>(k, stream));
}
