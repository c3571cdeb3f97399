// SPDX-License-Identifier: Apache-2.0
// Optimiser kernels. They are bound by memory: 16 bytes per thread and tensor if all addresses allow it. A rule is a struct
// with the number of tensors read and written and the computation of one element; `each` does the rest. A launch takes up to
// K_MANY parameters, because most are too small to fill a GPU.
//
// The Frobenius norm is a sum of blocks whose number depends only on the count. Each block leaves its sum; then every block
// that scales adds all of them in order, which saves a third kernel.
#include "runtime/cuda/kernels/k_many.cuh"
#include "runtime/cuda/kernels/k_optim.h"

enum { EACH = 4 };  // elements per thread

template <typename RULE> struct pass {
    const float *in[RULE::IN];  // NULL: zeros
    float *out[RULE::OUT];      // NULL: no reader
    int64_t count;
    bool wide;                  // every address is a multiple of 16
    RULE rule;
};

template <int N> __device__ static inline void load_lanes(const float *from, int64_t i, int64_t count, bool wide, float (&x)[N])
{
    for (int j = 0; j < N; j++) x[j] = 0.0f;
    if (!from) return;
    if (wide && i + N <= count) return load<N>(from + i, x);
    for (int j = 0; j < N && i + j < count; j++) x[j] = from[i + j];
}
template <int N> __device__ static inline void store_lanes(float *to, int64_t i, int64_t count, bool wide, const float (&x)[N])
{
    if (!to) return;
    if (wide && i + N <= count) return store<N>(to + i, x);
    for (int j = 0; j < N && i + j < count; j++) to[i + j] = x[j];
}

template <typename RULE>
static __global__ void __launch_bounds__(K_BLOCK) each(const __grid_constant__ many<pass<RULE>> all)
{
    const int which = many_find(all.first, all.count);
    const pass<RULE> &k = all.of[which];
    int64_t i = ((int64_t)((int)blockIdx.x - all.first[which]) * K_BLOCK + threadIdx.x) * EACH;
    if (i >= k.count) return;
    float in[RULE::IN][EACH], out[RULE::OUT][EACH];
#pragma unroll
    for (int n = 0; n < RULE::IN; n++) load_lanes(k.in[n], i, k.count, k.wide, in[n]);
    const typename RULE::now now = k.rule.begin();
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        float x[RULE::IN], y[RULE::OUT];
#pragma unroll
        for (int n = 0; n < RULE::IN; n++) x[n] = in[n][j];
        k.rule.element(now, x, y);
#pragma unroll
        for (int n = 0; n < RULE::OUT; n++) out[n][j] = y[n];
    }
#pragma unroll
    for (int n = 0; n < RULE::OUT; n++) store_lanes(k.out[n], i, k.count, k.wide, out[n]);
}

static bool is_wide(const void *p) { return (uintptr_t)p % 16 == 0; }

template <typename RULE> static void add_pass(many<pass<RULE>> &all, pass<RULE> k)
{
    k.wide = true;
    for (int n = 0; n < RULE::IN; n++) k.wide = k.wide && is_wide(k.in[n]);
    for (int n = 0; n < RULE::OUT; n++) k.wide = k.wide && is_wide(k.out[n]);
    many_add(all, k, blocks_for(k.count, K_BLOCK * EACH));
}

template <typename RULE> static cudaError_t over_all(cudaStream_t stream, const many<pass<RULE>> &all)
{
    return launch(each<RULE>, many_blocks(all), K_BLOCK, stream, all);
}

// ---- the rules

struct momentum_rule {
    enum { IN = 3, OUT = 2 };
    struct now {
        float clip;
    };
    float mu, decay;
    bool nesterov;
    const float *clip;
    __device__ now begin() const { return {clip ? *clip : 1.0f}; }
    __device__ void element(const now &n, const float (&x)[IN], float (&y)[OUT]) const
    {
        float g = n.clip * x[0] + decay * x[2], m = mu * x[1] + g;
        bool skips = n.clip < 0.0f;
        y[0] = skips ? 0.0f : nesterov ? g + mu * m : m;
        y[1] = skips ? x[1] : m;
    }
};

K_MANY_LAUNCHER(k_momentum)
{
    many<pass<momentum_rule>> all = {};
    for (int i = 0; i < count; i++) {
        const struct k_momentum *a = (const struct k_momentum *)args[i];
        momentum_rule rule = {a->mu, a->decay, a->nesterov, a->clip};
        add_pass(all, pass<momentum_rule>{{a->g, a->m, a->p}, {a->u, a->to_m}, a->count, false, rule});
    }
    return over_all(stream, all);
}
K_LAUNCHER(k_momentum) { return k_momentum_many(stream, &args, 1); }

