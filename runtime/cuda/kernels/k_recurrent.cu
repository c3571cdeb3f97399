// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: see k_recurrent.h.
#include "runtime/cuda/kernels/k_recurrent.h"

#include "runtime/cuda/kernels/k_scan.cuh"

// ---- SRU
struct unit {
    int b, d, j, n;         // sample, direction, hidden unit; words of the sample
    int parts;
    float bias_forget, bias_reset, mask;
    bool there;
};

__device__ static inline unit unit_of(const struct k_sru &k)
{
    unit s;
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    const int wide = k.directions * k.units, at = (int)(i % wide);
    s.there = i < (int64_t)k.samples * wide;
    s.b = (int)(i / wide), s.d = at / k.units, s.j = at % k.units, s.parts = k.x ? 3 : 4;
    if (!s.there) return s;
    s.n = length_of(k.length, s.b, k.words);
    s.bias_forget = k.bias[2 * s.d * k.units + s.j], s.bias_reset = k.bias[(2 * s.d + 1) * k.units + s.j];
    s.mask = 1.0f;
    if (k.key) s.mask = element_keeps(k.key, (uint32_t)*k.step, k.site, (uint64_t)i, k.p) ? k.factor : 0.0f;
    return s;
}

// Where the unit of word i, in the order of the direction, is in [B,T,D,H]; and its candidate in [B,T,D,parts,H].
__device__ static inline int64_t unit_at(const struct k_sru &k, const unit &s, int i)
{
    const int64_t row = (int64_t)s.b * k.words + (s.d && i < s.n ? s.n - 1 - i : i);
    return (row * k.directions + s.d) * k.units + s.j;
}
__device__ static inline int64_t part_at(const unit &s, int64_t at) { return (at - s.j) * s.parts + s.j; }

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) sru(const struct k_sru k)
{
    const unit s = unit_of(k);
    if (!s.there) return;
    const T *u = (const T *)k.u, *x = (const T *)k.x;
    float c = 0.0f;
    for (int i = 0; i < s.n; i++) {
        const int64_t at = unit_at(k, s, i), from = part_at(s, at);
        const float candidate = to_float(u[from]), skip = to_float(x ? x[at] : u[from + 3 * k.units]);
        const float f = element_sigmoid(to_float(u[from + k.units]) + s.bias_forget);
        const float r = element_sigmoid(to_float(u[from + 2 * k.units]) + s.bias_reset);
        c = f * (c - candidate) + candidate;
        if (k.c) ((T *)k.c)[at] = from_float<T>(c);
        if (k.h) ((T *)k.h)[at] = from_float<T>(r * (s.mask * act_value(k.act, c) - skip) + skip);
    }
    for (int i = s.n; i < k.words; i++) {
        const int64_t at = unit_at(k, s, i);
        if (k.c) ((T *)k.c)[at] = from_float<T>(0.0f);
        if (k.h) ((T *)k.h)[at] = from_float<T>(0.0f);
    }
}

K_LAUNCHER(k_sru)
{
    const struct k_sru *k = (const struct k_sru *)args;
    const unsigned blocks = blocks_for((int64_t)k->samples * k->directions * k->units);
    BY_FLOAT(k->type, T, return launch(sru<T>, blocks, K_BLOCK, stream, *k));
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) sru_grad(const struct k_sru k)
{
    const unit s = unit_of(k);
    if (!s.there) return;
    const T *u = (const T *)k.u, *x = (const T *)k.x, *states = (const T *)k.states;
    T *du = (T *)k.du, *dx = (T *)k.dx;
    float dc = 0.0f, dbias_forget = 0.0f, dbias_reset = 0.0f;
    float now = s.n > 0 ? to_float(states[unit_at(k, s, s.n - 1)]) : 0.0f;
    for (int i = s.n - 1; i >= 0; i--) {
        const int64_t at = unit_at(k, s, i), from = part_at(s, at);
        const float before = i > 0 ? to_float(states[unit_at(k, s, i - 1)]) : 0.0f, g = to_float(((const T *)k.dh)[at]);
        const float candidate = to_float(u[from]), skip = to_float(x ? x[at] : u[from + 3 * k.units]);
        const float f = element_sigmoid(to_float(u[from + k.units]) + s.bias_forget);
        const float r = element_sigmoid(to_float(u[from + 2 * k.units]) + s.bias_reset);
        const float dr = g * (s.mask * act_value(k.act, now) - skip) * r * (1.0f - r);
        const float d = dc + g * r * s.mask * act_slope(k.act, now), df = d * (before - candidate) * f * (1.0f - f);
        if (du) {
            du[from] = from_float<T>(d * (1.0f - f));
            du[from + k.units] = from_float<T>(df);
            du[from + 2 * k.units] = from_float<T>(dr);
            if (!x) du[from + 3 * k.units] = from_float<T>(g * (1.0f - r));
        }
        if (dx) dx[at] = from_float<T>(g * (1.0f - r));
        dbias_forget += df, dbias_reset += dr;
        dc = d * f, now = before;
    }
    for (int i = s.n; i < k.words; i++) {
        const int64_t at = unit_at(k, s, i), from = part_at(s, at);
        for (int part = 0; du && part < s.parts; part++) du[from + part * k.units] = from_float<T>(0.0f);
        if (dx) dx[at] = from_float<T>(0.0f);
    }
    if (!k.dbias) return;
    float *partial = k.partial + ((int64_t)s.b * k.directions + s.d) * 2 * k.units + s.j;
    partial[0] = dbias_forget, partial[k.units] = dbias_reset;
}

