// SPDX-License-Identifier: Apache-2.0
// DAWN's convolutions. All three are matrix products whose matrices are never written out: pixels by (tap, channel), summed
// over the third dimension by k_tile.cuh. The sources below read each element from memory and return zero for padding.
//
//   forward   y[pixel of y, k]     sum over (r, s, c)     x * w
//   dgrad     dx[pixel of x, c]    sum over (r, s, k)     dy * w, where the stride lets the tap reach that pixel
//   wgrad     dw[k, (r, s, c)]     sum over pixels of y   dy * x, in slices that are then added in order
//
// Their speed is bounded by the arithmetic units without tensor cores. Few input channels (images: 3 -> 24) have a forward
// kernel of their own (k_stem.cu).
#include "runtime/cuda/kernels/k_conv.cuh"
#include "runtime/cuda/kernels/k_stem.h"
#include "runtime/cuda/kernels/k_tile.cuh"

// ---- four adjacent elements: one load if channels come by fours, else single loads; zero outside

template <typename T> __device__ static inline lanes<T, 4> none()
{
    return {{from_float<T>(0.0f), from_float<T>(0.0f), from_float<T>(0.0f), from_float<T>(0.0f)}};
}
template <typename T> __device__ static inline lanes<T, 4> four_at(const T *at)
{
    return at ? *(const lanes<T, 4> *)at : none<T>();
}

// x at the positions [i, i + 4) of (r, s, c), out of `count`.
template <typename T>
__device__ static inline lanes<T, 4> x_four(const conv &k, const pixel &corner, int i, int count, int group)
{
    if (i >= count) return none<T>();
    if (k.four_c) return four_at(x_under<T>(k, corner, tap_of(i, k, k.by_cg), group));
    lanes<T, 4> v = none<T>();
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const T *at = i + j < count ? x_under<T>(k, corner, tap_of(i + j, k, k.by_cg), group) : NULL;
        if (at) v.at[j] = *at;
    }
    return v;
}

// `count` filters from i on (at most four are used).
template <typename T> __device__ static inline lanes<T, 4> filter_four(const conv &k, int64_t i, int count)
{
    if (count <= 0) return none<T>();
    const T *at = (const T *)k.w + i;
    if (k.four_c) return *(const lanes<T, 4> *)at;
    lanes<T, 4> v = none<T>();
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (j < count) v.at[j] = at[j];
    return v;
}

// Writes a thread's sums into a row of the result.
template <typename T>
__device__ static inline void store_row(T *to, int column, int columns, bool by_fours, const float (&x)[4])
{
    if (by_fours && column < columns) return store<4>(to + column, x);
    for (int j = 0; j < 4; j++)
        if (column + j < columns) to[column + j] = from_float<T>(x[j]);
}

// ---- forward

template <typename T> struct forward_source {
    const conv &k;
    tile_four mine;  // for both operands: depth is contiguous
    int group, column;
    pixel corner;
    bool row;
    lanes<T, 4> l, r;

    __device__ forward_source(const conv &k_, int first_row, int first_k, int group_)
        : k(k_), mine(tile_four_of<64>(true)), group(group_), column(first_k + mine.row)
    {
        row = first_row + mine.row < k.rows;
        corner = corner_of(k, row ? first_row + mine.row : 0);
    }
    __device__ void fetch(int depth)
    {
        int d = depth + mine.depth;
        l = x_four<T>(k, corner, d, row ? k.depth : 0, group);
        r = filter_four<T>(k, (int64_t)(group * k.kg + column) * k.depth + d, column < k.columns ? k.depth - d : 0);
    }
    __device__ void put(tile_side<64> &left, tile_side<64> &right)
    {
        tile_put<64>(left, mine, l);
        tile_put<64>(right, mine, r);
    }
};

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) conv_forward(const conv k)
{
    int first_row = (int)blockIdx.x * 64, first_k = (int)blockIdx.y * 64, group = (int)blockIdx.z;
    forward_source<T> source(k, first_row, first_k, group);
    tile_sums<64> sum;
    tile_product<64>(source, 0, k.depth, sum);
    int column = first_k + tile_column<64>();
    for (int j = 0; j < 4 && k.bias; j++)
        if (column + j < k.columns)
            for (int i = 0; i < 4; i++) sum[i][j] += k.bias[group * k.kg + column + j];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int64_t row = first_row + tile_row<64>() + i;
        if (row >= k.rows) break;
        for (int j = 0; j < 4 && k.act != ACT_NONE; j++) sum[i][j] = act_value(k.act, sum[i][j]);
        store_row((T *)k.to + row * k.is.k + group * k.kg, column, k.columns, k.four_k, sum[i]);
    }
}

