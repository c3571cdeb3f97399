// SPDX-License-Identifier: Apache-2.0
// Matrix products. Two kernels: f32 tiles on the arithmetic units (k_tile.cuh), and 16-bit tiles on tensor cores (k_mma.cuh: 64
// x 64 x 32 per step, four warps of 32 x 32 each). Both prefetch one step and take any sizes: elements outside are zero. Reads
// are 16 bytes wide if the rows in memory allow it.
//
// The products of training are small and bound by memory. So an estimate of clocks (cut_of) chooses the tile size and the
// number of depth slices, for the 132 processors of an H100 or H200 on every GPU: the choice fixes the order of sums and is
// therefore part of "same seed, same bytes".
#include "runtime/cuda/kernels/k_many.cuh"
#include "runtime/cuda/kernels/k_matmul.h"
#include "runtime/cuda/kernels/k_mma.cuh"
#include "runtime/cuda/kernels/k_tile.cuh"

struct matmul {
    int m, n, k, tile, slice, slices, columns;  // columns: tiles per row
    int64_t first;                        // first matrix of the batch
    int pitch_a, pitch_b;
    bool ta, tb, wide_a, wide_b;          // wide: rows in memory start at multiples of 16 bytes
    float alpha, beta;
    const void *a, *b, *c;
    void *y;
    float *work;                          // [batch, slice, m, n]; NULL with one slice
    const float *bias;
    enum dtype out;
};

__device__ static inline float load_element(const void *from, enum dtype type, int64_t i)
{
    return type == F32    ? ((const float *)from)[i]
           : type == BF16 ? to_float(((const __nv_bfloat16 *)from)[i])
                          : to_float(((const __half *)from)[i]);
}

__device__ static inline void store_element(void *to, enum dtype type, int64_t i, float x)
{
    if (type == F32) ((float *)to)[i] = x;
    else if (type == BF16) ((__nv_bfloat16 *)to)[i] = from_float<__nv_bfloat16>(x);
    else ((__half *)to)[i] = from_float<__half>(x);
}

// Writes element i of the results, which lies in this column of a matrix.
__device__ static inline void store_result(const matmul &k, int64_t i, int column, float sum)
{
    float more = k.c ? k.beta * load_element(k.c, k.out, i) : 0.0f;
    if (k.bias) more += k.bias[column];
    store_element(k.y, k.out, i, k.alpha * sum + more);
}

// Writes a finished sum to the result, or to the scratch of its slice.
__device__ static inline void store_sum(const matmul &k, int64_t batch, int slice, int row, int column, float sum)
{
    if (row >= k.m || column >= k.n) return;
    int64_t within = (int64_t)row * k.n + column, size = (int64_t)k.m * k.n;
    if (k.work) {
        k.work[(batch * k.slices + slice) * size + within] = sum;
        return;
    }
    store_result(k, batch * size + within, column, sum);
}

// A block's work: one tile of one slice of one matrix.
struct job {
    int64_t batch;
    int slice, row, column, begin, end;
};

__device__ static inline job job_at(const matmul &k, int tile, int64_t batch, int slice, int index)
{
    job j;
    j.batch = batch;
    j.slice = slice;
    j.row = index / k.columns * tile;
    j.column = index % k.columns * tile;
    j.begin = j.slice * k.slice;
    j.end = k.k - j.begin < k.slice ? k.k : j.begin + k.slice;
    return j;
}

__device__ static inline job job_of(const matmul &k, int tile)
{
    return job_at(k, tile, k.first + blockIdx.z, (int)blockIdx.y, (int)blockIdx.x);
}

// One factor as a block reads it: rows (or columns) from `first` on, at a depth. `deep`: depth is contiguous.
template <typename S> struct factor {
    const S *at;
    int first, rows, end;
    int64_t pitch;
    bool deep, wide;
};

template <typename S> __device__ static inline factor<S> left_of(const matmul &k, const job &j)
{
    const int64_t size = (int64_t)(k.ta ? k.k : k.m) * k.pitch_a;
    return {(const S *)k.a + j.batch * size, j.row, k.m, j.end, k.pitch_a, !k.ta, k.wide_a};
}

template <typename S> __device__ static inline factor<S> right_of(const matmul &k, const job &j)
{
    return {(const S *)k.b + j.batch * k.n * k.k, j.column, k.n, j.end, k.pitch_b, k.tb, k.wide_b};
}

