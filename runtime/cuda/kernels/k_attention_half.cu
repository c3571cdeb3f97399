// SPDX-License-Identifier: Apache-2.0
// Attention in 16 bits on tensor cores (k_mma.cuh), for heads of up to 64 channels. A block of four warps owns 64 queries, or 64
// keys for the gradients of keys and values; a warp owns 16 of them and keeps their rows and sums in registers. The other side
// comes through shared memory, as rows where channels are the depth of a product, transposed where tokens are.
//
// Scores leave a product in the registers in which the next product wants its left factor: two pieces of 16 x 8 sums are one of
// 16 x 16, so probabilities are rounded and multiplied without touching memory. Exponents are of 2, with the scale folded in.
//
// Dropout draws 128 bits for eight keys of a query that lie 16 apart, so no thread needs all keys of a draw. The block draws
// once, a bit for each pair of a query and a key, into shared memory.
#include "runtime/cuda/kernels/k_attention.cuh"
#include "runtime/cuda/kernels/k_mma.cuh"

enum { BLOCK = 128, OWN = 64, WARP_ROWS = 16, ATTENTION_SPAN = ATTENTION_LANES * ATTENTION_DRAW };
static_assert(ATTENTION_SPAN % OWN == 0 && ATTENTION_DRAW <= 8, "own keys lie in one span; a bit for each key of a draw");
static const float LOG2_E = 1.44269504f;

// One head of one sample, and this thread's position in a warp's pieces: rows g and g + 8, columns 2 t and 2 t + 1.
struct head {
    int b, h, first, warp, g, t;
    valid n;
    int64_t row;           // of query 0 among [B,H,T]
    int64_t pitch;         // between tokens of a result
};

__device__ static inline head head_of(const struct k_attention &k)
{
    head o;
    const int lane = (int)threadIdx.x % K_WARP;
    o.b = (int)blockIdx.x / k.heads, o.h = (int)blockIdx.x % k.heads;
    o.n = valid_of(k, o.b);
    o.first = (int)blockIdx.y * OWN;
    o.warp = (int)threadIdx.x / K_WARP * WARP_ROWS, o.g = lane / 4, o.t = lane % 4;
    o.row = (int64_t)blockIdx.x * k.tokens;
    o.pitch = (int64_t)k.heads * k.channels;
    return o;
}

// The thread's own token `i`, 0 or 1.
__device__ static inline int own_token(const head &o, int i) { return o.first + o.warp + o.g + 8 * i; }

// Token 0 of the head's queries, keys or values, or their gradients; of a result.
template <typename T> __device__ static inline T *queries_of(const struct k_attention &k, const head &o, const void *q)
{
    return (T *)q + (int64_t)o.b * k.tokens * k.pitch + (int64_t)o.h * k.channels;
}
template <typename T> __device__ static inline T *keys_of(const struct k_attention &k, const head &o, const void *kv)
{
    return (T *)kv + (int64_t)o.b * k.keys * k.kv_pitch + (int64_t)o.h * k.channels;
}
template <typename T> __device__ static inline T *result_of(const struct k_attention &k, const head &o, const void *y)
{
    return (T *)y + (int64_t)o.b * k.tokens * o.pitch + (int64_t)o.h * k.channels;
}

// Eight adjacent channels of a token; zero outside.
template <typename T>
__device__ static inline lanes<T, 8> read_eight(const T *from, int64_t pitch, int token, int n, int channel, int channels)
{
    if (token < n && channel < channels) return *(const lanes<T, 8> *)(from + token * pitch + channel);
    lanes<T, 8> zero;
    for (int i = 0; i < 8; i++) zero.at[i] = from_float<T>(0.0f);
    return zero;
}

// Tokens [first, first + ROWS) as rows.
template <typename T, int WIDE, int ROWS>
__device__ static inline void read_rows(const T *from, int64_t pitch, int first, int n, int channels, T (&to)[ROWS][WIDE + 8])
{
    for (int i = threadIdx.x; i < ROWS * WIDE / 8; i += BLOCK) {
        const int row = i / (WIDE / 8), channel = i % (WIDE / 8) * 8;
        *(lanes<T, 8> *)&to[row][channel] = read_eight(from, pitch, first + row, n, channel, channels);
    }
}