// ---- dgrad

template <typename T> struct dgrad_source {
    const conv &k;
    tile_four mine_l, mine_r;  // dy by depth, filters by columns
    int group, column;
    pixel here;                // of x, with the padding added
    bool row;
    lanes<T, 4> l, r;

    __device__ dgrad_source(const conv &k_, int first_row, int first_c, int group_)
        : k(k_), mine_l(tile_four_of<64>(true)), mine_r(tile_four_of<64>(false)), group(group_),
          column(first_c + mine_r.row)
    {
        row = first_row + mine_l.row < k.rows;
        here = pixel_of(row ? first_row + mine_l.row : 0, k.by_w, k.by_h);
        here.y += k.is.before[0];
        here.x += k.is.before[1];
    }
    // dy for which tap t of its window reaches this pixel; NULL if none does.
    __device__ const T *dy_over(const tap &t) const
    {
        int h = here.y - t.r, w = here.x - t.s;
        if (h < 0 || w < 0) return NULL;
        uint32_t p = (uint32_t)h, q = (uint32_t)w, skipped = k_split(k.by_row, &p) | k_split(k.by_column, &q);
        if (skipped || (int)p >= k.is.p || (int)q >= k.is.q) return NULL;
        int64_t y = ((int64_t)here.image * k.is.p + p) * k.is.q + q;
        return (const T *)k.dy + y * k.is.k + group * k.kg + t.channel;
    }
    __device__ lanes<T, 4> dy_four(int d) const
    {
        if (!row || d >= k.depth) return none<T>();
        if (k.four_k) return four_at(dy_over(tap_of(d, k, k.by_kg)));
        lanes<T, 4> v = none<T>();
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const T *at = d + j < k.depth ? dy_over(tap_of(d + j, k, k.by_kg)) : NULL;
            if (at) v.at[j] = *at;
        }
        return v;
    }
    __device__ void fetch(int depth)
    {
        l = dy_four(depth + mine_l.depth);
        uint32_t position = (uint32_t)(depth + mine_r.depth), out = k_split(k.by_kg, &position);  // (r, s), and k
        bool in = depth + mine_r.depth < k.depth;
        int64_t at = ((int64_t)(group * k.kg + (int)out) * k.taps + position) * k.cg + column;
        r = filter_four<T>(k, at, in ? k.columns - column : 0);
    }
    __device__ void put(tile_side<64> &left, tile_side<64> &right)
    {
        tile_put<64>(left, mine_l, l);
        tile_put<64>(right, mine_r, r);
    }
};

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) conv_dgrad(const conv k)
{
    int first_row = (int)blockIdx.x * 64, first_c = (int)blockIdx.y * 64, group = (int)blockIdx.z;
    dgrad_source<T> source(k, first_row, first_c, group);
    tile_sums<64> sum;
    tile_product<64>(source, 0, k.depth, sum);
    int column = first_c + tile_column<64>();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int64_t row = first_row + tile_row<64>() + i;
        if (row >= k.rows) break;
        store_row((T *)k.to + row * k.is.c + group * k.cg, column, k.columns, k.four_c, sum[i]);
    }
}

// ---- wgrad

