// SPDX-License-Identifier: Apache-2.0
// GRU: see k_gru.h. Numbers of a block's samples are adjacent: rows[part][unit][sample].
#include "runtime/cuda/kernels/k_gru.h"

#include "runtime/cuda/kernels/k_scan.cuh"

enum { SAMPLES = K_SCAN_SAMPLES, GATES = 3, KEPT = 4 };
static_assert((int)K_GRU_SAMPLES == (int)K_SCAN_SAMPLES, "rows of a block");

static dim3 groups_of(const struct k_gru *k)
{
    return dim3((unsigned)k_divide_up(k->samples, SAMPLES), (unsigned)k->directions);
}

// Part `part` of the block's rows.
__device__ static inline float *rows_of(const struct k_gru &k, int part)
{
    return k.rows + (((int64_t)blockIdx.x * k.directions + blockIdx.y) * K_GRU_ROWS + part) * k.units * SAMPLES;
}

__device__ static inline void clear_rows(const struct k_gru &k)
{
    float *rows = rows_of(k, 0);
    for (int i = (int)threadIdx.x; i < K_GRU_ROWS * k.units * SAMPLES; i += K_BLOCK) rows[i] = 0.0f;
    __syncthreads();
}

template <typename T> __device__ static inline float get(const void *from, int64_t i) { return to_float(((const T *)from)[i]); }
template <typename T> __device__ static inline void put(void *to, int64_t i, float x)
{
    if (to) ((T *)to)[i] = from_float<T>(x);
}
template <typename T> __device__ static inline float rounded(float x) { return to_float(from_float<T>(x)); }

// Gate `part` of the input.
template <typename T> __device__ static inline float input_of(const struct k_gru &k, int64_t at, int j, int part)
{
    return get<T>(k.x, (at - j) * GATES + part * k.units + j);
}

// ---- forward. Rows: the rounded states that are read and made in turn, the states, z and r h of the original unit, and sums.
enum { STATE = 2, UPDATE = 3, RESET = 4, SUMS = 5 };

// Parts [first, end) of the sums: the weights times `from`. All threads call it.
template <typename T>
__device__ static inline void multiply_parts(const struct k_gru &k, const T *w, int first, int end, const float *from)
{
    float *to = rows_of(k, SUMS);
    for (int r = first * k.units + (int)threadIdx.x; r < end * k.units; r += K_BLOCK) {
        float sum[SAMPLES];
        multiply(w + r, GATES * k.units, from, k.units, sum);
        for (int b = 0; b < SAMPLES; b++) to[r * SAMPLES + b] = sum[b];
    }
    __syncthreads();
}

// What goes into gate `part` of the state's side: sum and bias.
__device__ static inline float state_side(const struct k_gru &k, const group &s, int b, int j, int part)
{
    return rows_of(k, SUMS + part)[j * SAMPLES + b] + (k.bias ? k.bias[((int64_t)s.d * GATES + part) * k.units + j] : 0.0f);
}

template <typename T>
__device__ static inline void finish_unit(const struct k_gru &k, int64_t at, int j, int b, float z, float fresh, float *next)
{
    float *state = rows_of(k, STATE) + j * SAMPLES + b;
    *state = fresh + z * (*state - fresh);
    next[j * SAMPLES + b] = rounded<T>(*state);
    put<T>(k.h, at, *state);
    put<T>(k.kept, (at - j) * KEPT + k.units + j, z), put<T>(k.kept, (at - j) * KEPT + 3 * k.units + j, fresh);
}

// Gates, and unless the unit is original the new state.
template <typename T>
__device__ static inline void first_unit(const struct k_gru &k, const group &s, int b, int i, int j, float *next)
{
    const int64_t at = unit_at(k, s, b, i, j);
    const float r = element_sigmoid(input_of<T>(k, at, j, 0) + state_side(k, s, b, j, 0));
    const float z = element_sigmoid(input_of<T>(k, at, j, 1) + state_side(k, s, b, j, 1));
    const float product = k.original ? r * rows_of(k, i % 2)[j * SAMPLES + b] : state_side(k, s, b, j, 2);
    put<T>(k.kept, (at - j) * KEPT + j, r), put<T>(k.kept, (at - j) * KEPT + 2 * k.units + j, product);
    if (!k.original) return finish_unit<T>(k, at, j, b, z, element_tanh(input_of<T>(k, at, j, 2) + r * product), next);
    rows_of(k, RESET)[j * SAMPLES + b] = rounded<T>(product), rows_of(k, UPDATE)[j * SAMPLES + b] = z;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) gru(const struct k_gru k)
{
    __shared__ int n[SAMPLES];
    const group s = group_of(k, n);
    const T *w = (const T *)k.packed + (int64_t)s.d * GATES * k.units * k.units;
    clear_rows(k);
    for (int i = 0; i < s.most; i++) {
        float *next = rows_of(k, 1 - i % 2);
        multiply_parts(k, w, 0, k.original ? 2 : GATES, rows_of(k, i % 2));
        for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK)
            if (i < s.n[e / k.units]) first_unit<T>(k, s, e / k.units, i, e % k.units, next);
        __syncthreads();
        if (!k.original) continue;
        multiply_parts(k, w, 2, GATES, rows_of(k, RESET));
        for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK) {
            const int j = e % k.units, b = e / k.units;
            if (i >= s.n[b]) continue;
            const int64_t at = unit_at(k, s, b, i, j);
            const float fresh = element_tanh(input_of<T>(k, at, j, 2) + state_side(k, s, b, j, 2));
            finish_unit<T>(k, at, j, b, rows_of(k, UPDATE)[j * SAMPLES + b], fresh, next);
        }
        __syncthreads();
    }
    for (int64_t e = threadIdx.x; e < (int64_t)s.count * k.words * k.units; e += K_BLOCK) {
        const int j = (int)(e % k.units), i = (int)(e / k.units % k.words), b = (int)(e / k.units / k.words);
        if (i < s.n[b]) continue;
        const int64_t at = unit_at(k, s, b, i, j);
        put<T>(k.h, at, 0.0f);
        for (int part = 0; part < KEPT; part++) put<T>(k.kept, (at - j) * KEPT + part * k.units + j, 0.0f);
    }
}