// N adjacent elements: of row `row` from `depth` on, or of that depth from that row on; zero outside.
template <int N, typename S>
__device__ static inline lanes<S, N> read_factor(const factor<S> &f, int row, int depth)
{
    lanes<S, N> v;
    const S *at = f.at + (f.deep ? row * f.pitch + depth : depth * f.pitch + row);
    bool in = row < f.rows && depth < f.end;
    if (f.wide && in) return *(const lanes<S, N> *)at;  // N divides the pitch, so all of them are inside of a row
#pragma unroll
    for (int i = 0; i < N; i++) {
        bool there = f.deep ? in && depth + i < f.end : in && row + i < f.rows;
        v.at[i] = there ? at[i] : from_float<S>(0.0f);
    }
    return v;
}

// ---- f32

template <int TILE> struct f32_side {
    factor<float> from;
    tile_four mine;
    lanes<float, 4> v;

    __device__ f32_side(const factor<float> &f) : from(f), mine(tile_four_of<TILE>(f.deep)) {}
    __device__ void fetch(int d) { v = read_factor<4>(from, from.first + mine.row, d + mine.depth); }
    __device__ void put(tile_side<TILE> &side) { tile_put<TILE>(side, mine, v); }
};

template <int TILE> struct f32_source {
    f32_side<TILE> a, b;
    __device__ f32_source(const factor<float> &a_, const factor<float> &b_) : a(a_), b(b_) {}
    __device__ void fetch(int d)
    {
        a.fetch(d);
        b.fetch(d);
    }
    __device__ void put(tile_side<TILE> &l, tile_side<TILE> &r)
    {
        a.put(l);
        b.put(r);
    }
};

template <int TILE> __device__ static inline void multiply_tile(const matmul &k, const job &j)
{
    enum { EACH = tile_of<TILE>::EACH };
    f32_source<TILE> source(left_of<float>(k, j), right_of<float>(k, j));
    tile_sums<TILE> sum;
    tile_product<TILE>(source, j.begin, j.end, sum);
    int row = j.row + tile_row<TILE>(), column = j.column + tile_column<TILE>();
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int l = 0; l < EACH; l++) store_sum(k, j.batch, j.slice, row + i, column + l, sum[i][l]);
}

template <int TILE> static __global__ void __launch_bounds__(K_BLOCK) matmul_f32(const matmul k)
{
    multiply_tile<TILE>(k, job_of(k, TILE));
}

// Computes several products in one launch, each with its own size of tile. A block computes one slice of one tile.
static __global__ void __launch_bounds__(K_BLOCK) matmul_f32_many(const __grid_constant__ many<matmul> all)
{
    const int which = many_find(all.first, all.count), block = (int)blockIdx.x - all.first[which];
    const matmul &k = all.of[which];
    const job j = job_at(k, k.tile, 0, block % k.slices, block / k.slices);
    if (k.tile == 64) multiply_tile<64>(k, j);
    else multiply_tile<32>(k, j);
}

// ---- 16 bits: in shared memory depth is contiguous in both factors, with a pitch 8 elements above a power of two

enum { HALF_BLOCK = 128, HALF_TILE = 64, HALF_DEPTH = 32, HALF_PITCH = HALF_DEPTH + 8 };
template <typename T> using half_tile = T[HALF_TILE][HALF_PITCH];

// A thread moves 2 x 8 elements per step. A factor whose depth is not contiguous is transposed on the way: a lane is then a
// depth, so that the lanes of a warp write adjacent elements.
template <typename S, typename T> struct half_side {
    factor<S> from;
    lanes<S, 8> v[2];

    __device__ half_side(const factor<S> &f) : from(f) {}
    __device__ int row(int i) const
    {
        int t = (int)threadIdx.x;
        return from.deep ? t / 4 + i * 32 : (t / 32 + i * 4) * 8;
    }
    __device__ int depth() const { return from.deep ? (int)threadIdx.x % 4 * 8 : (int)threadIdx.x % 32; }
    __device__ void fetch(int d)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) v[i] = read_factor<8>(from, from.first + row(i), d + depth());
    }
    __device__ void put(half_tile<T> &to)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            lanes<T, 8> rounded;
#pragma unroll
            for (int l = 0; l < 8; l++) rounded.at[l] = from_float<T>(to_float(v[i].at[l]));
            if (from.deep) *(lanes<T, 8> *)&to[row(i)][depth()] = rounded;
            else
#pragma unroll
                for (int l = 0; l < 8; l++) to[row(i) + l][depth()] = rounded.at[l];
        }
    }
};

// A warp's 32 x 32 sums: 2 x 4 pieces of 16 x 8.
typedef float half_sums[2][4][4];