struct adam_rule {
    enum { IN = 3, OUT = 3 };
    struct now {
        float whole1, whole2;  // 1 - beta^t
        float clip;
    };
    float beta1, beta2, eps, root_eps, log1, log2;  // natural logarithms of the betas
    const int32_t *step;
    const float *clip;
    bool infinity;
    // expm1 of a logarithm does not cancel; 1 - pow(0.999, 1) would lose ten bits.
    __device__ now begin() const
    {
        float t = step ? (float)*step + 1.0f : 0.0f, factor = clip ? *clip : 1.0f;
        return step ? now{-expm1f(t * log1), -expm1f(t * log2), factor} : now{1.0f, 1.0f, factor};
    }
    __device__ void element(const now &n, const float (&x)[IN], float (&y)[OUT]) const
    {
        float g = n.clip * x[0], m = beta1 * x[1] + (1.0f - beta1) * g, size = fabsf(g), old = beta2 * x[2];
        float v = infinity ? (size <= old ? old : size) : old + (1.0f - beta2) * g * g;
        bool skips = n.clip < 0.0f;
        y[0] = skips ? 0.0f : m / n.whole1 / ((infinity ? v : sqrtf(v / n.whole2 + root_eps)) + eps);
        y[1] = skips ? x[1] : m;
        y[2] = skips ? x[2] : v;
    }
};

K_MANY_LAUNCHER(k_adam)
{
    many<pass<adam_rule>> all = {};
    for (int i = 0; i < count; i++) {
        const struct k_adam *a = (const struct k_adam *)args[i];
        adam_rule rule = {a->beta1, a->beta2, a->eps, a->root_eps, (float)log((double)a->beta1), (float)log((double)a->beta2),
                          a->step, a->clip, a->infinity};
        add_pass(all, pass<adam_rule>{{a->g, a->m, a->v}, {a->u, a->to_m, a->to_v}, a->count, false, rule});
    }
    return over_all(stream, all);
}
K_LAUNCHER(k_adam) { return k_adam_many(stream, &args, 1); }

struct descend_rule {
    enum { IN = 2, OUT = 1 };
    struct now {
        float rate;
    };
    float factor, decay, limit;
    const float *lr;
    __device__ now begin() const { return {*lr * factor}; }
    __device__ void element(const now &n, const float (&x)[IN], float (&y)[OUT]) const
    {
        float p = x[0] - n.rate * (x[1] + decay * x[0]);
        y[0] = limit <= 0.0f ? p : p > limit ? limit : p < -limit ? -limit : p;  // NaN stays
    }
};

K_MANY_LAUNCHER(k_descend)
{
    many<pass<descend_rule>> all = {};
    for (int i = 0; i < count; i++) {
        const struct k_descend *a = (const struct k_descend *)args[i];
        add_pass(all, pass<descend_rule>{{a->p, a->u}, {a->to}, a->count, false, {a->factor, a->decay, a->limit, a->lr}});
    }
    return over_all(stream, all);
}
K_LAUNCHER(k_descend) { return k_descend_many(stream, &args, 1); }

struct lerp_rule {
    enum { IN = 2, OUT = 1 };
    struct now {
        float t;
    };
    const float *t;
    __device__ now begin() const { return {*t}; }
    __device__ void element(const now &n, const float (&x)[IN], float (&y)[OUT]) const
    {
        y[0] = x[0] + n.t * (x[1] - x[0]);
    }
};

K_MANY_LAUNCHER(k_lerp)
{
    many<pass<lerp_rule>> all = {};
    for (int i = 0; i < count; i++) {
        const struct k_lerp *a = (const struct k_lerp *)args[i];
        add_pass(all, pass<lerp_rule>{{a->e, a->p}, {a->to}, a->count, false, {a->t}});
    }
    return over_all(stream, all);
}
K_LAUNCHER(k_lerp) { return k_lerp_many(stream, &args, 1); }

// ---- the Frobenius norm

enum { NORM_PARTS = 256 };  // maximum; a thread adds one of them

struct norm_of {
    const float *x, *factor;
    float *y, *parts;
    int64_t count;
    int blocks;
    bool wide;
    float target, eps;
};

static __global__ void __launch_bounds__(K_BLOCK) unit_norm_squares(const __grid_constant__ many<norm_of> all)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const int which = many_find(all.first, all.count), block = (int)blockIdx.x - all.first[which];
    const norm_of &k = all.of[which];
    float squares[EACH] = {};
    const int64_t stride = (int64_t)k.blocks * K_BLOCK * EACH;
    for (int64_t i = ((int64_t)block * K_BLOCK + threadIdx.x) * EACH; i < k.count; i += stride) {
        float x[EACH];
        load_lanes(k.x, i, k.count, k.wide, x);
#pragma unroll
        for (int j = 0; j < EACH; j++) squares[j] += x[j] * x[j];
    }
    float sum = block_sum<K_BLOCK>((squares[0] + squares[1]) + (squares[2] + squares[3]), scratch);
    if (threadIdx.x == 0) k.parts[block] = sum;
}