K_LAUNCHER(k_sru_grad)
{
    const struct k_sru *k = (const struct k_sru *)args;
    const int64_t wide = (int64_t)k->directions * k->units;
    const unsigned blocks = blocks_for(k->samples * wide);
    cudaError_t error = cudaErrorInvalidValue;
    switch (k->type) {
    case F32: error = launch(sru_grad<float>, blocks, K_BLOCK, stream, *k); break;
    case BF16: error = launch(sru_grad<__nv_bfloat16>, blocks, K_BLOCK, stream, *k); break;
    case F16: error = launch(sru_grad<__half>, blocks, K_BLOCK, stream, *k); break;
    default: break;
    }
    if (error != cudaSuccess || !k->dbias) return error;
    struct k_finish finish = {k->partial, k->dbias, F32, 1.0f, 2 * wide, 2 * wide, k->samples};
    return k_finish(stream, &finish);
}

// ---- LSTM
enum { SAMPLES = K_SCAN_SAMPLES, UNITS = K_LSTM_UNITS, GATES = 4 };

__device__ static inline int64_t gate_at(int64_t at, int j) { return (at - j) * GATES + j; }

// Where a state of unit j is in [B,D,H].
__device__ static inline int64_t state_at(const struct k_lstm &k, const group &s, int b, int j)
{
    return ((int64_t)(s.first + b) * k.directions + s.d) * k.units + j;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) lstm(const struct k_lstm k)
{
    alignas(16) __shared__ float state[UNITS * SAMPLES], gates[GATES * UNITS * SAMPLES];
    __shared__ float cell[UNITS * SAMPLES];
    __shared__ int n[SAMPLES];
    const group s = group_of(k, n);
    const T *w = (const T *)k.packed + (int64_t)s.d * GATES * k.units * k.units;
    const int side = GATES * k.units;
    for (int i = (int)threadIdx.x; i < k.units * SAMPLES; i += K_BLOCK) {
        const int j = i / SAMPLES, b = i % SAMPLES;
        const int64_t at = b < s.count ? state_at(k, s, b, j) : 0;
        state[i] = k.h0 && b < s.count ? to_float(((const T *)k.h0)[at]) : 0.0f;
        cell[i] = k.c0 && b < s.count ? k.c0[at] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < s.most; i++) {
        for (int r = (int)threadIdx.x; r < side; r += K_BLOCK) {
            float sum[SAMPLES];
            multiply(w + r, side, state, k.units, sum);
            for (int b = 0; b < SAMPLES; b++) gates[r * SAMPLES + b] = sum[b];
        }
        __syncthreads();
        for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK) {
            const int j = e % k.units, b = e / k.units;
            if (i >= s.n[b]) continue;
            const int64_t at = unit_at(k, s, b, i, j), from = gate_at(at, j);
            float v[GATES];
#pragma unroll
            for (int part = 0; part < GATES; part++) {
                const float z = to_float(((const T *)k.x)[from + part * k.units]) + gates[(part * k.units + j) * SAMPLES + b];
                v[part] = part == 2 ? element_tanh(z) : element_sigmoid(z);
                if (k.gates) ((T *)k.gates)[from + part * k.units] = from_float<T>(v[part]);
            }
            const float c = v[1] * cell[j * SAMPLES + b] + v[0] * v[2];
            const T h = from_float<T>(v[3] * element_tanh(c));
            cell[j * SAMPLES + b] = c, state[j * SAMPLES + b] = to_float(h);
            if (k.c) ((T *)k.c)[at] = from_float<T>(c);
            if (k.h) ((T *)k.h)[at] = h;
        }
        __syncthreads();
    }
    for (int i = (int)threadIdx.x; i < s.count * k.units; i += K_BLOCK) {
        const int j = i % k.units, b = i / k.units;
        const int64_t at = state_at(k, s, b, j);
        if (k.h_last) ((T *)k.h_last)[at] = from_float<T>(state[j * SAMPLES + b]);
        if (k.c_last) k.c_last[at] = cell[j * SAMPLES + b];
    }
    for (int64_t e = threadIdx.x; e < (int64_t)s.count * k.words * k.units; e += K_BLOCK) {
        const int j = (int)(e % k.units), i = (int)(e / k.units % k.words), b = (int)(e / k.units / k.words);
        if (i < s.n[b]) continue;
        const int64_t at = unit_at(k, s, b, i, j), from = gate_at(at, j);
        for (int part = 0; k.gates && part < GATES; part++) ((T *)k.gates)[from + part * k.units] = from_float<T>(0.0f);
        if (k.c) ((T *)k.c)[at] = from_float<T>(0.0f);
        if (k.h) ((T *)k.h)[at] = from_float<T>(0.0f);
    }
}