template <typename T, int TILE> struct wgrad_source {
    const conv &k;
    tile_four mine;  // for both operands: rows and columns are contiguous
    int group, row, column, end;
    lanes<T, 4> l, r;

    __device__ wgrad_source(const conv &k_, int first_row, int first_column, int group_, int end_)
        : k(k_), mine(tile_four_of<TILE>(false)), group(group_), row(first_row + mine.row),
          column(first_column + mine.row), end(end_)
    {
    }
    __device__ lanes<T, 4> dy_four(int m) const
    {
        const T *at = (const T *)k.dy + (int64_t)m * k.is.k + group * k.kg + row;
        if (row >= k.rows) return none<T>();
        if (k.four_k) return four_at(at);
        lanes<T, 4> v = none<T>();
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (row + j < k.rows) v.at[j] = at[j];
        return v;
    }
    __device__ void fetch(int depth)
    {
        int m = depth + mine.depth;
        l = r = none<T>();
        if (m >= end) return;
        l = dy_four(m);
        r = x_four<T>(k, corner_of(k, m), column, k.columns, group);
    }
    __device__ void put(tile_side<TILE> &left, tile_side<TILE> &right)
    {
        tile_put<TILE>(left, mine, l);
        tile_put<TILE>(right, mine, r);
    }
};

// One slice per block into to[slice, k, (r, s, c)].
template <typename T, int TILE> static __global__ void __launch_bounds__(K_BLOCK) conv_wgrad(const conv k)
{
    enum { EACH = tile_of<TILE>::EACH };
    int first_column = (int)blockIdx.x * TILE, first_row = (int)blockIdx.y * TILE;
    int group = (int)blockIdx.z / k.slices, slice = (int)blockIdx.z % k.slices;
    int begin = slice * k.slice, end = k.depth - begin < k.slice ? k.depth : begin + k.slice;
    wgrad_source<T, TILE> source(k, first_row, first_column, group, end);
    tile_sums<TILE> sum;
    tile_product<TILE>(source, begin, end, sum);
    float *to = (float *)k.to + ((int64_t)slice * k.is.k + group * k.kg) * k.columns;
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            int row = first_row + tile_row<TILE>() + i, column = first_column + tile_column<TILE>() + j;
            if (row < k.rows && column < k.columns) to[(int64_t)row * k.columns + column] = sum[i][j];
        }
}

struct conv_slices {
    const float *from;
    float *to;
    int64_t count;
    int slices;
};

static __global__ void __launch_bounds__(K_BLOCK) conv_add_slices(const conv_slices k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.count) return;
    float sum = 0.0f;
    for (int s = 0; s < k.slices; s++) sum += k.from[s * k.count + i];
    k.to[i] = sum;
}

// ---- launching

bool k_conv_fits(const struct k_conv_shape *s)
{
    const int64_t most = INT32_MAX - 4096;  // an index may exceed the size by one block's extent
    int64_t taps = (int64_t)s->r * s->s;
    bool counts = (int64_t)s->n * s->p * s->q <= most && (int64_t)s->n * s->h * s->w <= most && taps <= 1 << 15;
    return counts && s->c <= 1 << 15 && s->k <= 1 << 15 && taps * max_int(s->c, s->k) / s->groups <= most &&
           s->groups <= 1 << 15;
}

K_LAUNCHER(k_conv_forward)
{
    const struct k_conv_forward *a = (const struct k_conv_forward *)args;
    conv k = conv_of(&a->shape);
    k.x = a->x, k.w = a->w, k.bias = a->bias, k.to = a->y, k.act = a->act;
    k.rows = a->shape.n * a->shape.p * a->shape.q, k.columns = k.kg, k.depth = k.taps * k.cg;
    if (k_conv_is_stem(&a->shape)) return k_stem(stream, args);
    k.four_c = by_fours(k.cg, a->type, a->x) && by_fours(k.cg, a->type, a->w);
    k.four_k = by_fours(k.kg, a->type, a->y);
    dim3 grid(tiles(k.rows, 64), tiles(k.columns, 64), (unsigned)a->shape.groups);
    BY_FLOAT(a->type, T, return launch(conv_forward<T>, grid, K_BLOCK, stream, k));
}