static __global__ void __launch_bounds__(K_BLOCK) unit_norm_scale(const __grid_constant__ many<norm_of> all)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const int which = many_find(all.first, all.count);
    const norm_of &k = all.of[which];
    int64_t i = ((int64_t)((int)blockIdx.x - all.first[which]) * K_BLOCK + threadIdx.x) * EACH;
    float x[EACH], part = (int)threadIdx.x < k.blocks ? k.parts[threadIdx.x] : 0.0f;
    load_lanes(k.x, i, k.count, k.wide, x);
    float norm = sqrtf(block_sum<K_BLOCK>(part, scratch));
    float scale = k.target * (k.factor ? *k.factor : 1.0f) / (norm + k.eps);
#pragma unroll
    for (int j = 0; j < EACH; j++) x[j] *= scale;
    store_lanes(k.y, i, k.count, k.wide, x);
}

static int norm_blocks(int64_t count)  // at least 4 elements per thread, at most 256 blocks
{
    int64_t blocks = k_divide_up(count, K_BLOCK * EACH);
    if (blocks > NORM_PARTS) return NORM_PARTS;
    return blocks < 1 ? 1 : (int)blocks;
}

size_t k_unit_norm_work(int64_t count) { return (size_t)norm_blocks(count) * sizeof(float); }

K_MANY_LAUNCHER(k_unit_norm)
{
    many<norm_of> squares = {}, scale = {};
    for (int i = 0; i < count; i++) {
        const struct k_unit_norm *a = (const struct k_unit_norm *)args[i];
        norm_of k = {a->x, a->factor, a->y, (float *)a->work, a->count, norm_blocks(a->count), is_wide(a->x) && is_wide(a->y),
                     a->target, a->eps};
        many_add(squares, k, k.blocks);
        many_add(scale, k, blocks_for(a->count, K_BLOCK * EACH));
    }
    TRY_CUDA(launch(unit_norm_squares, many_blocks(squares), K_BLOCK, stream, squares));
    return launch(unit_norm_scale, many_blocks(scale), K_BLOCK, stream, scale);
}
K_LAUNCHER(k_unit_norm) { return k_unit_norm_many(stream, &args, 1); }

// ---- the squares of several tensors, and the factor that clips them

struct squares_sum {
    const float *parts, *before;
    float *to;
    int blocks;
};

// One block. Each warp adds the parts of every eighth tensor; then one thread goes through the running sums in order.
static __global__ void __launch_bounds__(K_BLOCK) squares_finish(const __grid_constant__ many<squares_sum> all)
{
    __shared__ float sum[K_MANY];
    for (int i = (int)threadIdx.x / K_WARP; i < all.count; i += K_BLOCK / K_WARP) {
        float part = 0.0f;
        for (int j = (int)threadIdx.x % K_WARP; j < all.of[i].blocks; j += K_WARP) part += all.of[i].parts[j];
        part = warp_sum(part);
        if (threadIdx.x % K_WARP == 0) sum[i] = part;
    }
    __syncthreads();
    for (int i = 0; threadIdx.x == 0 && i < all.count; i++) {
        const squares_sum &k = all.of[i];
        *k.to = k.before ? *k.before + sum[i] : sum[i];
    }
}

size_t k_squares_work(int64_t count) { return k_unit_norm_work(count); }

K_MANY_LAUNCHER(k_squares)
{
    many<norm_of> parts = {};
    many<squares_sum> sums = {};
    for (int i = 0; i < count; i++) {
        const struct k_squares *a = (const struct k_squares *)args[i];
        norm_of k = {a->x, nullptr, nullptr, (float *)a->work, a->count, norm_blocks(a->count), is_wide(a->x), 0.0f, 0.0f};
        many_add(parts, k, k.blocks);
        many_add(sums, squares_sum{k.parts, a->before, a->to, k.blocks}, 1);
    }
    TRY_CUDA(launch(unit_norm_squares, many_blocks(parts), K_BLOCK, stream, parts));
    return launch(squares_finish, 1u, K_BLOCK, stream, sums);
}
K_LAUNCHER(k_squares) { return k_squares_many(stream, &args, 1); }

struct clip_of {
    const float *squares;
    float *to;
    float target;
};

static __global__ void __launch_bounds__(K_WARP) clip_factor(const clip_of k)
{
    if (threadIdx.x != 0) return;
    float norm = sqrtf(*k.squares);
    *k.to = norm <= k.target ? 1.0f : k.target / norm;
}

