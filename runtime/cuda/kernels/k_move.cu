// SPDX-License-Identifier: Apache-2.0
// Moving elements: one thread per unit of the result, adjacent threads write adjacent units. Offsets are computed by divisions
// (k_divide.h), once per unit of up to 16 bytes. Cost: every byte is read once and written once.
#include "runtime/cuda/kernels/k_move.h"

#include "runtime/cuda/kernels/k_layout.cuh"
#include "runtime/cuda/kernels/k_select.cuh"

// Expands a statement with U as a type of `width` bytes.
#define BY_WIDTH(width, U, ...)                                                                                        \
    switch (width) {                                                                                                   \
    case 1: { typedef uint8_t U; __VA_ARGS__; } break;                                                                 \
    case 2: { typedef uint16_t U; __VA_ARGS__; } break;                                                                \
    case 4: { typedef uint32_t U; __VA_ARGS__; } break;                                                                \
    case 8: { typedef uint2 U; __VA_ARGS__; } break;                                                                   \
    case 16: { typedef uint4 U; __VA_ARGS__; } break;                                                                  \
    default: break;                                                                                                    \
    }                                                                                                                  \
    return cudaErrorInvalidValue

__device__ static inline int64_t thread_index() { return (int64_t)blockIdx.x * K_BLOCK + threadIdx.x; }

// ---- concat, slice, copies

template <typename U> __global__ void join(const struct k_join k)
{
    int64_t i = thread_index(), run = i, at = k_split_any(&k.by_run, &run);
    if (run >= k.runs) return;
    const U *from = (const U *)k.from[0];
    int64_t begin = 0, pitch = k.pitch[0];
    for (int part = 1; part < MAX_IN && part < k.parts; part++)
        if (at >= k.begin[part]) from = (const U *)k.from[part], begin = k.begin[part], pitch = k.pitch[part];
    ((U *)k.to)[i] = from ? from[run * pitch + at - begin] : U();
}

K_LAUNCHER(k_join)
{
    const struct k_join *k = (const struct k_join *)args;
    BY_WIDTH(k->width, U, return launch(join<U>, blocks_for(k->runs * k->begin[k->parts]), K_BLOCK, stream, *k));
}

// ---- append

template <typename U> __global__ void append(const struct k_append k)
{
    const int64_t i = thread_index(), row = i / k.units;
    if (row >= k.rows) return;
    const int64_t sample = row / k.each, at = k.at[k.shared ? 0 : sample] + row % k.each;
    if (at >= 0 && at < k.most) ((U *)k.cache)[(sample * k.most + at) * k.units + i % k.units] = ((const U *)k.x)[i];
}

K_LAUNCHER(k_append)
{
    const struct k_append *k = (const struct k_append *)args;
    BY_WIDTH(k->width, U, return launch(append<U>, blocks_for(k->rows * k->units), K_BLOCK, stream, *k));
}

// ---- reorder: a thread holds one unit of each row of a group

template <typename U> __global__ void reorder(const struct k_reorder k)
{
    const int64_t i = thread_index(), t = i / k.units % k.positions, row = k.positions * k.units;
    const int64_t first = i / row * k.group;
    if (i >= k.groups * row || (k.at && t > *k.at)) return;
    U *x = (U *)k.x + first * row + i % row, kept[REORDER_MOST];
#pragma unroll  // with constant indices the rows are registers
    for (int r = 0; r < REORDER_MOST; r++) {
        if (r >= k.group) continue;
        const int64_t from = k.from[first + r] - first;
        kept[r] = x[(from >= 0 && from < k.group ? from : r) * row];
    }
#pragma unroll
    for (int r = 0; r < REORDER_MOST; r++)
        if (r < k.group) x[r * row] = kept[r];
}

K_LAUNCHER(k_reorder)
{
    const struct k_reorder *k = (const struct k_reorder *)args;
    BY_WIDTH(k->width, U, return launch(reorder<U>, blocks_for(k->groups * k->positions * k->units), K_BLOCK, stream, *k));
}

// ---- transpose

template <typename U> __global__ void transpose(const struct k_transpose k)
{
    int64_t i = thread_index();
    if (i < k.count) ((U *)k.y)[i] = ((const U *)k.x)[dims_offset(k.of, i)];
}