template <typename T>
__device__ static inline void half_step(const half_tile<T> &left, const half_tile<T> &right, half_sums &sum)
{
    int warp = (int)threadIdx.x / K_WARP;
#pragma unroll
    for (int d = 0; d < HALF_DEPTH; d += 16) {
        mma_left a[2];
        mma_right b[4];
        for (int i = 0; i < 2; i++) a[i] = mma_load_left(&left[warp / 2 * 32 + i * 16][d], HALF_PITCH);
        for (int i = 0; i < 4; i++) b[i] = mma_load_right(&right[warp % 2 * 32 + i * 8][d], HALF_PITCH);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int l = 0; l < 4; l++) mma<T>(sum[i][l], a[i], b[l]);
    }
}

template <typename T, typename A, typename B>
static __global__ void __launch_bounds__(HALF_BLOCK) matmul_half(const matmul k)
{
    alignas(16) __shared__ half_tile<T> left[2], right[2];
    job j = job_of(k, HALF_TILE);
    half_side<A, T> a(left_of<A>(k, j));
    half_side<B, T> b(right_of<B>(k, j));
    half_sums sum = {};
    a.fetch(j.begin), b.fetch(j.begin);
    a.put(left[0]), b.put(right[0]);
    __syncthreads();
    for (int d = j.begin, at = 0; d < j.end; d += HALF_DEPTH, at ^= 1) {
        bool more = d + HALF_DEPTH < j.end;
        if (more) a.fetch(d + HALF_DEPTH), b.fetch(d + HALF_DEPTH);
        half_step<T>(left[at], right[at], sum);
        if (more) a.put(left[at ^ 1]), b.put(right[at ^ 1]);
        __syncthreads();
    }
    int warp = (int)threadIdx.x / K_WARP, lane = (int)threadIdx.x % K_WARP;
    int row = j.row + warp / 2 * 32 + lane / 4, column = j.column + warp % 2 * 32 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int l = 0; l < 4; l++)
#pragma unroll
            for (int v = 0; v < 4; v++)
                store_sum(k, j.batch, j.slice, row + i * 16 + v / 2 * 8, column + l * 8 + v % 2, sum[i][l][v]);
}

// ---- adding the slices

__device__ static inline void add_slices(const matmul &k, int64_t batch, int64_t within)
{
    int64_t size = (int64_t)k.m * k.n;
    if (within >= size) return;
    int64_t i = batch * size + within;
    float sum = 0.0f;
#pragma unroll 8
    for (int s = 0; s < k.slices; s++) sum += k.work[(batch * k.slices + s) * size + within];
    store_result(k, i, (int)(within % k.n), sum);
}

static __global__ void __launch_bounds__(K_BLOCK) matmul_finish(const matmul k)
{
    add_slices(k, k.first + blockIdx.z, (int64_t)blockIdx.x * K_BLOCK + threadIdx.x);
}

static __global__ void __launch_bounds__(K_BLOCK) matmul_finish_many(const __grid_constant__ many<matmul> all)
{
    const int which = many_find(all.first, all.count);
    add_slices(all.of[which], 0, (int64_t)((int)blockIdx.x - all.first[which]) * K_BLOCK + threadIdx.x);
}

// ---- launching

struct cut {
    int tile, slice, slices;
};

static bool is_f32(const struct k_matmul *a) { return a->a_type == F32 && a->b_type == F32; }

static int64_t tiles_of(const struct k_matmul *a, int tile) { return k_divide_up(a->m, tile) * k_divide_up(a->n, tile); }

static cut slices_of(int k, int tile, int depth, int64_t wanted)
{
    cut c = {tile, 0, 0};
    c.slice = (int)(k_divide_up(k_divide_up(k, wanted), depth) * depth);
    c.slices = (int)k_divide_up(k, c.slice);
    return c;
}

// Estimated clocks. A step of a block takes at least the latency of a read, and `step` if the processor is shared. Slices cost
// a second kernel that reads eight of them at a time, and their sums pass the L2 cache twice at 2 KB per clock.
static double clocks_of(const struct k_matmul *a, cut c, int depth, double step)
{
    const double processors = 132, latency = 600, second = 3000, each = latency / 8, cache = 2048;
    double tiles = (double)tiles_of(a, c.tile) * (double)a->batch * c.slices;
    double shared = (double)k_divide_up((int64_t)tiles, (int64_t)processors) * step;
    double clocks = (double)k_divide_up(c.slice, depth) * (shared > latency ? shared : latency);
    double sums = (double)a->m * a->n * (double)a->batch * c.slices * 2 * sizeof(float);
    return c.slices == 1 ? clocks : clocks + second + c.slices * each + sums / cache;
}