K_LAUNCHER(k_conv_dgrad)
{
    const struct k_conv_dgrad *a = (const struct k_conv_dgrad *)args;
    conv k = conv_of(&a->shape);
    k.w = a->w, k.dy = a->dy, k.to = a->dx;
    k.rows = a->shape.n * a->shape.h * a->shape.w, k.columns = k.cg, k.depth = k.taps * k.kg;
    k.four_c = by_fours(k.cg, a->type, a->dx) && by_fours(k.cg, a->type, a->w);
    k.four_k = by_fours(k.kg, a->type, a->dy);
    dim3 grid(tiles(k.rows, 64), tiles(k.columns, 64), (unsigned)a->shape.groups);
    BY_FLOAT(a->type, T, return launch(conv_dgrad<T>, grid, K_BLOCK, stream, k));
}

// Tiles of 32 if they hold a group's filters. The pixels are cut into slices of at least 256 pixels, for about 512 blocks. The
// number must not depend on the GPU: it is part of "same seed, same bytes".
struct cut {
    int tile, slices, slice;
};

static cut cut_of(const k_conv_shape *s)
{
    int rows = s->k / s->groups, columns = s->r * s->s * (s->c / s->groups), pixels = s->n * s->p * s->q;
    cut c = {rows <= 32 && columns <= 32 ? 32 : 64, 1, 0};
    int64_t blocks = (int64_t)tiles(rows, c.tile) * tiles(columns, c.tile) * s->groups;
    int wanted = (int)(blocks < 512 ? 512 / blocks : 1), limit = 65535 / s->groups;
    int most = max_int(pixels / 256, 1);
    if (wanted > most) wanted = most;
    if (wanted > limit) wanted = limit;
    c.slice = ((pixels - 1) / wanted / 32 + 1) * 32;
    c.slices = (int)tiles(pixels, c.slice);
    return c;
}

static int64_t filters_of(const k_conv_shape *s) { return (int64_t)s->k * s->r * s->s * (s->c / s->groups); }

size_t k_conv_wgrad_work(const struct k_conv_shape *s)
{
    cut c = cut_of(s);
    return c.slices == 1 ? 0 : (size_t)c.slices * (size_t)filters_of(s) * sizeof(float);
}

template <typename T> static cudaError_t wgrad_by(cudaStream_t stream, const conv &k, int tile)
{
    dim3 grid(tiles(k.columns, tile), tiles(k.rows, tile), (unsigned)(k.is.groups * k.slices));
    if (tile == 32) return launch(conv_wgrad<T, 32>, grid, K_BLOCK, stream, k);
    return launch(conv_wgrad<T, 64>, grid, K_BLOCK, stream, k);
}

static cudaError_t wgrad_slices(cudaStream_t stream, const conv &k, enum dtype type, int tile)
{
    BY_FLOAT(type, T, return wgrad_by<T>(stream, k, tile));
}

K_LAUNCHER(k_conv_wgrad)
{
    const struct k_conv_wgrad *a = (const struct k_conv_wgrad *)args;
    conv k = conv_of(&a->shape);
    cut c = cut_of(&a->shape);
    k.x = a->x, k.dy = a->dy, k.to = c.slices == 1 ? (void *)a->dw : a->work;
    k.rows = k.kg, k.columns = k.taps * k.cg, k.depth = a->shape.n * a->shape.p * a->shape.q;
    k.slice = c.slice, k.slices = c.slices;
    k.four_c = by_fours(k.cg, a->type, a->x);
    k.four_k = by_fours(k.kg, a->type, a->dy);
    TRY_CUDA(wgrad_slices(stream, k, a->type, c.tile));
    if (c.slices == 1) return cudaSuccess;
    conv_slices sum = {(const float *)a->work, a->dw, filters_of(&a->shape), c.slices};
    return launch(conv_add_slices, blocks_for(sum.count), K_BLOCK, stream, sum);
}