K_LAUNCHER(k_transpose)
{
    const struct k_transpose *k = (const struct k_transpose *)args;
    BY_WIDTH(k->width, U, return launch(transpose<U>, blocks_for(k->count), K_BLOCK, stream, *k));
}

template <typename U> __global__ void transpose_tiles(const struct k_transpose_tiles k)
{
    __shared__ U scratch[K_TILE][K_TILE + 1];  // one column of padding avoids bank conflicts when threads read a column
    int64_t tile = blockIdx.x, other = tile / k.tiles_along, along = (tile - other * k.tiles_along) * K_TILE;
    int64_t rest = other / k.tiles_down, down = (other - rest * k.tiles_down) * K_TILE, from = 0, to = 0;
    for (int d = MAX_RANK - 1; d >= 0; d--) {
        if (d >= k.rest.rank) continue;
        int64_t at = k_split_any(&k.rest.by[d], &rest);
        from += at * k.rest.stride[d], to += at * k.to_stride[d];
    }
    int across = threadIdx.x % K_TILE, first = threadIdx.x / K_TILE;
    const U *x = (const U *)k.x + from;
    U *y = (U *)k.y + to;
    for (int i = first; i < K_TILE; i += K_BLOCK / K_TILE)
        if (down + i < k.down && along + across < k.along) scratch[i][across] = x[(down + i) * k.x_stride + along + across];
    __syncthreads();
    for (int i = first; i < K_TILE; i += K_BLOCK / K_TILE)
        if (along + i < k.along && down + across < k.down) y[(along + i) * k.y_stride + down + across] = scratch[across][i];
}

K_LAUNCHER(k_transpose_tiles)
{
    const struct k_transpose_tiles *k = (const struct k_transpose_tiles *)args;
    unsigned grid = (unsigned)k->tiles;
    switch (k->width) {
    case 1: return launch(transpose_tiles<uint8_t>, grid, K_BLOCK, stream, *k);
    case 2: return launch(transpose_tiles<uint16_t>, grid, K_BLOCK, stream, *k);
    case 4: return launch(transpose_tiles<uint32_t>, grid, K_BLOCK, stream, *k);
    default: return cudaErrorInvalidValue;
    }
}

// ---- gather

template <typename U> __global__ void gather(const struct k_gather k)
{
    int64_t i = thread_index(), row = i, at = k_split_any(&k.by_units, &row);
    if (row >= k.count) return;
    U unit;
    memset(&unit, 0xff, sizeof unit);
    const int32_t from = k.index[row];
    if (from >= 0 && from < k.rows) unit = ((const U *)k.x)[from * k.units + at];
    ((U *)k.y)[i] = unit;
}

K_LAUNCHER(k_gather)
{
    const struct k_gather *k = (const struct k_gather *)args;
    BY_WIDTH(k->width, U, return launch(gather<U>, blocks_for(k->count * k->units), K_BLOCK, stream, *k));
}

// ---- gather_grad

enum { WARPS = K_BLOCK / K_WARP, GRAD_EACH = 8, GRAD_COLUMNS = K_WARP * GRAD_EACH, GRAD_AHEAD = 4 };
static_assert((int)K_GRAD_PIECE == (int)K_WARP && K_GRAD_PIECE % GRAD_AHEAD == 0, "a lane holds the key of a place");

// A key is a row and, below it, a position of the index. Rows below 0 come last.
__device__ static inline int32_t key_row(uint64_t key) { return (int32_t)(key >> 32); }

template <typename T, int N> __global__ void gather_grad_zeros(const struct k_gather_grad k)
{
    const int64_t at = thread_index() * N;
    const float zeros[N] = {0.0f};
    if (at < k.rows * k.each) store<N>((T *)k.dx + at, zeros);
}

