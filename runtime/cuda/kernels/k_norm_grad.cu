// SPDX-License-Identifier: Apache-2.0
// Batch norm backward: one pass over dy and x for the two sums of every channel, a small kernel that adds the blocks, a second
// pass for dx. After a 2x2 max pool the second pass writes all of the large dx, zeros included.
//
// With d = x - mean, a = scale * rstd and dz = dy * act'(d a + bias):
//   dx = a dz - (d p + q),   p = a rstd^2 mean(dz d),   q = a mean(dz)
#include "runtime/cuda/kernels/k_norm.cuh"

template <int N> struct channels {
    float mean[N], a[N], bias[N];
};

// Replaces x by d and dy by dz.
template <int N>
__device__ static inline void to_differences(const channels<N> &c, enum act act, float (&x)[N], float (&dy)[N])
{
    float z[N];
    for (int i = 0; i < N; i++) {
        x[i] -= c.mean[i];
        z[i] = x[i] * c.a[i] + c.bias[i];
    }
    slope_all<N>(act, z, dy);
}

template <int N>
__device__ static inline void add_to_sums(const float (&d)[N], const float (&dz)[N], float (&sum)[N], float (&dot)[N])
{
    for (int i = 0; i < N; i++) {
        sum[i] += dz[i];
        dot[i] += dz[i] * d[i];
    }
}

// Replaces x by d and dy by dz; the slope is taken at y.
template <int N>
__device__ static inline void gate(const channels<N> &c, enum act act, const float (&y)[N], float (&x)[N], float (&dy)[N])
{
    for (int i = 0; i < N; i++) x[i] -= c.mean[i];
    slope_all<N>(act, y, dy);
}

// ---- sums

// Behind a shortcut: also writes dz, which the second pass reads and the shortcut receives.
template <typename T, int N>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_BACK_RESIDENT) norm_gate_sums(const struct k_norm_grad k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_DOWN);
    float sum[N] = {}, dot[N] = {};
    if (s.live) {
        channels<N> c;
        load<N>(k.mean + s.channel, c.mean);
        const T *x = (const T *)k.x + s.at, *dy = (const T *)k.dy + s.at, *y = (const T *)k.y + s.at;
        T *dz = k.dz ? (T *)k.dz + s.at : NULL;
        for (uint32_t row = s.row; row < k.walk.rows; row += s.stride, x += s.step, dy += s.step, y += s.step) {
            float d[N], g[N], v[N];
            load<N>(x, d), load<N>(dy, g), load<N>(y, v);
            gate<N>(c, k.act, v, d, g);
            add_to_sums<N>(d, g, sum, dot);
            if (!dz) continue;
            store<N>(dz, g);
            dz += s.step;
        }
    }
    norm_block_sums<N>(k.walk, s, sum, dot, k.partial);
}

template <typename T, int N>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_BACK_RESIDENT) norm_back_sums(const struct k_norm_grad k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_DOWN);
    float sum[N] = {}, dot[N] = {};
    if (s.live) {
        channels<N> c;
        float rstd[N];
        load<N>(k.mean + s.channel, c.mean);
        load<N>(k.rstd + s.channel, rstd);
        norm_load_or<N>(k.scale, s.channel, 1.0f, c.a);
        norm_load_or<N>(k.bias, s.channel, 0.0f, c.bias);
        for (int i = 0; i < N; i++) c.a[i] *= rstd[i];
        const T *x = (const T *)k.x + s.at, *dy = (const T *)k.dy + s.at;
        for (uint32_t row = s.row; row < k.walk.rows; row += 2 * s.stride, x += 2 * s.step, dy += 2 * s.step) {
            const bool two = row + s.stride < k.walk.rows;
            float d[N], dz[N], e[N] = {}, ez[N] = {};
            load<N>(x, d), load<N>(dy, dz);
            if (two) load<N>(x + s.step, e), load<N>(dy + s.step, ez);
            to_differences<N>(c, k.act, d, dz);
            if (norm_counts(k.frames, row)) add_to_sums<N>(d, dz, sum, dot);
            if (!two) break;
            to_differences<N>(c, k.act, e, ez);
            if (norm_counts(k.frames, row + s.stride)) add_to_sums<N>(e, ez, sum, dot);
        }
    }
    norm_block_sums<N>(k.walk, s, sum, dot, k.partial);
}

static __global__ void norm_back_finish(const struct k_norm_grad k)
{
    int c;
    float sum[2];
    if (!norm_total(k.walk, k.partial, &c, sum)) return;
    float n = norm_count(k.frames, k.walk), rstd = k.rstd[c], a = k.scale ? k.scale[c] * rstd : rstd, dot = sum[1] * rstd;
    if (k.dscale) k.dscale[c] = dot;
    if (k.dbias) k.dbias[c] = sum[0];
    k.a[c] = a;
    k.p[c] = a * rstd * (dot / n);
    k.q[c] = a * (sum[0] / n);
}

// ---- dx

// Coefficients that the last pass keeps in registers.
template <int N> struct grad_factors {
    channels<N> c;
    float p[N], q[N];
};

