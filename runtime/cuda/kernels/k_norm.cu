// SPDX-License-Identifier: Apache-2.0
// Batch norm forward. One pass over x computes the statistics, including a fused 2x2 max pool; a small kernel adds the blocks;
// a second pass computes y. The traffic with the pool fused and 16-bit channels: x once, the pooled values twice, y once.
//
// Invariant: sums are of x - shift and its square. The shift is near the channel's mean (the mean of a few rows spread over
// the tensor), so nothing cancels, however far from zero the channel lies.
#include "runtime/cuda/kernels/k_norm.cuh"

// The values of N channels at row r of the normalised tensor.
template <typename T, int N>
__device__ static inline void pool_four(const struct k_norm &k, uint32_t r, int channel, float (&best)[N],
                                        lanes<uint8_t, N> *at)
{
    uint32_t line, column;
    const T *x = (const T *)k.x + norm_corner(k.pool, r, &line, &column) * k.walk.c + channel;
    const int64_t below = k.pool.w * k.walk.c;
    float other[3][N];
    load<N>(x, best);
    load<N>(x + k.walk.c, other[0]);
    load<N>(x + below, other[1]);
    load<N>(x + below + k.walk.c, other[2]);
    for (int i = 0; i < N; i++) {
        int where = 0;
        for (int j = 0; j < 3; j++) {  // the first of equal values wins, and any number wins over NaN
            float v = other[j][i];
            bool wins = v > best[i] || (best[i] != best[i] && v == v);
            best[i] = wins ? v : best[i];
            where = wins ? j + 1 : where;
        }
        at->at[i] = (uint8_t)where;
    }
}

// The first row of the next sample from `sample` on that has frames, or the number of rows.
__device__ static inline uint32_t frame_that_counts(const k_norm_frames &f, uint32_t sample)
{
    for (uint32_t i = 0; i < f.samples && norm_length(f, sample) == 0; i++) sample = sample + 1 < f.samples ? sample + 1 : 0;
    return (norm_length(f, sample) == 0 ? f.samples : sample) * f.frames * f.frame;
}