static __global__ void gather_grad_sort(const struct k_gather_grad k)
{
    __shared__ uint64_t keys[K_GRAD_CHUNK];
    const int64_t first = (int64_t)blockIdx.x * K_GRAD_CHUNK;
    for (int j = threadIdx.x; j < K_GRAD_CHUNK; j += K_BLOCK) {
        const int64_t i = first + j;
        keys[j] = i < k.count ? (uint64_t)(uint32_t)k.index[i] << 32 | (uint32_t)i : UINT64_MAX;
    }
    block_sort(keys, K_GRAD_CHUNK);
    for (int j = threadIdx.x; j < K_GRAD_CHUNK; j += K_BLOCK) k.sorted[first + j] = keys[j];
}

// The rank of a key is the number of smaller keys in all chunks.
static __global__ void gather_grad_rank(const struct k_gather_grad k)
{
    const uint64_t mine = k.sorted[thread_index()];
    if (mine == UINT64_MAX) return;
    int64_t rank = 0;
    for (int64_t first = 0; first < k.count; first += K_GRAD_CHUNK) {
        const uint64_t *chunk = k.sorted + first;
        int below = 0;
        for (int step = K_GRAD_CHUNK / 2; step > 0; step /= 2)
            if (chunk[below + step - 1] < mine) below += step;
        rank += below + (chunk[below] < mine);
    }
    k.ranked[rank] = mine;
}

// Adds the elements of a row that this lane owns: N at a time, a warp apart.
template <typename T, int N>
__device__ static inline void add_row(const T *dy, int64_t columns, float (&sum)[GRAD_EACH])
{
    const int lane = threadIdx.x % K_WARP;
#pragma unroll
    for (int j = 0; j < GRAD_EACH / N; j++) {
        const int at = (j * K_WARP + lane) * N;
        if (at >= columns) return;
        float v[N];
        load<N>(dy + at, v);
        for (int i = 0; i < N; i++) sum[j * N + i] += v[i];
    }
}

template <typename T, int N>
__device__ static inline void write_row(T *to, int64_t columns, const float (&sum)[GRAD_EACH])
{
    const int lane = threadIdx.x % K_WARP;
#pragma unroll
    for (int j = 0; j < GRAD_EACH / N; j++) {
        const int at = (j * K_WARP + lane) * N;
        if (at >= columns) return;
        float v[N];
        for (int i = 0; i < N; i++) v[i] = sum[j * N + i];
        store<N>(to + at, v);
    }
}

// The sums of a piece: first of a run that began before it, then of a run that begins in it and goes on behind it.
__device__ static inline float *piece_sums(const struct k_gather_grad &k, int64_t piece, bool begins)
{
    return k.sums + (2 * piece + begins) * k.each;
}

// A warp adds a piece of the ranked places, GRAD_COLUMNS columns, run by run. GRAD_AHEAD rows are read before one is added.
template <typename T, int N>
__global__ void __launch_bounds__(K_BLOCK) gather_grad_pieces(const struct k_gather_grad k)
{
    const int64_t tiles = k_divide_up(k.each, GRAD_COLUMNS), unit = blockIdx.x * (int64_t)WARPS + threadIdx.x / K_WARP;
    const int64_t piece = unit / tiles, column = (unit - piece * tiles) * GRAD_COLUMNS, columns = k.each - column;
    const int64_t first = piece * K_GRAD_PIECE, left = k.count - first;
    if (left <= 0) return;  // the whole warp
    const int n = left < K_GRAD_PIECE ? (int)left : (int)K_GRAD_PIECE, lane = threadIdx.x % K_WARP;
    const uint64_t key = k.ranked[first + (lane < n ? lane : n - 1)];
    const bool goes_on = left > n && key_row(k.ranked[first + n]) == key_row(k.ranked[first + n - 1]);
    bool begins = first == 0 || key_row(k.ranked[first - 1]) != key_row(k.ranked[first]);
    float sum[GRAD_EACH] = {0.0f};
    for (int j = 0; j < n; j += GRAD_AHEAD) {
        float v[GRAD_AHEAD][GRAD_EACH] = {};
#pragma unroll
        for (int a = 0; a < GRAD_AHEAD; a++) {
            const int i = __shfl_sync(0xffffffffu, (int)(uint32_t)key, j + a);
            if (j + a < n) add_row<T, N>((const T *)k.dy + i * k.each + column, columns, v[a]);
        }
#pragma unroll
        for (int a = 0; a < GRAD_AHEAD; a++) {
            const int at = j + a, row = __shfl_sync(0xffffffffu, key_row(key), at);
            const int next = __shfl_sync(0xffffffffu, key_row(key), (at + 1) % K_WARP);
            const bool last = at + 1 >= n, ends = last ? !goes_on : next != row;
            if (at >= n) continue;
            for (int i = 0; i < GRAD_EACH; i++) sum[i] += v[a][i];
            if (!last && !ends) continue;
            if (row >= 0 && row < k.rows) {
                if (begins && ends) write_row<T, N>((T *)k.dx + row * k.each + column, columns, sum);
                else write_row<float, N>(piece_sums(k, piece, begins) + column, columns, sum);
            }
            for (int i = 0; i < GRAD_EACH; i++) sum[i] = 0.0f;
            begins = true;
        }
    }
}