// The same, transposed.
template <typename T, int WIDE, int ROWS>
__device__ static inline void read_columns(const T *from, int64_t pitch, int first, int n, int channels, T (&to)[WIDE][ROWS + 8])
{
    for (int i = threadIdx.x; i < ROWS * WIDE / 8; i += BLOCK) {
        const int row = i % ROWS, channel = i / ROWS * 8;
        const lanes<T, 8> v = read_eight(from, pitch, first + row, n, channel, channels);
        for (int j = 0; j < 8; j++) to[channel + j][row] = v.at[j];
    }
}

template <typename T> __device__ static inline uint32_t pair_of(float low, float high)
{
    const T two[2] = {from_float<T>(low), from_float<T>(high)};
    uint32_t pair;
    memcpy(&pair, two, sizeof pair);
    return pair;
}

// Two adjacent pieces of sums as a left factor.
template <typename T> __device__ static inline mma_left left_of(const float (&a)[4], const float (&b)[4])
{
    return {{pair_of<T>(a[0], a[1]), pair_of<T>(a[2], a[3]), pair_of<T>(b[0], b[1]), pair_of<T>(b[2], b[3])}};
}

// The warp's 16 rows of a tile as left factors.
template <typename T, int WIDE>
__device__ static inline void take_rows(const head &o, const T (&tile)[OWN][WIDE + 8], mma_left (&mine)[WIDE / 16])
{
#pragma unroll
    for (int d = 0; d < WIDE / 16; d++) mine[d] = mma_load_left(&tile[o.warp][d * 16], WIDE + 8);
}

// sum[16, 8 N] = mine[16, WIDE] tile[8 N, WIDE]'
template <typename T, int WIDE, int N>
__device__ static inline void multiply_rows(const mma_left (&mine)[WIDE / 16], const T (&tile)[N * 8][WIDE + 8],
                                            float (&sum)[N][4])
{
#pragma unroll
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < 4; i++) sum[j][i] = 0.0f;
#pragma unroll
        for (int d = 0; d < WIDE / 16; d++) mma<T>(sum[j], mine[d], mma_load_right(&tile[j * 8][d * 16], WIDE + 8));
    }
}

// to[16, WIDE] += scores[16, 8 N] tile[WIDE, 8 N]'
template <typename T, int WIDE, int N>
__device__ static inline void add_columns(const float (&scores)[N][4], const T (&tile)[WIDE][N * 8 + 8], float (&to)[WIDE / 8][4])
{
#pragma unroll
    for (int c = 0; c < N / 2; c++) {
        const mma_left left = left_of<T>(scores[2 * c], scores[2 * c + 1]);
#pragma unroll
        for (int j = 0; j < WIDE / 8; j++) mma<T>(to[j], left, mma_load_right(&tile[j * 8][c * 16], N * 8 + 8));
    }
}

// Writes the warp's rows below `rows`, times a factor each; zeros where that is 0. Rows of `to` are `pitch` apart.
template <typename T, int WIDE>
__device__ static inline void write_rows(const head &o, int channels, int rows, const float (&sum)[WIDE / 8][4],
                                         const float (&factor)[2], T *to, int64_t pitch)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int token = own_token(o, i);
        if (token >= rows) continue;
        const bool in = factor[i] != 0.0f;
#pragma unroll
        for (int j = 0; j < WIDE / 8; j++) {
            const int channel = j * 8 + 2 * o.t;
            if (channel >= channels) continue;
            const uint32_t pair = in ? pair_of<T>(sum[j][2 * i] * factor[i], sum[j][2 * i + 1] * factor[i]) : 0;
            *(uint32_t *)(to + token * pitch + channel) = pair;
        }
    }
}

// Which keys of a span a query keeps: bit i of [query][lane] is for key i * ATTENTION_LANES + lane of the span.
template <int QUERIES> struct kept {
    uint8_t bits[QUERIES][ATTENTION_LANES];
};

// The whole block draws for queries from `query` on and the span of keys that `key` lies in. Callers wait before they read.
template <int QUERIES>
__device__ static inline void draw_kept(const struct k_attention &k, const head &o, int query, int key, kept<QUERIES> &to)
{
    if (!k.key) return;
    const uint32_t least = element_least(k.p);
    for (int i = threadIdx.x; i < QUERIES * ATTENTION_LANES; i += BLOCK) {
        const int row = i / ATTENTION_LANES, lane = i % ATTENTION_LANES;
        const rng4 r = draw_of(k, o.row + query + row, key / ATTENTION_SPAN * ATTENTION_SPAN + lane);
        uint32_t bits = 0;
        for (int j = 0; j < ATTENTION_DRAW; j++) bits |= (uint32_t)((r.v[j / 2] >> 16 * (j % 2) & 0xffffu) >= least) << j;
        to.bits[row][lane] = (uint8_t)bits;
    }
}