template <int N> __device__ static inline void load_grad_factors(const struct k_norm_grad &k, int channel, grad_factors<N> &w)
{
    load<N>(k.mean + channel, w.c.mean);
    load<N>(k.a + channel, w.c.a);
    norm_load_or<N>(k.bias, channel, 0.0f, w.c.bias);
    load<N>(k.p + channel, w.p);
    load<N>(k.q + channel, w.q);
}

// Replaces dy by dx.
template <int N>
__device__ static inline void to_dx(const grad_factors<N> &w, enum act act, float (&x)[N], float (&dy)[N])
{
    to_differences<N>(w.c, act, x, dy);
    for (int i = 0; i < N; i++) dy[i] = w.c.a[i] * dy[i] - (x[i] * w.p[i] + w.q[i]);
}

// Zeros where the row does not count; rows are counted from the last.
template <int N> __device__ static inline void keep_frame(const struct k_norm_grad &k, uint32_t row, float (&v)[N])
{
    if (norm_counts(k.frames, k.walk.rows - 1 - row)) return;
    for (int i = 0; i < N; i++) v[i] = 0.0f;
}

template <typename T, int N>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_BACK_RESIDENT) norm_back(const struct k_norm_grad k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_UP);
    if (!s.live) return;
    grad_factors<N> w;
    load_grad_factors<N>(k, s.channel, w);
    const T *x = (const T *)k.x + s.at, *dy = (const T *)k.dy + s.at;
    T *dx = (T *)k.dx + s.at;
    for (uint32_t row = s.row; row < k.walk.rows; row += 2 * s.stride, x += 2 * s.step, dy += 2 * s.step) {
        const bool two = row + s.stride < k.walk.rows;
        float v[N], dv[N], u[N] = {}, du[N] = {};
        load<N>(x, v), load<N>(dy, dv);
        if (two) load<N>(x + s.step, u), load<N>(dy + s.step, du);
        to_dx<N>(w, k.act, v, dv);
        keep_frame<N>(k, row, dv);
        store<N>(dx, dv);
        if (!two) break;
        to_dx<N>(w, k.act, u, du);
        keep_frame<N>(k, row + s.stride, du);
        store<N>(dx + s.step, du);
        dx += 2 * s.step;
    }
}

// The thread of a pooled pixel writes its four pixels, and the odd last column or row next to it that no window covers.
template <typename T, int N>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_BACK_RESIDENT) norm_back_unpool(const struct k_norm_grad k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_UP);
    if (!s.live) return;
    grad_factors<N> w;
    load_grad_factors<N>(k, s.channel, w);
    const int64_t c = k.walk.c, below = k.pool.w * c;
    const bool odd_column = k.pool.w & 1, odd_line = k.pool.h & 1;
    const float zero[N] = {};
    int64_t at = s.at;
    for (uint32_t row = s.row; row < k.walk.rows; row += s.stride, at += s.step) {
        float v[N], dv[N];
        load<N>((const T *)k.x + at, v);
        load<N>((const T *)k.dy + at, dv);
        const lanes<uint8_t, N> where = *(const lanes<uint8_t, N> *)(k.at + at);
        to_dx<N>(w, k.act, v, dv);
        uint32_t line, column;
        T *dx = (T *)k.dx + norm_corner(k.pool, k.walk.rows - 1 - row, &line, &column) * c + s.channel;
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < N; i++) v[i] = where.at[i] == j ? dv[i] : 0.0f;
            store<N>(dx + (j / 2 ? below : 0) + (j % 2 ? c : 0), v);
        }
        const bool right = odd_column && column + 1 == k.pool.q.by, bottom = odd_line && line + 1 == k.pool.p.by;
        if (right) store<N>(dx + 2 * c, zero), store<N>(dx + 2 * c + below, zero);
        if (bottom) store<N>(dx + 2 * below, zero), store<N>(dx + 2 * below + c, zero);
        if (right && bottom) store<N>(dx + 2 * below + 2 * c, zero);
    }
}

// ---- launcher

template <typename T, int N> static cudaError_t both_passes(const struct k_norm_grad *k, cudaStream_t stream)
{
    dim3 grid = norm_grid(k->walk);
    if (k->y)
        TRY_CUDA(launch(norm_gate_sums<T, N>, grid, K_BLOCK, stream, *k));
    else
        TRY_CUDA(launch(norm_back_sums<T, N>, grid, K_BLOCK, stream, *k));
    TRY_CUDA(launch(norm_back_finish, norm_total_grid(k->walk), K_BLOCK, stream, *k));
    if (!k->dx) return cudaSuccess;
    if (k->y) {
        struct k_norm_grad second = *k;
        second.dy = k->dz, second.act = ACT_NONE;
        return launch(norm_back<T, N>, grid, K_BLOCK, stream, second);
    }
    if (k->pool.on) return launch(norm_back_unpool<T, N>, grid, K_BLOCK, stream, *k);
    return launch(norm_back<T, N>, grid, K_BLOCK, stream, *k);
}

K_LAUNCHER(k_norm_grad)
{
    const struct k_norm_grad *k = (const struct k_norm_grad *)args;
    BY_FLOAT(k->type, T,
             return k->walk.per > 1 ? both_passes<T, wide<T>::N>(k, stream) : both_passes<T, 1>(k, stream));
}