static dim3 groups_of(const struct k_lstm *k)
{
    return dim3((unsigned)k_divide_up(k->samples, SAMPLES), (unsigned)k->directions);
}

// Computes the step of one word for which no product of states is needed. One thread computes one hidden unit.
template <typename T> static __global__ void __launch_bounds__(K_BLOCK) lstm_word(const struct k_lstm k)
{
    const int64_t at = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (at >= (int64_t)k.samples * k.directions * k.units) return;
    const int64_t from = gate_at(at, (int)(at % k.units));
    const bool there = length_of(k.length, (int)(at / k.units / k.directions), 1) > 0;
    float v[GATES] = {0.0f}, c = k.c0 ? k.c0[at] : 0.0f;
#pragma unroll
    for (int part = 0; part < GATES; part++) {
        const float z = to_float(((const T *)k.x)[from + part * k.units]);
        if (there) v[part] = part == 2 ? element_tanh(z) : element_sigmoid(z);
        if (k.gates) ((T *)k.gates)[from + part * k.units] = from_float<T>(v[part]);
    }
    if (there) c = v[1] * c + v[0] * v[2];
    const T h = from_float<T>(there ? v[3] * element_tanh(c) : 0.0f);
    if (k.c) ((T *)k.c)[at] = from_float<T>(there ? c : 0.0f);
    if (k.h) ((T *)k.h)[at] = h;
    if (k.h_last) ((T *)k.h_last)[at] = h;
    if (k.c_last) k.c_last[at] = c;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) lstm_word_grad(const struct k_lstm k)
{
    const int64_t at = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (at >= (int64_t)k.samples * k.directions * k.units) return;
    const int64_t from = gate_at(at, (int)(at % k.units));
    const bool there = length_of(k.length, (int)(at / k.units / k.directions), 1) > 0;
    float v[GATES], d[GATES] = {0.0f}, dc = k.dc_last ? k.dc_last[at] : 0.0f;
    if (there) {
#pragma unroll
        for (int part = 0; part < GATES; part++) v[part] = to_float(((const T *)k.activations)[from + part * k.units]);
        const float top = element_tanh(to_float(((const T *)k.states)[at])), first = k.c0 ? k.c0[at] : 0.0f;
        float all = k.dh ? to_float(((const T *)k.dh)[at]) : 0.0f;
        if (k.dh_last) all += to_float(((const T *)k.dh_last)[at]);
        dc = lstm_cell_back(v, all, dc, first, top, d);
    }
    for (int part = 0; k.dx && part < GATES; part++) ((T *)k.dx)[from + part * k.units] = from_float<T>(d[part]);
    if (k.before) ((T *)k.before)[at] = from_float<T>(0.0f);
    if (k.dc0) k.dc0[at] = dc;
}

static unsigned blocks_of_word(const struct k_lstm *k)
{
    return blocks_for((int64_t)k->samples * k->directions * k->units);
}

K_LAUNCHER(k_lstm)
{
    const struct k_lstm *k = (const struct k_lstm *)args;
    BY_FLOAT(k->type, T, {
        if (!k->w) return launch(lstm_word<T>, blocks_of_word(k), K_BLOCK, stream, *k);
        TRY_CUDA(pack<T>(k, GATES, stream));
        return launch(lstm<T>, groups_of(k), K_BLOCK, stream, *k);
    });
}

