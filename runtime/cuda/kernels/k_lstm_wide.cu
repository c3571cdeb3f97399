// SPDX-License-Identifier: Apache-2.0
// LSTMs of many hidden units: see k_lstm_wide.h.
#include "runtime/cuda/kernels/k_lstm_wide.h"

#include "runtime/cuda/kernels/k_matmul.h"
#include "runtime/cuda/kernels/k_scan.cuh"

enum { GATES = 4, ALIGN = 256 };

// A hidden unit of a sample and a direction.
struct cell_of {
    int64_t state;         // in [B,D,H]
    int64_t unit, last;    // of this word and of the one before it in [B,T,D,H]
    int64_t row;           // in [D,B,H]
    int j, n;
    bool there;
};

__device__ static inline cell_of cell_at(const struct k_lstm &k, int word)
{
    cell_of s = {};
    s.row = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    s.there = s.row < (int64_t)k.directions * k.samples * k.units;
    if (!s.there) return s;
    s.j = (int)(s.row % k.units);
    const int b = (int)(s.row / k.units % k.samples), d = (int)(s.row / k.units / k.samples);
    s.n = length_of(k.length, b, k.words);
    const int at = d && word < s.n ? s.n - 1 - word : word, before = d ? at + 1 : at - 1;
    s.state = ((int64_t)b * k.directions + d) * k.units + s.j;
    s.unit = (((int64_t)b * k.words + at) * k.directions + d) * k.units + s.j;
    s.last = (((int64_t)b * k.words + before) * k.directions + d) * k.units + s.j;
    return s;
}

// Where a gate of a unit is, in [..,gates,H].
__device__ static inline int64_t gate_at(int64_t unit, int j) { return (unit - j) * GATES + j; }

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) begin_cells(const struct k_lstm_wide k)
{
    const cell_of s = cell_at(k.lstm, 0);
    if (!s.there) return;
    k.cell[s.row] = k.lstm.c0 ? k.lstm.c0[s.state] : 0.0f;
    ((T *)k.rows)[s.row] = k.lstm.h0 ? ((const T *)k.lstm.h0)[s.state] : from_float<T>(0.0f);
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) run_word(const struct k_lstm_wide w)
{
    const struct k_lstm &k = w.lstm;
    const cell_of s = cell_at(k, w.word);
    if (!s.there) return;
    const int64_t from = gate_at(s.unit, s.j), sums = gate_at(s.row, s.j);
    float v[GATES] = {0.0f}, c = w.cell[s.row];
    T h = ((const T *)w.rows)[s.row];
    const bool inside = w.word < s.n;
#pragma unroll
    for (int part = 0; part < GATES; part++) {
        const float sum = w.multiplied ? w.product[sums + part * k.units] : 0.0f;
        const float z = inside ? to_float(((const T *)k.x)[from + part * k.units]) + sum : 0.0f;
        if (inside) v[part] = part == 2 ? element_tanh(z) : element_sigmoid(z);
        if (k.gates) ((T *)k.gates)[from + part * k.units] = from_float<T>(v[part]);
    }
    if (inside) {
        c = v[1] * c + v[0] * v[2], h = from_float<T>(v[3] * element_tanh(c));
        w.cell[s.row] = c, ((T *)w.rows)[s.row] = h;
    }
    if (k.c) ((T *)k.c)[s.unit] = from_float<T>(inside ? c : 0.0f);
    if (k.h) ((T *)k.h)[s.unit] = inside ? h : from_float<T>(0.0f);
    if (w.word < k.words - 1) return;
    if (k.h_last) ((T *)k.h_last)[s.state] = h;
    if (k.c_last) k.c_last[s.state] = c;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) begin_gradients(const struct k_lstm_wide k)
{
    const cell_of s = cell_at(k.lstm, 0);
    if (!s.there) return;
    k.cell[s.row] = k.lstm.dc_last ? k.lstm.dc_last[s.state] : 0.0f;
    k.product[s.row] = 0.0f;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) run_word_back(const struct k_lstm_wide w)
{
    const struct k_lstm &k = w.lstm;
    const int word = w.word;
    const cell_of s = cell_at(k, word);
    if (!s.there) return;
    const int64_t from = gate_at(s.unit, s.j), sums = gate_at(s.row, s.j);
    const T none = from_float<T>(0.0f);
    float d[GATES] = {0.0f};
    if (word < s.n) {
        float v[GATES];
#pragma unroll
        for (int part = 0; part < GATES; part++) v[part] = to_float(((const T *)k.activations)[from + part * k.units]);
        const float first = k.c0 ? k.c0[s.state] : 0.0f, top = element_tanh(to_float(((const T *)k.states)[s.unit]));
        const float before = word > 0 ? to_float(((const T *)k.states)[s.last]) : first;
        float all = (k.dh ? to_float(((const T *)k.dh)[s.unit]) : 0.0f) + w.product[s.row];
        if (k.dh_last && word == s.n - 1) all += to_float(((const T *)k.dh_last)[s.state]);
        w.cell[s.row] = lstm_cell_back(v, all, w.cell[s.row], before, top, d);
    }
    for (int part = 0; part < GATES; part++) {
        const T rounded = from_float<T>(d[part]);
        ((T *)w.rows)[sums + part * k.units] = rounded;
        if (k.dx) ((T *)k.dx)[from + part * k.units] = rounded;
    }
    if (!k.before) return;
    const T begun = k.h0 ? ((const T *)k.h0)[s.state] : none;
    ((T *)k.before)[s.unit] = word >= s.n ? none : word > 0 ? ((const T *)k.outputs)[s.last] : begun;
}

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) end_gradients(const struct k_lstm_wide w)
{
    const struct k_lstm &k = w.lstm;
    const cell_of s = cell_at(k, 0);
    if (!s.there) return;
    const T none = k.dh_last ? ((const T *)k.dh_last)[s.state] : from_float<T>(0.0f);
    if (k.dh0) ((T *)k.dh0)[s.state] = s.n > 0 ? from_float<T>(w.product[s.row]) : none;
    if (k.dc0) k.dc0[s.state] = w.cell[s.row];
}