K_LAUNCHER(k_clip_factor)
{
    const struct k_clip_factor *a = (const struct k_clip_factor *)args;
    return launch(clip_factor, 1u, K_WARP, stream, clip_of{a->squares, a->to, a->target});
}

static __global__ void __launch_bounds__(K_WARP) trust(const struct k_trust k)
{
    if (threadIdx.x != 0) return;
    const float p = sqrtf(*k.squares_p), u = sqrtf(*k.squares_u);
    *k.to = p > 0.0f && u > 0.0f ? *k.lr * (p / u) : *k.lr;
}

K_LAUNCHER(k_trust) { return launch(trust, 1u, K_WARP, stream, *(const struct k_trust *)args); }

static __global__ void __launch_bounds__(K_WARP) loss_scale(const struct k_loss_scale k)
{
    if (threadIdx.x != 0) return;
    const float squares = *k.squares, scale = *k.scale, norm = sqrtf(squares);
    const int32_t good = k.counts[0], skipped = k.counts[1];
    const bool skips = !(squares < INFINITY) && scale > k.least, grows = !skips && good + 1 >= k.every;
    const bool clips = k.target > 0.0f && !(norm <= k.target * scale);
    if (k.clip) *k.clip = skips ? -1.0f : clips ? k.target / norm : 1.0f / scale;
    if (k.take) *k.take = skips ? 0.0f : 1.0f;
    if (k.to_scale) *k.to_scale = skips ? fmaxf(scale * 0.5f, k.least) : grows ? fminf(scale * 2.0f, k.most) : scale;
    if (!k.to_counts) return;
    k.to_counts[0] = skips || grows ? 0 : good + 1;
    k.to_counts[1] = skipped + (skips ? 1 : 0);
}

K_LAUNCHER(k_loss_scale)
{
    return launch(loss_scale, 1u, K_WARP, stream, *(const struct k_loss_scale *)args);
}

// ---- copies

struct copy {
    const void *from;
    void *to;
    int64_t count;  // elements; units of 16 bytes if the types are equal
    int64_t bytes;  // in total
};

// Four units per thread keep enough reads in flight; the last thread moves the remainder.
static __global__ void __launch_bounds__(K_BLOCK) assign_bytes(const __grid_constant__ many<copy> all)
{
    const int which = many_find(all.first, all.count);
    const copy &k = all.of[which];
    const int64_t first = (int64_t)((int)blockIdx.x - all.first[which]) * K_BLOCK * EACH + threadIdx.x;
    const uint4 *from = (const uint4 *)k.from;
    uint4 *to = (uint4 *)k.to, unit[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++)
        if (first + j * K_BLOCK < k.count) unit[j] = from[first + j * K_BLOCK];
#pragma unroll
    for (int j = 0; j < EACH; j++)
        if (first + j * K_BLOCK < k.count) to[first + j * K_BLOCK] = unit[j];
    if (first != 0) return;
    for (int64_t i = k.count * 16; i < k.bytes; i++) ((uint8_t *)k.to)[i] = ((const uint8_t *)k.from)[i];
}

template <typename T, typename S> static __global__ void __launch_bounds__(K_BLOCK) assign_as(const copy k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i < k.count) ((T *)k.to)[i] = from_float<T>(to_float(((const S *)k.from)[i]));
}

template <typename T> static cudaError_t assign_to(cudaStream_t stream, const copy &k, enum dtype from)
{
    const unsigned blocks = blocks_for(k.count);
    if (from == U8) return launch(assign_as<T, uint8_t>, blocks, K_BLOCK, stream, k);
    if (from == I32) return launch(assign_as<T, int32_t>, blocks, K_BLOCK, stream, k);
    BY_FLOAT(from, S, return launch(assign_as<T, S>, blocks, K_BLOCK, stream, k));
}

K_MANY_LAUNCHER(k_assign)
{
    static const int64_t size[DTYPE_COUNT] = {4, 2, 2, 1, 4};
    many<copy> all = {};
    for (int i = 0; i < count; i++) {
        const struct k_assign *a = (const struct k_assign *)args[i];
        const int64_t bytes = a->count * size[a->from_type];
        copy k = {a->from, a->to, is_wide(a->from) && is_wide(a->to) ? bytes / 16 : 0, bytes};
        many_add(all, k, blocks_for(k.count, K_BLOCK * EACH));
    }
    return launch(assign_bytes, many_blocks(all), K_BLOCK, stream, all);
}

K_LAUNCHER(k_assign)
{
    const struct k_assign *a = (const struct k_assign *)args;
    if (a->from_type == a->to_type) return k_assign_many(stream, &args, 1);
    copy k = {a->from, a->to, a->count, 0};
    BY_FLOAT(a->to_type, T, return assign_to<T>(stream, k, a->from_type));
}