// Threads of a block for the product of gradients and weights: `across` columns, and the depth in `down` parts.
__device__ static inline int columns_across(int units)
{
    const int across = (units + K_WARP - 1) / K_WARP * K_WARP;
    return across < K_BLOCK ? across : K_BLOCK;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) lstm_grad(const struct k_lstm k)
{
    alignas(16) __shared__ float gates[GATES * UNITS * SAMPLES];
    __shared__ float back[UNITS * SAMPLES], cell[UNITS * SAMPLES], scratch[K_BLOCK * SAMPLES];
    __shared__ int n[SAMPLES];
    const group s = group_of(k, n);
    const T *w = (const T *)k.packed + (int64_t)s.d * GATES * k.units * k.units, *states = (const T *)k.states;
    const int side = GATES * k.units, across = columns_across(k.units), down = K_BLOCK / across;
    const int column = (int)threadIdx.x % across, part_of = (int)threadIdx.x / across, each = (side + down - 1) / down;
    for (int i = (int)threadIdx.x; i < k.units * SAMPLES; i += K_BLOCK) {
        const int j = i / SAMPLES, b = i % SAMPLES;
        back[i] = 0.0f, cell[i] = k.dc_last && b < s.count ? k.dc_last[state_at(k, s, b, j)] : 0.0f;
    }
    for (int i = (int)threadIdx.x; i < side * SAMPLES; i += K_BLOCK) gates[i] = 0.0f;
    __syncthreads();
    for (int i = s.most - 1; i >= 0; i--) {
        for (int e = (int)threadIdx.x; e < k.units * SAMPLES; e += K_BLOCK) {
            const int j = e % k.units, b = e / k.units;
            if (i >= s.n[b]) continue;
            const int64_t at = unit_at(k, s, b, i, j), from = gate_at(at, j), last = i > 0 ? unit_at(k, s, b, i - 1, j) : 0;
            float v[GATES], d[GATES];
#pragma unroll
            for (int part = 0; part < GATES; part++) v[part] = to_float(((const T *)k.activations)[from + part * k.units]);
            const int64_t whole = state_at(k, s, b, j);
            const float first = k.c0 ? k.c0[whole] : 0.0f;
            const float top = element_tanh(to_float(states[at])), before = i > 0 ? to_float(states[last]) : first;
            float all = (k.dh ? to_float(((const T *)k.dh)[at]) : 0.0f) + back[j * SAMPLES + b];
            if (k.dh_last && i == s.n[b] - 1) all += to_float(((const T *)k.dh_last)[whole]);
            cell[j * SAMPLES + b] = lstm_cell_back(v, all, cell[j * SAMPLES + b], before, top, d);
#pragma unroll
            for (int part = 0; part < GATES; part++) {
                const T rounded = from_float<T>(d[part]);
                gates[(part * k.units + j) * SAMPLES + b] = to_float(rounded);
                if (k.dx) ((T *)k.dx)[from + part * k.units] = rounded;
            }
            const T begun = k.h0 ? ((const T *)k.h0)[whole] : from_float<T>(0.0f);
            if (k.before) ((T *)k.before)[at] = i > 0 ? ((const T *)k.outputs)[last] : begun;
        }
        __syncthreads();
        for (int first = 0; first < k.units; first += across) {
            const int to = first + column, begin = part_of * each, end = begin + each < side ? begin + each : side;
            float sum[SAMPLES] = {0.0f};
            if (to < k.units && part_of < down && begin < end)
                multiply(w + (int64_t)begin * k.units + to, k.units, gates + begin * SAMPLES, end - begin, sum);
            for (int b = 0; b < SAMPLES; b++) scratch[threadIdx.x * SAMPLES + b] = sum[b];
            __syncthreads();
            for (int b = 0; b < SAMPLES && part_of == 0 && to < k.units; b++) {
                float whole = 0.0f;
                for (int part = 0; part < down; part++) whole += scratch[(part * across + column) * SAMPLES + b];
                back[to * SAMPLES + b] = whole;
            }
            __syncthreads();
        }
    }
    for (int i = (int)threadIdx.x; i < s.count * k.units; i += K_BLOCK) {
        const int j = i % k.units, b = i / k.units;
        const int64_t at = state_at(k, s, b, j);
        const T none = k.dh_last ? ((const T *)k.dh_last)[at] : from_float<T>(0.0f);
        if (k.dh0) ((T *)k.dh0)[at] = s.n[b] > 0 ? from_float<T>(back[j * SAMPLES + b]) : none;
        if (k.dc0) k.dc0[at] = cell[j * SAMPLES + b];
    }
    for (int64_t e = threadIdx.x; e < (int64_t)s.count * k.words * k.units; e += K_BLOCK) {
        const int j = (int)(e % k.units), i = (int)(e / k.units % k.words), b = (int)(e / k.units / k.words);
        if (i < s.n[b]) continue;
        const int64_t at = unit_at(k, s, b, i, j), from = gate_at(at, j);
        for (int part = 0; k.dx && part < GATES; part++) ((T *)k.dx)[from + part * k.units] = from_float<T>(0.0f);
        if (k.before) ((T *)k.before)[at] = from_float<T>(0.0f);
    }
}

K_LAUNCHER(k_lstm_grad)
{
    const struct k_lstm *k = (const struct k_lstm *)args;
    BY_FLOAT(k->type, T, {
        if (!k->w) return launch(lstm_word_grad<T>, blocks_of_word(k), K_BLOCK, stream, *k);
        TRY_CUDA(pack<T>(k, GATES, stream));
        return launch(lstm_grad<T>, groups_of(k), K_BLOCK, stream, *k);
    });
}