// ---- launches
static struct k_matmul product_of(const struct k_lstm_wide *w, bool back)
{
    const struct k_lstm *k = &w->lstm;
    struct k_matmul m = {};
    m.m = k->samples, m.n = back ? k->units : GATES * k->units, m.k = back ? GATES * k->units : k->units;
    m.batch = k->directions, m.alpha = 1.0f;
    m.a = w->rows, m.b = k->packed, m.y = w->product, m.work = w->work;
    m.a_type = m.b_type = k->type, m.out = F32;
    return m;
}

size_t k_lstm_wide_carve(struct k_lstm_wide *w, void *base, bool back)
{
    const struct k_lstm *k = &w->lstm;
    const size_t cells = (size_t)k->directions * (size_t)k->samples * (size_t)k->units * sizeof(float);
    const struct k_matmul m = product_of(w, back);
    const size_t bytes[] = {k_lstm_bytes(k->directions, k->units), cells * (back ? GATES : 1), cells * (back ? 1 : GATES), cells,
                            k_matmul_work(&m)};
    void *at[5];
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        at[i] = base ? (char *)base + used : NULL;
        used += (bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
    }
    w->lstm.packed = at[0], w->rows = at[1], w->product = (float *)at[2], w->cell = (float *)at[3], w->work = at[4];
    return used;
}

static unsigned blocks_of(const struct k_lstm *k) { return blocks_for((int64_t)k->samples * k->directions * k->units); }

K_LAUNCHER(k_lstm_wide)
{
    struct k_lstm_wide w = *(const struct k_lstm_wide *)args;
    const struct k_lstm *k = &w.lstm;
    const struct k_matmul product = product_of(&w, false);
    BY_FLOAT(k->type, T, {
        TRY_CUDA(pack<T>(k, GATES, stream));
        TRY_CUDA(launch(begin_cells<T>, blocks_of(k), K_BLOCK, stream, w));
        for (w.word = 0; w.word < k->words; w.word++) {
            w.multiplied = w.word > 0 || k->h0;
            if (w.multiplied) TRY_CUDA(k_matmul(stream, &product));
            TRY_CUDA(launch(run_word<T>, blocks_of(k), K_BLOCK, stream, w));
        }
        return cudaSuccess;
    });
}

K_LAUNCHER(k_lstm_wide_grad)
{
    struct k_lstm_wide w = *(const struct k_lstm_wide *)args;
    const struct k_lstm *k = &w.lstm;
    const struct k_matmul product = product_of(&w, true);
    BY_FLOAT(k->type, T, {
        TRY_CUDA(pack<T>(k, GATES, stream));
        TRY_CUDA(launch(begin_gradients<T>, blocks_of(k), K_BLOCK, stream, w));
        for (w.word = k->words - 1; w.word >= 0; w.word--) {
            TRY_CUDA(launch(run_word_back<T>, blocks_of(k), K_BLOCK, stream, w));
            if (w.word > 0 || k->dh0) TRY_CUDA(k_matmul(stream, &product));
        }
        if (!k->dh0 && !k->dc0) return cudaSuccess;
        return launch(end_gradients<T>, blocks_of(k), K_BLOCK, stream, w);
    });
}
