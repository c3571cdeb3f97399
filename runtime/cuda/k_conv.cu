// SPDX-License-Identifier: Apache-2.0
// Own convolutions. All three are products of matrices that are never written down: pixels beside (tap, channel), summed
// over the third of them by k_tile.cuh; the sources below find each element in memory and give zero for the padding.
//
//   forward   y[pixel of y, k]     sum over (r, s, c)     x * w
//   dgrad     dx[pixel of x, c]    sum over (r, s, k)     dy * w, where a stride lets the tap touch that pixel
//   wgrad     dw[k, (r, s, c)]     sum over pixels of y   dy * x, in slices that are added in their order afterwards
//
// They are as fast as the arithmetic units without tensor cores allow at best. Few input channels (images: 3 -> 24)
// have a kernel of their own that is bound by memory: a thread makes eight channels of four pixels.
#include "runtime/cuda/k_conv.h"
#include "runtime/cuda/k_tile.cuh"

// ---- division by what is known when a kernel is launched, for numbers below 2^31

struct divider {
    uint32_t by, magic, shift;
};

static struct divider divider_of(int by)
{
    struct divider d = {(uint32_t)by, 0, 0};
    while (((uint64_t)1 << d.shift) < d.by) d.shift++;
    d.magic = (uint32_t)(((((uint64_t)1 << d.shift) - d.by) << 32) / d.by + 1);
    return d;
}

__device__ static inline int divide(int n, const divider &d, int *rest)
{
    uint32_t u = (uint32_t)n, high = (uint32_t)((uint64_t)u * d.magic >> 32), quotient = (high + u) >> d.shift;
    *rest = (int)(u - quotient * d.by);
    return (int)quotient;
}

// ---- what the three have in common

struct conv {
    k_conv_shape is;
    const void *x, *w, *dy;  // dy: the gradient of y
    void *to;
    const float *bias;
    enum act act;
    bool wide;               // the filters are f32
    int cg, kg, taps;        // channels of a group, r s
    int rows, columns, depth;
    int slice, slices;       // wgrad: depth of a slice
    divider by_q, by_p, by_w, by_h, by_s, by_cg, by_kg, by_row, by_column;  // the last two: strides
};

struct pixel {
    int image, y, x;
};

__device__ static inline pixel pixel_of(int i, const divider &by_row, const divider &by_image)
{
    pixel p;
    int line = divide(i, by_row, &p.x);
    p.image = divide(line, by_image, &p.y);
    return p;
}

struct tap {
    int r, s, channel;
};

__device__ static inline tap tap_of(int i, const conv &k, const divider &by_channel)
{
    tap t;
    t.r = divide(divide(i, by_channel, &t.channel), k.by_s, &t.s);
    return t;
}

template <typename T> __device__ static inline float filter(const conv &k, int64_t i)
{
    return k.wide ? to_float(from_float<T>(((const float *)k.w)[i])) : to_float(((const T *)k.w)[i]);
}

// x under tap t where y has pixel p (its corner, stride and padding counted); zero outside of the image.
template <typename T> __device__ static inline float x_under(const conv &k, const pixel &corner, const tap &t, int group)
{
    int h = corner.y + t.r, w = corner.x + t.s;
    if ((unsigned)h >= (unsigned)k.is.h || (unsigned)w >= (unsigned)k.is.w) return 0.0f;
    int64_t at = ((int64_t)corner.image * k.is.h + h) * k.is.w + w;
    return to_float(((const T *)k.x)[at * k.is.c + group * k.cg + t.channel]);
}

__device__ static inline pixel corner_of(const conv &k, int i)
{
    pixel p = pixel_of(i, k.by_q, k.by_p);
    p.y = p.y * k.is.stride[0] - k.is.before[0];
    p.x = p.x * k.is.stride[1] - k.is.before[1];
    return p;
}

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

// ---- few input channels: the filters lie in shared memory as [tap, c][k], rounded as x is

enum { STEM_FILTERS = 4096, STEM_K = 8, STEM_PIXELS = 4, STEM_C = 8 };