template <int QUERIES> __device__ static inline bool is_kept(const kept<QUERIES> &of, int query, int key)
{
    return of.bits[query][key % ATTENTION_LANES] >> key / ATTENTION_LANES % ATTENTION_DRAW & 1;
}

// scores[j][.] *= the dropout's factors, for keys as columns from `first` on.
template <int N>
__device__ static inline void mask_keys(const struct k_attention &k, const head &o, int first, const kept<OWN> &of,
                                        float (&scores)[N][4])
{
    if (!k.key) return;
    const float factor = element_factor(k.p);
#pragma unroll
    for (int j = 0; j < N; j++)
        for (int i = 0; i < 4; i++)
            scores[j][i] *= is_kept(of, o.warp + o.g + i / 2 * 8, first + j * 8 + 2 * o.t + i % 2) ? factor : 0.0f;
}

__device__ static inline float four_most(float x)  // over the lanes of a row
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ static inline float four_sum(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// ---- forward, 64 keys at a time with a running maximum

// Replaces scores by probabilities that are not yet divided by their sum; `fade`: the factor for the sums so far; `top` is in
// powers of 2.
template <int N>
__device__ static inline void soften(const struct k_attention &k, const head &o, int first, const int (&seen)[2],
                                     float (&s)[N][4], float (&top)[2], float (&total)[2], float (&fade)[2])
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float scale = k.scale * LOG2_E;
        float most = -INFINITY, sum = 0.0f;
#pragma unroll
        for (int j = 0; j < N; j++)
            for (int e = 0; e < 2; e++) {
                float &v = s[j][2 * i + e];
                v = first + j * 8 + 2 * o.t + e < seen[i] ? v * scale : -INFINITY;
                most = fmaxf(most, v);
            }
        most = fmaxf(top[i], four_most(most));
        fade[i] = most == -INFINITY ? 1.0f : exp2f(top[i] - most);  // no key so far
#pragma unroll
        for (int j = 0; j < N; j++)
            for (int e = 0; e < 2; e++) {
                float &v = s[j][2 * i + e];
                v = v == -INFINITY ? 0.0f : exp2f(v - most);
                sum += v;
            }
        top[i] = most, total[i] = total[i] * fade[i] + sum;
    }
}

// How many keys the thread's rows of queries see; returns the most that a query of the block sees.
__device__ static inline int seen_of(const struct k_attention &k, const head &o, int (&seen)[2])
{
    for (int i = 0; i < 2; i++) seen[i] = seen_by(k, o.n, own_token(o, i));
    const int last = o.first + OWN < o.n.queries ? o.first + OWN : o.n.queries;
    return o.first < o.n.queries ? seen_by(k, o.n, last - 1) : 0;
}

