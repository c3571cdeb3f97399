// SPDX-License-Identifier: Apache-2.0
// Softmax, cross-entropy and counters. A row is read at most three times (its maximum, its sum, its result), the last two times
// from the cache. Sums over rows: one partial sum per block, which one block then adds in a fixed order.
//
// Invariant: every exponential is of x - top, which is at most 0, so large logits cannot overflow.
#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_loss.h"

static_assert((int)K_LOSS_THREADS == (int)K_BLOCK, "rows are dealt to blocks of this size");

struct row_spot {
    int64_t row, at;  // `at`: index of the row's first element
    int lane, lanes;
    int64_t first, step, end;  // this thread's elements of the row; empty if the row does not exist
};

__device__ static inline row_spot row_spot_of(const k_loss_rows &r)
{
    row_spot s;
    const int64_t thread = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    s.row = thread >> r.shift;
    s.at = s.row * r.k;
    s.lanes = 1 << r.shift;
    s.lane = (int)threadIdx.x & (s.lanes - 1);
    s.first = (int64_t)s.lane * r.per;
    s.step = (int64_t)s.lanes * r.per;
    s.end = s.row < r.rows ? r.k : 0;
    return s;
}

// Over the threads of a row. All threads of a warp call it.
__device__ static inline float row_sum(const row_spot &s, float x)
{
    for (int apart = s.lanes / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}
__device__ static inline int row_sum(const row_spot &s, int x)
{
    for (int apart = s.lanes / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}
__device__ static inline float row_most(const row_spot &s, float x)
{
    for (int apart = s.lanes / 2; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}

template <typename T, int N> __device__ static inline float row_top(const row_spot &s, const T *x)
{
    float top = -INFINITY;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N];
        load<N>(x + i, v);
        for (int j = 0; j < N; j++) top = fmaxf(top, v[j]);
    }
    return row_most(s, top);
}

__device__ static inline int64_t label_of(enum dtype type, const void *labels, int64_t row)
{
    return type == U8 ? ((const uint8_t *)labels)[row] : ((const int32_t *)labels)[row];
}

// ---- softmax

template <typename T, int N> __global__ void softmax(const struct k_softmax k)
{
    const row_spot s = row_spot_of(k.rows);
    const T *x = (const T *)k.x + s.at;
    T *y = (T *)k.y + s.at;
    const float top = row_top<T, N>(s, x);
    float sum = 0.0f;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N];
        load<N>(x + i, v);
        for (int j = 0; j < N; j++) sum += element_exp(v[j] - top);
    }
    const float part = 1.0f / row_sum(s, sum);
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N];
        load<N>(x + i, v);
        for (int j = 0; j < N; j++) v[j] = element_exp(v[j] - top) * part;
        store<N>(y + i, v);
    }
}

template <typename T, int N> __global__ void softmax_grad(const struct k_softmax_grad k)
{
    const row_spot s = row_spot_of(k.rows);
    const T *y = (const T *)k.y + s.at, *dy = (const T *)k.dy + s.at;
    T *dx = (T *)k.dx + s.at;
    float dot = 0.0f;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N], d[N];
        load<N>(y + i, v);
        load<N>(dy + i, d);
        for (int j = 0; j < N; j++) dot += v[j] * d[j];
    }
    dot = row_sum(s, dot);
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N], d[N];
        load<N>(y + i, v);
        load<N>(dy + i, d);
        for (int j = 0; j < N; j++) d[j] = v[j] * (d[j] - dot);
        store<N>(dx + i, d);
    }
}

// ---- cross-entropy: with targets t, of sum n, and l = log(sum(exp(x))), the loss of a row is
//   (1 - smoothing) (n l - sum(t x)) + smoothing n (l - mean(x))
// x is relative to the row's maximum: an element that a mask set to -1e30 would leave no digit of the others. Logits are read
// once: a new maximum scales the sum so far and moves the others.

// The label of a row; -1 if it has none of its own or does not exist.
__device__ static inline int64_t own_label(enum dtype type, const void *labels, int64_t row, const k_loss_rows &r)
{
    const int64_t label = labels && row < r.rows ? label_of(type, labels, row) : -1;
    return label < r.k ? label : -1;
}

