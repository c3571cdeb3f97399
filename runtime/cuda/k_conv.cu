// SPDX-License-Identifier: Apache-2.0
// Own convolutions. All three are products of matrices that are never written down: pixels beside (tap, channel), summed
// over the third of them by k_tile.cuh; the sources below find each element in memory and give zero for the padding.
//
//   forward   y[pixel of y, k]     sum over (r, s, c)     x * w
//   dgrad     dx[pixel of x, c]    sum over (r, s, k)     dy * w, where a stride lets the tap touch that pixel
//   wgrad     dw[k, (r, s, c)]     sum over pixels of y   dy * x, in slices that are added in their order afterwards
//
// They are as fast as the arithmetic units without tensor cores allow at best. Few input channels (images: 3 -> 24) have a
// forward kernel of their own (k_stem.cu).
#include "runtime/cuda/k_conv.cuh"
#include "runtime/cuda/k_stem.h"
#include "runtime/cuda/k_tile.cuh"

// ---- forward

template <typename T> struct forward_source {
    typedef tile_element<64, true> at;
    const conv &k;
    int group, first_k;
    pixel corner[4];
    bool row[4];
    float l[4], r[4];

    __device__ forward_source(const conv &k_, int first_row, int first_k_, int group_)
        : k(k_), group(group_), first_k(first_k_)
    {
        for (int i = 0; i < 4; i++) {
            int m = first_row + at::row((int)threadIdx.x, i);
            row[i] = m < k.rows;
            corner[i] = corner_of(k, row[i] ? m : 0);
        }
    }
    __device__ void fetch(int depth)
    {
        int t = (int)threadIdx.x, d = depth + at::depth(t, 0);
        tap here = tap_of(d, k, k.by_cg);
        for (int i = 0; i < 4; i++) {
            int column = first_k + at::row(t, i);
            l[i] = d < k.depth && row[i] ? x_under<T>(k, corner[i], here, group) : 0.0f;
            bool in = d < k.depth && column < k.columns;
            r[i] = in ? filter<T>(k, (int64_t)(group * k.kg + column) * k.depth + d) : 0.0f;
        }
    }
    __device__ void put(tile_side<64> &left, tile_side<64> &right)
    {
        int t = (int)threadIdx.x;
        for (int i = 0; i < 4; i++) left[at::depth(t, i)][at::row(t, i)] = l[i];
        for (int i = 0; i < 4; i++) right[at::depth(t, i)][at::row(t, i)] = r[i];
    }
};

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) conv_forward(const conv k)
{
    int first_row = (int)blockIdx.x * 64, first_k = (int)blockIdx.y * 64, group = (int)blockIdx.z;
    forward_source<T> source(k, first_row, first_k, group);
    tile_sums<64> sum;
    tile_product<64>(source, 0, k.depth, sum);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = first_row + tile_row<64>() + i, column = first_k + tile_column<64>() + j;
            if (row >= k.rows || column >= k.columns) continue;
            int out = group * k.kg + column;
            float y = act_value(k.act, sum[i][j] + (k.bias ? k.bias[out] : 0.0f));
            ((T *)k.to)[(int64_t)row * k.is.k + out] = from_float<T>(y);
        }
}

// ---- dgrad

template <typename T> struct dgrad_source {
    typedef tile_element<64, true> left_at;
    typedef tile_element<64, false> right_at;
    const conv &k;
    int group, column;
    pixel here[4];  // of x, padding before counted
    bool row[4];
    float l[4], r[4];

    __device__ dgrad_source(const conv &k_, int first_row, int first_c, int group_) : k(k_), group(group_)
    {
        column = first_c + right_at::row((int)threadIdx.x, 0);
        for (int i = 0; i < 4; i++) {
            int m = first_row + left_at::row((int)threadIdx.x, i);
            row[i] = m < k.rows;
            here[i] = pixel_of(row[i] ? m : 0, k.by_w, k.by_h);
            here[i].y += k.is.before[0];
            here[i].x += k.is.before[1];
        }
    }
    __device__ float dy_over(const pixel &at, const tap &t) const
    {
        int h = at.y - t.r, w = at.x - t.s, skip_h, skip_w;
        if (h < 0 || w < 0) return 0.0f;
        int p = divide(h, k.by_row, &skip_h), q = divide(w, k.by_column, &skip_w);
        if (skip_h | skip_w || p >= k.is.p || q >= k.is.q) return 0.0f;
        int64_t y = ((int64_t)at.image * k.is.p + p) * k.is.q + q;
        return to_float(((const T *)k.dy)[y * k.is.k + group * k.kg + t.channel]);
    }
    __device__ void fetch(int depth)
    {
        int t = (int)threadIdx.x, d = depth + left_at::depth(t, 0);
        tap mine = tap_of(d, k, k.by_kg);
        for (int i = 0; i < 4; i++) l[i] = d < k.depth && row[i] ? dy_over(here[i], mine) : 0.0f;
        for (int i = 0; i < 4; i++) {
            int e = depth + right_at::depth(t, i), out;
            int position = divide(e, k.by_kg, &out);  // r s + s
            bool in = e < k.depth && column < k.columns;
            r[i] = in ? filter<T>(k, ((int64_t)(group * k.kg + out) * k.taps + position) * k.cg + column) : 0.0f;
        }
    }
    __device__ void put(tile_side<64> &left, tile_side<64> &right)
    {
        int t = (int)threadIdx.x;
        for (int i = 0; i < 4; i++) left[left_at::depth(t, i)][left_at::row(t, i)] = l[i];
        for (int i = 0; i < 4; i++) right[right_at::depth(t, i)][right_at::row(t, i)] = r[i];
    }
};