template <typename T, int WIDE> static __global__ void __launch_bounds__(BLOCK, 2) half_attend(const struct k_attention k)
{
    enum { KEYS = 64, N = KEYS / 8 };
    alignas(16) __shared__ T rows[KEYS][WIDE + 8], columns[WIDE][KEYS + 8];
    __shared__ kept<OWN> span;
    const head o = head_of(k);
    mma_left q[WIDE / 16];
    int seen[2];
    const int end = seen_of(k, o, seen);
    float y[WIDE / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, total[2] = {}, factor[2];
    read_rows<T, WIDE, OWN>(queries_of<T>(k, o, k.q), k.pitch, o.first, o.n.queries, k.channels, rows);
    __syncthreads();
    take_rows<T, WIDE>(o, rows, q);
    for (int first = 0; first < end; first += KEYS) {
        float s[N][4], fade[2];
        __syncthreads();
        read_rows<T, WIDE, KEYS>(keys_of<T>(k, o, k.kv[0]), k.kv_pitch, first, o.n.keys, k.channels, rows);
        read_columns<T, WIDE, KEYS>(keys_of<T>(k, o, k.kv[1]), k.kv_pitch, first, o.n.keys, k.channels, columns);
        if (first % ATTENTION_SPAN == 0) draw_kept(k, o, o.first, first, span);
        __syncthreads();
        multiply_rows<T, WIDE, N>(q, rows, s);
        soften<N>(k, o, first, seen, s, top, total, fade);
        mask_keys<N>(k, o, first, span, s);
#pragma unroll
        for (int j = 0; j < WIDE / 8; j++)
            for (int i = 0; i < 4; i++) y[j][i] *= fade[i / 2];
        add_columns<T, WIDE, N>(s, columns, y);
    }
    for (int i = 0; i < 2; i++) {
        const int token = own_token(o, i);
        total[i] = four_sum(total[i]);
        factor[i] = seen[i] > 0 ? 1.0f / total[i] : 0.0f;
        if (k.lse && o.t == 0 && token < k.tokens) k.lse[o.row + token] = seen[i] > 0 ? top[i] / LOG2_E + logf(total[i]) : 0.0f;
    }
    if (k.to) write_rows<T, WIDE>(o, k.channels, k.tokens, y, factor, result_of<T>(k, o, k.to), o.pitch);
}

// ---- backward, 32 tokens of the other side at a time

// s and dp, of one row of queries: the masked probability and the gradient of the unscaled score. `lse` is in powers of 2.
__device__ static inline void soften_back(const struct k_attention &k, float lse, float delta, float mask, float &s, float &dp)
{
    const float p = exp2f(s * (k.scale * LOG2_E) - lse);
    dp = p * (dp * mask - delta) * k.scale;
    s = p * mask;
}

enum { OTHER = 32, PIECES = OTHER / 8 };

template <typename T, int WIDE> static __global__ void __launch_bounds__(BLOCK, 2) half_queries(const struct k_attention k)
{
    alignas(16) __shared__ T own[OWN][WIDE + 8], keys[OTHER][WIDE + 8], values[OTHER][WIDE + 8], columns[WIDE][OTHER + 8];
    __shared__ kept<OWN> span;
    const head o = head_of(k);
    const T *k_rows = keys_of<T>(k, o, k.kv[0]), *v_rows = keys_of<T>(k, o, k.kv[1]);
    mma_left q[WIDE / 16], dy[WIDE / 16];
    int seen[2];
    const int end = seen_of(k, o, seen);
    float dq[WIDE / 8][4] = {}, lse[2], delta[2], factor[2];
    read_rows<T, WIDE, OWN>(queries_of<T>(k, o, k.q), k.pitch, o.first, o.n.queries, k.channels, own);
    __syncthreads();
    take_rows<T, WIDE>(o, own, q);
    __syncthreads();
    read_rows<T, WIDE, OWN>(result_of<T>(k, o, k.dy), o.pitch, o.first, o.n.queries, k.channels, own);
    __syncthreads();
    take_rows<T, WIDE>(o, own, dy);
    for (int i = 0; i < 2; i++) {
        lse[i] = seen[i] > 0 ? k.lse[o.row + own_token(o, i)] * LOG2_E : 0.0f;
        delta[i] = seen[i] > 0 ? k.delta[o.row + own_token(o, i)] : 0.0f;
        factor[i] = seen[i] > 0;
    }
    for (int first = 0; first < end; first += OTHER) {
        float s[PIECES][4], dp[PIECES][4];
        __syncthreads();
        read_rows<T, WIDE, OTHER>(k_rows, k.kv_pitch, first, o.n.keys, k.channels, keys);
        read_rows<T, WIDE, OTHER>(v_rows, k.kv_pitch, first, o.n.keys, k.channels, values);
        read_columns<T, WIDE, OTHER>(k_rows, k.kv_pitch, first, o.n.keys, k.channels, columns);
        if (first % ATTENTION_SPAN == 0) draw_kept(k, o, o.first, first, span);
        __syncthreads();
        multiply_rows<T, WIDE, PIECES>(q, keys, s);
        multiply_rows<T, WIDE, PIECES>(dy, values, dp);
        mask_keys<PIECES>(k, o, first, span, dp);
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            for (int i = 0; i < 4; i++) {
                soften_back(k, lse[i / 2], delta[i / 2], 1.0f, s[j][i], dp[j][i]);
                if (first + j * 8 + 2 * o.t + i % 2 >= seen[i / 2]) dp[j][i] = 0.0f;
            }
        add_columns<T, WIDE, PIECES>(dp, columns, dq);
    }
    write_rows<T, WIDE>(o, k.channels, k.tokens, dq, factor, queries_of<T>(k, o, k.dq), k.pitch);
}

template <typename T, int WIDE> static __global__ void __launch_bounds__(BLOCK, 2) half_keys(const struct k_attention k)
{
    alignas(16) __shared__ T own[OWN][WIDE + 8], rows[OTHER][WIDE + 8], columns[WIDE][OTHER + 8];
    __shared__ kept<OTHER> span;
    const head o = head_of(k);  // own tokens are keys
    const T *queries = queries_of<T>(k, o, k.q), *dys = result_of<T>(k, o, k.dy);
    mma_left key[WIDE / 16], value[WIDE / 16];
    const float factor = element_factor(k.p);
    float dk[WIDE / 8][4] = {}, dv[WIDE / 8][4] = {};
    read_rows<T, WIDE, OWN>(keys_of<T>(k, o, k.kv[0]), k.kv_pitch, o.first, o.n.keys, k.channels, own);
    __syncthreads();
    take_rows<T, WIDE>(o, own, key);
    __syncthreads();
    read_rows<T, WIDE, OWN>(keys_of<T>(k, o, k.kv[1]), k.kv_pitch, o.first, o.n.keys, k.channels, own);
    __syncthreads();
    take_rows<T, WIDE>(o, own, value);
    const int begin = first_to_see(k, o.n, o.first) / OTHER * OTHER, end = o.first < o.n.keys ? o.n.queries : 0;
    for (int first = begin; first < end; first += OTHER) {
        float s[PIECES][4], dp[PIECES][4];
        __syncthreads();
        read_rows<T, WIDE, OTHER>(queries, k.pitch, first, o.n.queries, k.channels, rows);
        draw_kept(k, o, first, o.first, span);
        __syncthreads();
        multiply_rows<T, WIDE, PIECES>(key, rows, s);
        __syncthreads();
        read_rows<T, WIDE, OTHER>(dys, o.pitch, first, o.n.queries, k.channels, rows);
        read_columns<T, WIDE, OTHER>(dys, o.pitch, first, o.n.queries, k.channels, columns);
        __syncthreads();
        multiply_rows<T, WIDE, PIECES>(value, rows, dp);
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            for (int i = 0; i < 4; i++) {
                const int column = j * 8 + 2 * o.t + i % 2, query = first + column, token = own_token(o, i / 2);
                const float mask = !k.key ? 1.0f : is_kept(span, column, token) ? factor : 0.0f;
                if (token < seen_by(k, o.n, query))
                    soften_back(k, k.lse[o.row + query] * LOG2_E, k.delta[o.row + query], mask, s[j][i], dp[j][i]);
                else
                    s[j][i] = dp[j][i] = 0.0f;
            }
        add_columns<T, WIDE, PIECES>(s, columns, dv);
        __syncthreads();
        read_columns<T, WIDE, OTHER>(queries, k.pitch, first, o.n.queries, k.channels, columns);
        __syncthreads();
        add_columns<T, WIDE, PIECES>(dp, columns, dk);
    }
    const float in[2] = {own_token(o, 0) < o.n.keys ? 1.0f : 0.0f, own_token(o, 1) < o.n.keys ? 1.0f : 0.0f};
    write_rows<T, WIDE>(o, k.channels, k.keys, dk, in, keys_of<T>(k, o, k.dkv[0]), k.kv_pitch);
    write_rows<T, WIDE>(o, k.channels, k.keys, dv, in, keys_of<T>(k, o, k.dkv[1]), k.kv_pitch);
}

// ---- launching

static dim3 grid_of(const struct k_attention *k, int rows)
{
    return dim3((unsigned)(k->samples * k->heads), (unsigned)k_divide_up(rows, OWN));
}

#define BY_HALF(k, T, WIDE, ...)                                                                                       \
    if ((k)->type == BF16) { typedef __nv_bfloat16 T; BY_WIDE(k, WIDE, __VA_ARGS__) }                                  \
    else { typedef __half T; BY_WIDE(k, WIDE, __VA_ARGS__) }
#define BY_WIDE(k, WIDE, ...)                                                                                          \
    if ((k)->channels <= 32) { enum { WIDE = 32 }; __VA_ARGS__; }                                                      \
    else { enum { WIDE = 64 }; __VA_ARGS__; }

K_LAUNCHER(k_attention_half)
{
    const struct k_attention *k = (const struct k_attention *)args;
    BY_HALF(k, T, WIDE, return launch(half_attend<T, WIDE>, grid_of(k, k->tokens), BLOCK, stream, *k));
}

K_LAUNCHER(k_attention_half_grad)
{
    const struct k_attention *k = (const struct k_attention *)args;
    TRY_CUDA(k_attention_delta(stream, k));
    BY_HALF(k, T, WIDE, {
        if (k->dq) TRY_CUDA(launch(half_queries<T, WIDE>, grid_of(k, k->tokens), BLOCK, stream, *k));
        return k->dkv[0] ? launch(half_keys<T, WIDE>, grid_of(k, k->keys), BLOCK, stream, *k) : cudaSuccess;
    });
}