// A block adds a run that goes on behind the piece in which it begins: an eighth of its pieces a warp, the eighths in order.
template <typename T, int N> __global__ void gather_grad_runs(const struct k_gather_grad k)
{
    __shared__ float eighth[WARPS][GRAD_COLUMNS];
    const int64_t tiles = k_divide_up(k.each, GRAD_COLUMNS), piece = blockIdx.x / tiles, first = piece * K_GRAD_PIECE;
    const int64_t column = (blockIdx.x - piece * tiles) * GRAD_COLUMNS, columns = k.each - column, next = first + K_GRAD_PIECE;
    if (next >= k.count) return;  // the whole block, as below
    const int32_t row = key_row(k.ranked[next]);
    if (row < 0 || row >= k.rows || key_row(k.ranked[next - 1]) != row) return;
    if (first > 0 && key_row(k.ranked[first - 1]) == row) return;
    int64_t low = next, high = k.count;  // the first position behind the run
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (key_row(k.ranked[middle]) == row) low = middle;
        else high = middle;
    }
    const int warp = threadIdx.x / K_WARP, lane = threadIdx.x % K_WARP;
    const int64_t parts = k_divide_up(high, K_GRAD_PIECE) - piece, part = k_divide_up(parts, WARPS), begin = warp * part;
    const int64_t end = begin + part < parts ? begin + part : parts;
    float sum[GRAD_EACH] = {0.0f};
#pragma unroll 4
    for (int64_t i = begin; i < end; i++) add_row<float, N>(piece_sums(k, piece + i, i == 0) + column, columns, sum);
    for (int i = 0; i < GRAD_EACH; i++) eighth[warp][(i / N * K_WARP + lane) * N + i % N] = sum[i];
    __syncthreads();
    if (threadIdx.x >= columns) return;
    float total = 0.0f;
    for (int i = 0; i < WARPS; i++) total += eighth[i][threadIdx.x];
    ((T *)k.dx)[row * k.each + column + threadIdx.x] = from_float<T>(total);
}

template <typename T, int N> static cudaError_t gather_grad_of(const struct k_gather_grad *k, cudaStream_t stream)
{
    const int64_t chunks = k_divide_up(k->count, K_GRAD_CHUNK);
    const int64_t units = k_divide_up(k->count, K_GRAD_PIECE) * k_divide_up(k->each, GRAD_COLUMNS);
    TRY_CUDA(launch(gather_grad_zeros<T, N>, blocks_for(k->rows * k->each / N), K_BLOCK, stream, *k));
    TRY_CUDA(launch(gather_grad_sort, (unsigned)chunks, K_BLOCK, stream, *k));
    TRY_CUDA(launch(gather_grad_rank, (unsigned)(chunks * (K_GRAD_CHUNK / K_BLOCK)), K_BLOCK, stream, *k));
    TRY_CUDA(launch(gather_grad_pieces<T, N>, blocks_for(units, WARPS), K_BLOCK, stream, *k));
    return launch(gather_grad_runs<T, N>, (unsigned)units, K_BLOCK, stream, *k);
}

K_LAUNCHER(k_gather_grad)
{
    const struct k_gather_grad *k = (const struct k_gather_grad *)args;
    bool one = k_lanes(k->type, k->each) == 1;
    BY_FLOAT(k->type, T, return one ? gather_grad_of<T, 1>(k, stream) : gather_grad_of<T, wide<T>::N>(k, stream));
}