template <typename T> static __global__ void __launch_bounds__(K_BLOCK) conv_dgrad(const conv k)
{
    int first_row = (int)blockIdx.x * 64, first_c = (int)blockIdx.y * 64, group = (int)blockIdx.z;
    dgrad_source<T> source(k, first_row, first_c, group);
    tile_sums<64> sum;
    tile_product<64>(source, 0, k.depth, sum);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = first_row + tile_row<64>() + i, column = first_c + tile_column<64>() + j;
            if (row >= k.rows || column >= k.columns) continue;
            ((T *)k.to)[(int64_t)row * k.is.c + group * k.cg + column] = from_float<T>(sum[i][j]);
        }
}

// ---- wgrad

template <typename T, int TILE> struct wgrad_source {
    typedef tile_element<TILE, false> at;
    const conv &k;
    int group, row, column, end;
    tap here;
    float l[4], r[4];

    __device__ wgrad_source(const conv &k_, int first_row, int first_column, int group_, int end_)
        : k(k_), group(group_), end(end_)
    {
        row = first_row + at::row((int)threadIdx.x, 0);
        column = first_column + at::row((int)threadIdx.x, 0);
        here = tap_of(column < k.columns ? column : 0, k, k.by_cg);
    }
    __device__ void fetch(int depth)
    {
        for (int i = 0; i < 4; i++) {
            int m = depth + at::depth((int)threadIdx.x, i);
            l[i] = m < end && row < k.rows ? to_float(((const T *)k.dy)[(int64_t)m * k.is.k + group * k.kg + row]) : 0.0f;
            r[i] = m < end && column < k.columns ? x_under<T>(k, corner_of(k, m), here, group) : 0.0f;
        }
    }
    __device__ void put(tile_side<TILE> &left, tile_side<TILE> &right)
    {
        int t = (int)threadIdx.x;
        for (int i = 0; i < 4; i++) left[at::depth(t, i)][at::row(t, i)] = l[i];
        for (int i = 0; i < 4; i++) right[at::depth(t, i)][at::row(t, i)] = r[i];
    }
};

// Slice by slice into to[slice, k, (r, s, c)].
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
    for (int i = 0; i < EACH; i++)
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
    const int64_t most = INT32_MAX - 4096;  // an index may pass the end by what a block takes
    int64_t taps = (int64_t)s->r * s->s;
    bool counts = (int64_t)s->n * s->p * s->q <= most && (int64_t)s->n * s->h * s->w <= most && taps <= 1 << 15;
    return counts && s->c <= 1 << 15 && s->k <= 1 << 15 && taps * larger(s->c, s->k) / s->groups <= most &&
           s->groups <= 1 << 15;
}

K_LAUNCHER(k_conv_forward)
{
    const struct k_conv_forward *a = (const struct k_conv_forward *)args;
    conv k = conv_of(&a->shape);
    k.x = a->x, k.w = a->w, k.bias = a->bias, k.to = a->y, k.act = a->act, k.wide = a->filters == F32;
    k.rows = a->shape.n * a->shape.p * a->shape.q, k.columns = k.kg, k.depth = k.taps * k.cg;
    if (k_conv_is_stem(&a->shape)) return k_stem(stream, args);
    dim3 grid(tiles(k.rows, 64), tiles(k.columns, 64), (unsigned)a->shape.groups);
    BY_FLOAT(a->type, T, return launch(conv_forward<T>, grid, K_BLOCK, stream, k));
}

K_LAUNCHER(k_conv_dgrad)
{
    const struct k_conv_dgrad *a = (const struct k_conv_dgrad *)args;
    conv k = conv_of(&a->shape);
    k.w = a->w, k.dy = a->dy, k.to = a->dx, k.wide = a->filters == F32;
    k.rows = a->shape.n * a->shape.h * a->shape.w, k.columns = k.cg, k.depth = k.taps * k.kg;
    dim3 grid(tiles(k.rows, 64), tiles(k.columns, 64), (unsigned)a->shape.groups);
    BY_FLOAT(a->type, T, return launch(conv_dgrad<T>, grid, K_BLOCK, stream, k));
}

// Tiles of 32 where they hold a group's filters; as many slices of the pixels as make about 512 blocks, none below 256
// pixels. The number must not hang on the card: it is part of "same seed, same bytes".
struct cut {
    int tile, slices, slice;
};

static cut cut_of(const k_conv_shape *s)
{
    int rows = s->k / s->groups, columns = s->r * s->s * (s->c / s->groups), pixels = s->n * s->p * s->q;
    cut c = {rows <= 32 && columns <= 32 ? 32 : 64, 1, 0};
    int64_t blocks = (int64_t)tiles(rows, c.tile) * tiles(columns, c.tile) * s->groups;
    int wanted = (int)(blocks < 512 ? 512 / blocks : 1), room = 65535 / s->groups;
    int most = larger(pixels / 256, 1);
    if (wanted > most) wanted = most;
    if (wanted > room) wanted = room;
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
    TRY_CUDA(wgrad_slices(stream, k, a->type, c.tile));
    if (c.slices == 1) return cudaSuccess;
    conv_slices sum = {(const float *)a->work, a->dw, filters_of(&a->shape), c.slices};
    return launch(conv_add_slices, blocks_for(sum.count), K_BLOCK, stream, sum);
}