template <typename T, int N> __global__ void xent(const struct k_xent k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const row_spot s = row_spot_of(k.rows);
    const T *x = (const T *)k.x + s.at;
    float top = -3e38f, sum = 0.0f, all = 0.0f, dot = 0.0f, total = 0.0f, seen = 0.0f;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N], t[N], higher = top;
        load<N>(x + i, v);
        if (k.targets) load<N>(k.targets + s.at + i, t);
        for (int j = 0; j < N; j++) higher = fmaxf(higher, v[j]);
        sum *= element_exp(top - higher);
        all -= seen * (higher - top), dot -= total * (higher - top);
        top = higher, seen += (float)N;
        for (int j = 0; j < N; j++) {
            sum += element_exp(v[j] - top);
            all += v[j] - top;
            if (k.targets) dot += t[j] * (v[j] - top), total += t[j];
        }
    }
    const float most = row_most(s, top);
    sum = row_sum(s, sum * element_exp(top - most));
    all = row_sum(s, all - seen * (most - top)), dot = dot - total * (most - top);
    dot = row_sum(s, dot), total = row_sum(s, total);
    float loss = 0.0f, counts = 0.0f;
    if (s.lane == 0 && s.end > 0) {
        const int64_t label = own_label(k.label, k.labels, s.row, k.rows);
        if (label >= 0) total = 1.0f, dot = to_float(x[label]) - most;
        const float l = logf(sum), weight = k.weights ? k.weights[s.row] : 1.0f;
        // `all` may be infinite, and 0 * infinity is NaN.
        const float even = k.smoothing > 0.0f ? k.smoothing * total * (l - all / (float)k.rows.k) : 0.0f;
        loss = (1.0f - k.smoothing) * (total * l - dot) + even;
        loss = total != 0.0f ? loss * weight : 0.0f;
        counts = total != 0.0f ? weight : 0.0f;
        if (k.losses) k.losses[s.row] = loss;
        float *kept = k.kept + K_XENT_KEPT * s.row;
        if (k.kept) kept[0] = most, kept[1] = 1.0f / sum, kept[2] = total;
    }
    loss = block_sum<K_BLOCK>(loss, scratch);
    counts = block_sum<K_BLOCK>(counts, scratch);
    if (threadIdx.x > 0) return;
    k.partial[blockIdx.x] = loss;
    k.partial[k.rows.blocks + blockIdx.x] = counts;
}

static __global__ void xent_finish(const struct k_xent k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    float sum = 0.0f, counts = 0.0f;
    for (int64_t i = threadIdx.x; i < k.rows.blocks; i += K_BLOCK)
        sum += k.partial[i], counts += k.partial[k.rows.blocks + i];
    sum = block_sum<K_BLOCK>(sum, scratch);
    counts = block_sum<K_BLOCK>(counts, scratch);  // exact to 2^24 rows
    if (threadIdx.x > 0) return;
    if (k.loss) *k.loss = k.mean && counts != 0.0f ? sum / counts : sum;
    if (k.count) *k.count = counts;
}

template <typename T, int N> __global__ void xent_grad(const struct k_xent_grad k)
{
    const row_spot s = row_spot_of(k.rows);
    if (s.end == 0) return;
    const float *kept = k.kept + K_XENT_KEPT * s.row;
    const int64_t label = own_label(k.label, k.labels, s.row, k.rows);
    const float total = k.targets ? kept[2] : label >= 0 ? 1.0f : 0.0f, even = k.smoothing / (float)k.rows.k * total;
    float factor = k.dloss ? *k.dloss : 0.0f;
    if (k.count && *k.count != 0.0f) factor /= *k.count;
    if (k.drows) factor += k.drows[s.row];
    if (k.weights) factor *= k.weights[s.row];
    if (total == 0.0f) factor = 0.0f;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        float v[N], t[N];
        load<N>((const T *)k.x + s.at + i, v);
        if (k.targets) load<N>(k.targets + s.at + i, t);
        for (int j = 0; j < N; j++) {
            const float own = k.targets ? t[j] : i + j == label ? 1.0f : 0.0f;
            v[j] = (element_exp(v[j] - kept[0]) * kept[1] * total - ((1.0f - k.smoothing) * own + even)) * factor;
        }
        store<N>((T *)k.dx + s.at + i, v);
    }
}

// ---- correct answers: a row is correct if fewer than `top` classes rank above its label; of equal values the first ranks
// higher