K_LAUNCHER(k_gru)
{
    const struct k_gru *k = (const struct k_gru *)args;
    BY_FLOAT(k->type, T, {
        TRY_CUDA(pack<T>(k, GATES, stream));
        return launch(gru<T>, groups_of(k), K_BLOCK, stream, *k);
    });
}

// ---- backward. Rows: the rounded gradients of the products of r, z and n, the gradient of the state, and that of r h.
enum { BACK = 3, BACK_RESET = 4 };

// to[unit] += parts [first, end) of the gradients times the weights. All threads call it.
template <typename T>
__device__ static inline void multiply_back(const struct k_gru &k, const T *w, int first, int end, float *to)
{
    __syncthreads();
    for (int j = (int)threadIdx.x; j < k.units; j += K_BLOCK) {
        float sum[SAMPLES];
        multiply(w + (int64_t)first * k.units * k.units + j, k.units, rows_of(k, first), (end - first) * k.units, sum);
        for (int b = 0; b < SAMPLES; b++) to[j * SAMPLES + b] += sum[b];
    }
    __syncthreads();
}

// The gradients of a unit at word i, whose sample has it; with the original unit without that of r.
template <typename T>
__device__ static inline void back_unit(const struct k_gru &k, const group &s, int b, int i, int j)
{
    const int64_t at = unit_at(k, s, b, i, j), from = (at - j) * KEPT + j, to = (at - j) * GATES + j;
    const int64_t part = (int64_t)k.units * SAMPLES;
    float *row = rows_of(k, 0) + j * SAMPLES + b;
    const float r = get<T>(k.gates, from), z = get<T>(k.gates, from + k.units), q = get<T>(k.gates, from + 2 * k.units);
    const float fresh = get<T>(k.gates, from + 3 * k.units);
    const float before = i > 0 ? get<T>(k.outputs, unit_at(k, s, b, i - 1, j)) : 0.0f;
    const float all = get<T>(k.dh, at) + row[BACK * part], d = all * (1.0f - z) * (1.0f - fresh * fresh);
    const float dz = all * (before - fresh) * z * (1.0f - z);
    row[BACK * part] = all * z, row[part] = rounded<T>(dz);
    put<T>(k.before, at, before), put<T>(k.dx, to + k.units, dz), put<T>(k.dx, to + 2 * k.units, d);
    row[2 * part] = rounded<T>(k.original ? d : d * r);
    if (k.original) return;
    const float dr = d * q * r * (1.0f - r);
    row[0] = rounded<T>(dr);
    put<T>(k.dx, to, dr), put<T>(k.du, to, dr), put<T>(k.du, to + k.units, dz), put<T>(k.du, to + 2 * k.units, d * r);
}

// Of the original unit, after the gradient of r h is known.
template <typename T>
__device__ static inline void back_reset(const struct k_gru &k, const group &s, int b, int i, int j)
{
    const int64_t at = unit_at(k, s, b, i, j);
    const int e = j * SAMPLES + b;
    const float r = get<T>(k.gates, (at - j) * KEPT + j);
    const float before = i > 0 ? get<T>(k.outputs, unit_at(k, s, b, i - 1, j)) : 0.0f;
    const float d = rows_of(k, BACK_RESET)[e], dr = d * before * r * (1.0f - r);
    rows_of(k, BACK)[e] += d * r, rows_of(k, 0)[e] = rounded<T>(dr), rows_of(k, BACK_RESET)[e] = 0.0f;
    put<T>(k.dx, (at - j) * GATES + j, dr);
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) gru_grad(const struct k_gru k)
{
    __shared__ int n[SAMPLES];
    const group s = group_of(k, n);
    const T *w = (const T *)k.packed + (int64_t)s.d * GATES * k.units * k.units;
    clear_rows(k);
    for (int i = s.most - 1; i >= 0; i--) {
        for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK)
            if (i < s.n[e / k.units]) back_unit<T>(k, s, e / k.units, i, e % k.units);
        if (k.original) {
            multiply_back(k, w, 2, GATES, rows_of(k, BACK_RESET));
            for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK)
                if (i < s.n[e / k.units]) back_reset<T>(k, s, e / k.units, i, e % k.units);
        }
        multiply_back(k, w, 0, k.original ? 2 : GATES, rows_of(k, BACK));
    }
    for (int64_t e = threadIdx.x; e < (int64_t)s.count * k.words * k.units; e += K_BLOCK) {
        const int j = (int)(e % k.units), i = (int)(e / k.units % k.words), b = (int)(e / k.units / k.words);
        if (i < s.n[b]) continue;
        const int64_t at = unit_at(k, s, b, i, j);
        put<T>(k.before, at, 0.0f);
        for (int part = 0; part < GATES; part++)
            put<T>(k.dx, (at - j) * GATES + part * k.units + j, 0.0f), put<T>(k.du, (at - j) * GATES + part * k.units + j, 0.0f);
    }
}

K_LAUNCHER(k_gru_grad)
{
    const struct k_gru *k = (const struct k_gru *)args;
    BY_FLOAT(k->type, T, {
        TRY_CUDA(pack<T>(k, GATES, stream));
        return launch(gru_grad<T>, groups_of(k), K_BLOCK, stream, *k);
    });
}