// The origin of the sums. It is rounded to 8 bits: with a full mantissa all differences would share their low bits, and all
// additions the same rounding error. It is 0 for a channel near zero relative to its spread, and for a channel with infinities,
// whose mean must be infinite.
template <typename T, int N, bool POOL>
__device__ static inline void find_shift(const struct k_norm &k, int channel, float (&shift)[N])
{
    const int count = 4;
    const uint32_t apart = k.walk.rows / count;
    float least[N], most[N];
    for (int i = 0; i < N; i++) shift[i] = 0.0f, least[i] = INFINITY, most[i] = -INFINITY;
    for (uint32_t j = 0; j < count; j++) {
        float v[N];
        lanes<uint8_t, N> at;
        const uint32_t row = POOL || !k.frames.length ? j * apart : frame_that_counts(k.frames, j * k.frames.samples / count);
        if (row >= k.walk.rows) return;  // none counts
        if (POOL)
            pool_four<T, N>(k, row, channel, v, &at);
        else
            load<N>((const T *)k.x + (int64_t)row * k.walk.c + channel, v);
        for (int i = 0; i < N; i++) {
            shift[i] += v[i];
            least[i] = fminf(least[i], v[i]);
            most[i] = fmaxf(most[i], v[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        const float mean = to_float(from_float<__nv_bfloat16>(shift[i] / count)), far = fabsf(mean);
        shift[i] = far < INFINITY && far >= 0.5f * (most[i] - least[i]) ? mean : 0.0f;
    }
}

template <int N>
__device__ static inline void add_to_sums(const float (&v)[N], const float (&shift)[N], float (&sum)[N], float (&square)[N])
{
    for (int i = 0; i < N; i++) {
        float d = v[i] - shift[i];
        sum[i] += d;
        square[i] += d * d;
    }
}

// Four loads are in flight before the first is used: four rows here, the four pixels of a window below.
template <typename T, int N>
__device__ static inline void walk_rows(const struct k_norm &k, const norm_spot &s, const float (&shift)[N],
                                        float (&sum)[N], float (&square)[N])
{
    const int ahead = K_NORM_AHEAD;
    const T *x = (const T *)k.x + s.at;
    uint32_t row = s.row;
    for (; k.frames.length && row < k.walk.rows; row += s.stride, x += s.step) {
        float v[N];
        if (!norm_counts(k.frames, row)) continue;
        load<N>(x, v);
        add_to_sums<N>(v, shift, sum, square);
    }
    for (; row + (ahead - 1) * s.stride < k.walk.rows; row += ahead * s.stride, x += ahead * s.step) {
        float v[ahead][N];
        for (int j = 0; j < ahead; j++) load<N>(x + j * s.step, v[j]);
        for (int j = 0; j < ahead; j++) add_to_sums<N>(v[j], shift, sum, square);
    }
    for (; row < k.walk.rows; row += s.stride, x += s.step) {
        float v[N];
        load<N>(x, v);
        add_to_sums<N>(v, shift, sum, square);
    }
}

template <typename T, int N>
__device__ static inline void walk_windows(const struct k_norm &k, const norm_spot &s, const float (&shift)[N],
                                           float (&sum)[N], float (&square)[N])
{
    int64_t to = s.at;
    for (uint32_t row = s.row; row < k.walk.rows; row += s.stride, to += s.step) {
        float v[N];
        lanes<uint8_t, N> at;
        pool_four<T, N>(k, row, s.channel, v, &at);
        add_to_sums<N>(v, shift, sum, square);
        if (k.pooled) store<N>((T *)k.pooled + to, v);
        if (k.at) *(lanes<uint8_t, N> *)(k.at + to) = at;
    }
}

template <typename T, int N, bool POOL>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_RESIDENT) norm_statistics(const struct k_norm k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_DOWN);
    float shift[N] = {}, sum[N] = {}, square[N] = {};
    if (s.live) {
        find_shift<T, N, POOL>(k, s.channel, shift);
        if (POOL)
            walk_windows<T, N>(k, s, shift, sum, square);
        else
            walk_rows<T, N>(k, s, shift, sum, square);
        if (blockIdx.x == 0 && s.slot == 0) store<N>(k.shift + s.channel, shift);
    }
    norm_block_sums<N>(k.walk, s, sum, square, k.partial);
}

static __global__ void norm_finish(const struct k_norm k)
{
    int c;
    float sum[2];
    if (!norm_total(k.walk, k.partial, &c, sum)) return;
    float n = norm_count(k.frames, k.walk), keep = k.momentum;
    float d = sum[0] / n, mean = k.shift[c] + d, var = sum[1] / n - d * d;
    var = var < 0.0f ? 0.0f : var;  // NaN stays NaN
    k.mean[c] = mean;
    k.rstd[c] = 1.0f / sqrtf(var + k.eps);
    if (k.run_mean) k.run_mean[c] = keep * k.old_mean[c] + (1.0f - keep) * mean;
    if (k.run_var) k.run_var[c] = keep * k.old_var[c] + (1.0f - keep) * (n > 1.0f ? var * (n / (n - 1.0f)) : var);
}

// ---- y

// Zeros where the row does not count; rows are counted from the last.
template <int N> __device__ static inline void keep_frame(const struct k_norm_apply &k, uint32_t row, float (&v)[N])
{
    if (norm_counts(k.frames, k.walk.rows - 1 - row)) return;
    for (int i = 0; i < N; i++) v[i] = 0.0f;
}

// With a shortcut, v is added to the norm.
template <typename T, int N, bool ADDS>
__global__ void __launch_bounds__(K_BLOCK, K_NORM_RESIDENT) norm_apply(const struct k_norm_apply k)
{
    const norm_spot s = norm_spot_of(k.walk, NORM_UP);
    if (!s.live) return;
    float mean[N], rstd[N], scale[N], bias[N];
    load<N>(k.mean + s.channel, mean);
    load<N>((k.var ? k.var : k.rstd) + s.channel, rstd);
    if (k.var)
        for (int i = 0; i < N; i++) rstd[i] = 1.0f / sqrtf(rstd[i] + k.eps);
    norm_load_or<N>(k.scale, s.channel, 1.0f, scale);
    norm_load_or<N>(k.bias, s.channel, 0.0f, bias);
    for (int i = 0; i < N; i++) scale[i] *= rstd[i];

    const T *x = (const T *)k.x + s.at;
    T *y = (T *)k.y + s.at;
    const T *more = ADDS ? (const T *)k.shortcut + s.at : NULL;
    for (uint32_t row = s.row; row < k.walk.rows; row += 2 * s.stride, x += 2 * s.step, y += 2 * s.step) {
        const bool two = row + s.stride < k.walk.rows;
        float v[N], w[N] = {}, added[N] = {};
        load<N>(x, v);
        if (ADDS) load<N>(more, added);
        if (two) load<N>(x + s.step, w);
        for (int i = 0; i < N; i++) v[i] = (v[i] - mean[i]) * scale[i] + bias[i] + added[i];
        act_all<N>(k.act, v);
        keep_frame<N>(k, row, v);
        store<N>(y, v);
        if (!two) break;
        if (ADDS) load<N>(more + s.step, added);  // not before: two more vectors do not fit into 64 registers
        if (ADDS) more += 2 * s.step;
        for (int i = 0; i < N; i++) w[i] = (w[i] - mean[i]) * scale[i] + bias[i] + added[i];
        act_all<N>(k.act, w);
        keep_frame<N>(k, row + s.stride, w);
        store<N>(y + s.step, w);
    }
}

// ---- folding into the filters of a convolution: one block per filter

static __global__ void norm_fold(const struct k_norm_fold k)
{
    const int64_t filter = blockIdx.x;
    const float f = (k.scale ? k.scale[filter] : 1.0f) / sqrtf(k.var[filter] + k.eps);
    const float *w = k.w + filter * k.each;
    float *to = k.to + filter * k.each;
    if (k.to)
        for (int64_t i = threadIdx.x; i < k.each; i += K_BLOCK) to[i] = w[i] * f;
    if (!k.to_bias || threadIdx.x > 0) return;
    const float before = k.before ? k.before[filter] : 0.0f, bias = k.bias ? k.bias[filter] : 0.0f;
    k.to_bias[filter] = (before - k.mean[filter]) * f + bias;
}

// ---- launchers

template <typename T, int N> static cudaError_t statistics(const struct k_norm *k, cudaStream_t stream)
{
    if (k->pool.on) return launch(norm_statistics<T, N, true>, norm_grid(k->walk), K_BLOCK, stream, *k);
    return launch(norm_statistics<T, N, false>, norm_grid(k->walk), K_BLOCK, stream, *k);
}

static cudaError_t statistics_of(const struct k_norm *k, cudaStream_t stream)
{
    BY_FLOAT(k->type, T, return k->walk.per > 1 ? statistics<T, wide<T>::N>(k, stream) : statistics<T, 1>(k, stream));
}

template <typename T, int N> static cudaError_t apply_norm(const struct k_norm_apply *k, cudaStream_t stream)
{
    if (k->shortcut) return launch(norm_apply<T, N, true>, norm_grid(k->walk), K_BLOCK, stream, *k);
    return launch(norm_apply<T, N, false>, norm_grid(k->walk), K_BLOCK, stream, *k);
}

K_LAUNCHER(k_norm_apply)
{
    const struct k_norm_apply *k = (const struct k_norm_apply *)args;
    BY_FLOAT(k->type, T,
             return k->walk.per > 1 ? apply_norm<T, wide<T>::N>(k, stream) : apply_norm<T, 1>(k, stream));
}

K_LAUNCHER(k_norm)
{
    const struct k_norm *k = (const struct k_norm *)args;
    TRY_CUDA(statistics_of(k, stream));
    TRY_CUDA(launch(norm_finish, norm_total_grid(k->walk), K_BLOCK, stream, *k));
    if (!k->y) return cudaSuccess;
    struct k_norm_apply apply = {k->pool.on ? k->pooled : k->x, k->shortcut, k->y, k->mean, k->rstd, NULL, k->scale, k->bias,
                                 k->type, k->act, k->eps, k->walk, k->frames};
    return k_norm_apply(stream, &apply);
}

K_LAUNCHER(k_norm_fold)
{
    const struct k_norm_fold *k = (const struct k_norm_fold *)args;
    return launch(norm_fold, (unsigned)k->filters, K_BLOCK, stream, *k);
}