static cut cut_of(const struct k_matmul *a)
{
    // tile, depth of a step, its clocks: 64 x 64 x 16 and 32 x 32 x 32 in f32, 64 x 64 x 32 on tensor cores
    static const struct {
        int tile, depth;
        double step;
    } shape[] = {{64, 16, 600}, {32, 32, 512}, {HALF_TILE, HALF_DEPTH, 300}};
    bool f32 = is_f32(a);
    cut best = {};
    double least = 0;
    for (int i = f32 ? 0 : 2; i < (f32 ? 2 : 3); i++)
        for (int64_t wanted = 1; wanted <= 64; wanted *= 2) {
            cut c = slices_of(a->k, shape[i].tile, shape[i].depth, wanted);
            double clocks = clocks_of(a, c, shape[i].depth, shape[i].step);
            if (best.tile && clocks >= least) continue;
            best = c, least = clocks;
        }
    return best;
}

size_t k_matmul_work(const struct k_matmul *a)
{
    cut c = cut_of(a);
    return c.slices == 1 ? 0 : (size_t)a->m * (size_t)a->n * (size_t)a->batch * (size_t)c.slices * sizeof(float);
}

typedef void kernel_of(const matmul);

template <typename T> static kernel_of *half_kernel(const struct k_matmul *a)
{
    if (a->a_type == F32) return matmul_half<T, float, T>;
    if (a->b_type == F32) return matmul_half<T, T, float>;
    return matmul_half<T, T, T>;
}

static bool is_wide(const void *from, int64_t pitch, int lanes)
{
    return (uintptr_t)from % 16 == 0 && pitch % lanes == 0;
}

static matmul matmul_of(const struct k_matmul *a, const cut &c, int at_once)
{
    matmul k = {a->m, a->n, a->k, c.tile, c.slice, c.slices, (int)k_divide_up(a->n, c.tile), 0, a->pitch_a, 0, a->ta, a->tb,
                false, false, a->alpha, a->beta, a->a, a->b, a->c, a->y, c.slices == 1 ? NULL : (float *)a->work,
                a->bias, a->out};
    if (!k.pitch_a) k.pitch_a = a->ta ? a->m : a->k;
    k.pitch_b = a->tb ? a->k : a->n;
    k.wide_a = is_wide(a->a, k.pitch_a, at_once);
    k.wide_b = is_wide(a->b, k.pitch_b, at_once);
    return k;
}

K_LAUNCHER(k_matmul)
{
    const struct k_matmul *a = (const struct k_matmul *)args;
    bool f32 = is_f32(a);
    enum dtype narrow = a->a_type == F32 ? a->b_type : a->a_type;
    cut c = cut_of(a);
    matmul k = matmul_of(a, c, f32 ? 4 : 8);
    kernel_of *kernel = f32              ? (c.tile == 64 ? matmul_f32<64> : matmul_f32<32>)
                        : narrow == BF16 ? half_kernel<__nv_bfloat16>(a)
                                         : half_kernel<__half>(a);
    const unsigned block = f32 ? (unsigned)K_BLOCK : (unsigned)HALF_BLOCK;
    const int64_t most = 65535;  // limit of a grid's z dimension
    for (; k.first < a->batch; k.first += most) {
        unsigned batch = (unsigned)(a->batch - k.first < most ? a->batch - k.first : most);
        dim3 grid((unsigned)tiles_of(a, c.tile), (unsigned)c.slices, batch);
        TRY_CUDA(launch(kernel, grid, block, stream, k));
        if (c.slices == 1) continue;
        dim3 all(blocks_for((int64_t)a->m * a->n), 1, batch);
        TRY_CUDA(launch(matmul_finish, all, K_BLOCK, stream, k));
    }
    return cudaSuccess;
}

// A product of many tiles fills a GPU alone; the limit also keeps the sum of all blocks within an int.
bool k_matmul_is_small(const struct k_matmul *a)
{
    const int most = 1 << 16;
    const cut c = cut_of(a);
    return is_f32(a) && a->batch == 1 && tiles_of(a, c.tile) * c.slices <= most;
}

K_MANY_LAUNCHER(k_matmul)
{
    many<matmul> products = {}, sliced = {};
    for (int tile = 64; tile >= 32; tile -= 32)  // the blocks with more work begin first
        for (int i = 0; i < count; i++) {
            const struct k_matmul *a = (const struct k_matmul *)args[i];
            const cut c = cut_of(a);
            const matmul k = matmul_of(a, c, 4);
            if (c.tile != tile) continue;
            many_add(products, k, tiles_of(a, c.tile) * c.slices);
            if (c.slices > 1) many_add(sliced, k, blocks_for((int64_t)a->m * a->n));
        }
    TRY_CUDA(launch(matmul_f32_many, many_blocks(products), K_BLOCK, stream, products));
    return sliced.count ? launch(matmul_finish_many, many_blocks(sliced), K_BLOCK, stream, sliced) : cudaSuccess;
}