// A block has K_BLOCK / (K / 8) threads for pixels, four of them each, and K / 8 neighbours share a pixel: all writes of
// a warp join. Threads left over by that division rest.
template <typename T> static __global__ void __launch_bounds__(K_BLOCK) conv_stem(const conv k)
{
    alignas(16) __shared__ float w[STEM_FILTERS];
    const int c = k.is.c, parts = k.is.k / STEM_K, pixels = K_BLOCK / parts, t = (int)threadIdx.x;
    for (int i = t; i < k.is.k * k.depth; i += K_BLOCK) w[i % k.depth * k.is.k + i / k.depth] = filter<T>(k, i);
    __syncthreads();
    if (t >= pixels * parts) return;
    const int part = t % parts * STEM_K, first = (int)blockIdx.x * pixels * STEM_PIXELS + t / parts;
    float sum[STEM_PIXELS][STEM_K] = {};
    pixel corner[STEM_PIXELS];
    for (int i = 0; i < STEM_PIXELS; i++) {
        int m = first + i * pixels;
        corner[i] = corner_of(k, m < k.rows ? m : 0);
    }
    const float *here = w + part;
    for (int r = 0; r < k.is.r; r++)
        for (int s = 0; s < k.is.s; s++) {
            const T *x[STEM_PIXELS];
#pragma unroll
            for (int i = 0; i < STEM_PIXELS; i++) {
                int h = corner[i].y + r, v = corner[i].x + s;
                bool in = (unsigned)h < (unsigned)k.is.h && (unsigned)v < (unsigned)k.is.w;
                x[i] = in ? (const T *)k.x + (((int64_t)corner[i].image * k.is.h + h) * k.is.w + v) * c : NULL;
            }
            for (int channel = 0; channel < c; channel++, here += k.is.k) {
                float filters[STEM_K];
                load<STEM_K / 2>(here, *(float(*)[STEM_K / 2]) & filters[0]);
                load<STEM_K / 2>(here + STEM_K / 2, *(float(*)[STEM_K / 2]) & filters[STEM_K / 2]);
#pragma unroll
                for (int i = 0; i < STEM_PIXELS; i++) {
                    float value = x[i] ? to_float(x[i][channel]) : 0.0f;
#pragma unroll
                    for (int j = 0; j < STEM_K; j++) sum[i][j] += value * filters[j];
                }
            }
        }
    for (int i = 0; i < STEM_PIXELS; i++) {
        int m = first + i * pixels;
        if (m >= k.rows) break;
        for (int j = 0; j < STEM_K; j++) sum[i][j] = act_value(k.act, sum[i][j] + (k.bias ? k.bias[part + j] : 0.0f));
        store<STEM_K>((T *)k.to + (int64_t)m * k.is.k + part, sum[i]);
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

static int larger(int a, int b) { return a > b ? a : b; }
static unsigned tiles(int count, int tile) { return (unsigned)((count - 1) / tile + 1); }

bool k_conv_fits(const struct k_conv_shape *s)
{
    const int64_t most = INT32_MAX - 4096;  // an index may pass the end by what a block takes
    int64_t taps = (int64_t)s->r * s->s;
    bool counts = (int64_t)s->n * s->p * s->q <= most && (int64_t)s->n * s->h * s->w <= most && taps <= 1 << 15;
    return counts && s->c <= 1 << 15 && s->k <= 1 << 15 && taps * larger(s->c, s->k) / s->groups <= most &&
           s->groups <= 1 << 15;
}

bool k_conv_is_stem(const struct k_conv_shape *s)
{
    bool few = s->groups == 1 && s->c <= STEM_C && s->k % STEM_K == 0 && s->k <= K_BLOCK;
    return few && (int64_t)s->r * s->s * s->c * s->k <= STEM_FILTERS;
}

static conv conv_of(const k_conv_shape *s)
{
    conv k = {};
    k.is = *s;
    k.cg = s->c / s->groups, k.kg = s->k / s->groups, k.taps = s->r * s->s;
    k.by_q = divider_of(s->q), k.by_p = divider_of(s->p), k.by_w = divider_of(s->w), k.by_h = divider_of(s->h);
    k.by_s = divider_of(s->s), k.by_cg = divider_of(k.cg), k.by_kg = divider_of(k.kg);
    k.by_row = divider_of(s->stride[0]), k.by_column = divider_of(s->stride[1]);
    return k;
}

K_LAUNCHER(k_conv_forward)
{
    const struct k_conv_forward *a = (const struct k_conv_forward *)args;
    conv k = conv_of(&a->shape);
    k.x = a->x, k.w = a->w, k.bias = a->bias, k.to = a->y, k.act = a->act, k.wide = a->filters == F32;
    k.rows = a->shape.n * a->shape.p * a->shape.q, k.columns = k.kg, k.depth = k.taps * k.cg;
    if (k_conv_is_stem(&a->shape)) {
        int at_once = K_BLOCK / (a->shape.k / STEM_K) * STEM_PIXELS;
        BY_FLOAT(a->type, T, return launch(conv_stem<T>, tiles(k.rows, at_once), K_BLOCK, stream, k));
    }
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