template <typename T> __global__ void correct(const struct k_correct k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const row_spot s = row_spot_of(k.rows);
    const T *x = (const T *)k.x + s.at;
    const int64_t label = s.end > 0 ? label_of(k.label, k.labels, s.row) : -1;
    const bool known = label >= 0 && label < s.end;
    const float own = known ? to_float(x[label]) : NAN;
    int above = 0;
    for (int64_t i = s.first; i < s.end; i += s.step) {
        const float v = to_float(x[i]);
        above += v > own || (v == own && i < label);
    }
    above = row_sum(s, above);
    const bool hit = s.lane == 0 && own == own && above < k.top;  // NaN is never correct
    const float hits = block_sum<K_BLOCK>(hit ? 1.0f : 0.0f, scratch);  // at most 256: exact
    if (threadIdx.x == 0) k.partial[blockIdx.x] = (int32_t)hits;
}

static __global__ void correct_finish(const struct k_correct k)
{
    __shared__ int32_t scratch[K_BLOCK];
    int32_t sum = 0;
    for (int64_t i = threadIdx.x; i < k.rows.blocks; i += K_BLOCK) sum += k.partial[i];
    scratch[threadIdx.x] = sum;
    for (int half = K_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *k.after = *k.before + scratch[0];
}

// ---- running totals

__device__ static inline float load_number(enum dtype type, const void *at)
{
    switch (type) {
    case F32: return *(const float *)at;
    case BF16: return to_float(*(const __nv_bfloat16 *)at);
    case F16: return to_float(*(const __half *)at);
    case I32: return (float)*(const int32_t *)at;
    default: return (float)*(const uint8_t *)at;
    }
}

static __global__ void accumulate(const struct k_accumulate k)
{
    if (threadIdx.x > 0) return;
    const int32_t whole = k.more == I32 ? *(const int32_t *)k.x : (int32_t)load_number(k.more, k.x);
    if (k.type == I32)
        *(int32_t *)k.after = *(const int32_t *)k.before + whole;
    else
        *(float *)k.after = *(const float *)k.before + load_number(k.more, k.x);
}

// ---- launchers

static unsigned blocks_of(const k_loss_rows &r) { return (unsigned)r.blocks; }

K_LAUNCHER(k_softmax)
{
    const struct k_softmax *k = (const struct k_softmax *)args;
    BY_FLOAT(k->type, T,
             return k->rows.per > 1 ? launch(softmax<T, wide<T>::N>, blocks_of(k->rows), K_BLOCK, stream, *k)
                                    : launch(softmax<T, 1>, blocks_of(k->rows), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_softmax_grad)
{
    const struct k_softmax_grad *k = (const struct k_softmax_grad *)args;
    BY_FLOAT(k->type, T,
             return k->rows.per > 1 ? launch(softmax_grad<T, wide<T>::N>, blocks_of(k->rows), K_BLOCK, stream, *k)
                                    : launch(softmax_grad<T, 1>, blocks_of(k->rows), K_BLOCK, stream, *k));
}

static cudaError_t xent_rows(const struct k_xent *k, cudaStream_t stream)
{
    BY_FLOAT(k->type, T,
             return k->rows.per > 1 ? launch(xent<T, wide<T>::N>, blocks_of(k->rows), K_BLOCK, stream, *k)
                                    : launch(xent<T, 1>, blocks_of(k->rows), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_xent)
{
    const struct k_xent *k = (const struct k_xent *)args;
    TRY_CUDA(xent_rows(k, stream));
    return k->loss || k->count ? launch(xent_finish, 1, K_BLOCK, stream, *k) : cudaSuccess;
}

K_LAUNCHER(k_xent_grad)
{
    const struct k_xent_grad *k = (const struct k_xent_grad *)args;
    BY_FLOAT(k->type, T,
             return k->rows.per > 1 ? launch(xent_grad<T, wide<T>::N>, blocks_of(k->rows), K_BLOCK, stream, *k)
                                    : launch(xent_grad<T, 1>, blocks_of(k->rows), K_BLOCK, stream, *k));
}

static cudaError_t correct_rows(const struct k_correct *k, cudaStream_t stream)
{
    BY_FLOAT(k->type, T, return launch(correct<T>, blocks_of(k->rows), K_BLOCK, stream, *k));
}

K_LAUNCHER(k_correct)
{
    const struct k_correct *k = (const struct k_correct *)args;
    TRY_CUDA(correct_rows(k, stream));
    return launch(correct_finish, 1, K_BLOCK, stream, *k);
}

K_LAUNCHER(k_accumulate)
{
    return launch(accumulate, 1, K_WARP, stream, *(const struct k_accumulate *)args);
}
