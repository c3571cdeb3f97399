// SPDX-License-Identifier: Apache-2.0
// ROIAlign. Forward, a thread computes adjacent channels of one bin. Backward, a thread owns adjacent channels of one pixel and
// adds the bins that read it in the order of the boxes, so there are no atomics; a block first marks the boxes that reach its
// pixels.
#include "runtime/cuda/kernels/k_roi.h"

#include "runtime/boxes.h"
#include "runtime/cuda/kernels/k_layout.cuh"

__device__ static inline struct roi_axis down_axis(const struct roi_attr &a, const float *box, int level)
{
    return roi_axis(box[1], box[3], a.scale[level], a.aligned, a.bins, a.sampling);
}
__device__ static inline struct roi_axis across_axis(const struct roi_attr &a, const float *box, int level)
{
    return roi_axis(box[0], box[2], a.scale[level], a.aligned, a.bins, a.sampling);
}

template <typename T, int N> __device__ static inline void add_pixel(const T *x, float weight, float (&sum)[N])
{
    float v[N];
    load<N>(x, v);
    for (int i = 0; i < N; i++) sum[i] += weight * v[i];
}

// Adds the samples of bin (p, q).
template <typename T, int N>
__device__ static inline void add_bin(const struct k_roi &k, const float *box, int p, int q, int64_t image, int64_t channel,
                                      float (&sum)[N])
{
    const int level = roi_level(box, k.attr.side, k.attr.levels);
    const int h = (int)k.attr.h[level], w = (int)k.attr.w[level];
    const struct roi_axis down = down_axis(k.attr, box, level), across = across_axis(k.attr, box, level);
    const T *x = (const T *)k.x[level] + image * h * w * k.channels + channel;
    const float share = 1.0f / ((float)down.grid * (float)across.grid);
    for (int i = 0; i < down.grid; i++) {
        int row, column;
        const float below = roi_sample(&down, p, i, h, &row);
        for (int j = 0; row >= 0 && j < across.grid; j++) {
            const float right = roi_sample(&across, q, j, w, &column);
            if (column < 0) continue;
            const T *at = x + ((int64_t)row * w + column) * k.channels;
            const int64_t next = right > 0.0f ? k.channels : 0, line = below > 0.0f ? w * k.channels : 0;
            add_pixel<T, N>(at, (1.0f - below) * (1.0f - right) * share, sum);
            if (next) add_pixel<T, N>(at + next, (1.0f - below) * right * share, sum);
            if (line) add_pixel<T, N>(at + line, below * (1.0f - right) * share, sum);
            if (next && line) add_pixel<T, N>(at + line + next, below * right * share, sum);
        }
    }
}

template <typename T, typename O, int N> __global__ void roi_align(const struct k_roi k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.batch * k.each * k.attr.bins * k.attr.bins * k.by_groups.by) return;
    O *y = (O *)k.y + i * N;
    const int64_t channel = k_split_any(&k.by_groups, &i) * N;
    const int q = (int)k_split_any(&k.by_bins, &i), p = (int)k_split_any(&k.by_bins, &i);
    const float *box = k.boxes + i * 4;
    const int64_t image = k.rows ? k.rows[i] : i / k.each;
    float sum[N] = {0.0f};
    if (box_exists(box) && image >= 0 && image < k.images) add_bin<T, N>(k, box, p, q, image, channel, sum);
    store<N>(y, sum);
}

template <typename T, typename O, int N> static cudaError_t roi_align_of(const struct k_roi *k, cudaStream_t stream)
{
    struct k_roi o = *k;
    o.by_groups = k_divide_any_by(k->channels / N), o.by_bins = k_divide_any_by(k->attr.bins);
    const int64_t threads = k->batch * k->each * k->attr.bins * k->attr.bins * o.by_groups.by;
    return launch(roi_align<T, O, N>, blocks_for(threads), K_BLOCK, stream, o);
}

K_LAUNCHER(k_roi_align)
{
    const struct k_roi *k = (const struct k_roi *)args;
    if (k->type == U8) return roi_align_of<uint8_t, float, 1>(k, stream);
    BY_LANES(k->type, k_lanes(k->type, k->channels), T, N, return roi_align_of<T, T, N>(k, stream));
    return cudaErrorInvalidValue;
}

// ---- backward: blockIdx.y is the image

struct roi_grad {
    struct k_roi k;
    int level;
};

// The pixels of a block: rows [top, bottom], columns [left, right].
struct roi_tile {
    int top, bottom, left, right;
};

__device__ static inline bool reaches(const struct roi_grad &o, const float *box, const struct roi_tile &t)
{
    if (!box_exists(box) || roi_level(box, o.k.attr.side, o.k.attr.levels) != o.level) return false;
    const struct roi_axis down = down_axis(o.k.attr, box, o.level), across = across_axis(o.k.attr, box, o.level);
    return roi_reaches(&down, o.k.attr.bins, t.top, t.bottom) && roi_reaches(&across, o.k.attr.bins, t.left, t.right);
}

template <typename T, int N>
__device__ static inline void add_box(const struct roi_grad &o, int64_t r, int y, int x, int64_t channel, float (&sum)[N])
{
    const float *box = o.k.boxes + r * 4;
    const int bins = o.k.attr.bins, h = (int)o.k.attr.h[o.level], w = (int)o.k.attr.w[o.level];
    const struct roi_axis down = down_axis(o.k.attr, box, o.level), across = across_axis(o.k.attr, box, o.level);
    for (int p = 0; p < bins; p++) {
        const float below = roi_weight(&down, p, y, h);
        for (int q = 0; below > 0.0f && q < bins; q++) {
            const float right = roi_weight(&across, q, x, w);
            if (right <= 0.0f) continue;
            add_pixel<T, N>((const T *)o.k.dy + ((r * bins + p) * bins + q) * o.k.channels + channel, below * right, sum);
        }
    }
}

template <typename T, int N> __global__ void roi_align_grad(const struct roi_grad o)
{
    __shared__ unsigned marks[K_BLOCK / K_WARP];
    const int64_t groups = o.k.by_groups.by, w = o.k.attr.w[o.level], pixels = o.k.attr.h[o.level] * w;
    const int64_t first = (int64_t)blockIdx.x * K_BLOCK / groups, i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    int64_t last = ((int64_t)blockIdx.x * K_BLOCK + K_BLOCK - 1) / groups, pixel = i;
    if (last >= pixels) last = pixels - 1;
    const int64_t channel = k_split_any(&o.k.by_groups, &pixel) * N;
    const bool one = first / w == last / w;
    const struct roi_tile tile = {(int)(first / w), (int)(last / w), one ? (int)(first % w) : 0,
                                  one ? (int)(last % w) : (int)w - 1};
    const int y = (int)(pixel / w), x = (int)(pixel % w);
    float sum[N] = {0.0f};
    for (int64_t base = 0; base < o.k.each; base += K_BLOCK) {
        const int64_t from = blockIdx.y * o.k.each + base, r = from + threadIdx.x;
        const bool mine = base + threadIdx.x < o.k.each && reaches(o, o.k.boxes + r * 4, tile);
        const unsigned mark = __ballot_sync(0xffffffffu, mine);
        if (threadIdx.x % K_WARP == 0) marks[threadIdx.x / K_WARP] = mark;
        __syncthreads();
        for (int warp = 0; warp < K_BLOCK / K_WARP; warp++)
            for (unsigned m = marks[warp], j = 0; m; m >>= 1, j++)
                if (m & 1u && pixel < pixels) add_box<T, N>(o, from + warp * K_WARP + j, y, x, channel, sum);
        __syncthreads();
    }
    if (pixel < pixels) store<N>((T *)o.k.dx[o.level] + ((int64_t)blockIdx.y * pixels + pixel) * o.k.channels + channel, sum);
}

template <typename T, int N> static cudaError_t roi_align_grad_of(const struct k_roi *k, cudaStream_t stream)
{
    struct roi_grad o = {*k, 0};
    o.k.by_groups = k_divide_any_by(k->channels / N);
    for (; o.level < k->attr.levels; o.level++) {
        const int64_t threads = k->attr.h[o.level] * k->attr.w[o.level] * o.k.by_groups.by;
        if (k->dx[o.level])
            TRY_CUDA(launch(roi_align_grad<T, N>, dim3(blocks_for(threads), (unsigned)k->batch), K_BLOCK, stream, o));
    }
    return cudaSuccess;
}

K_LAUNCHER(k_roi_align_grad)
{
    const struct k_roi *k = (const struct k_roi *)args;
    BY_LANES(k->type, k_lanes(k->type, k->channels), T, N, return roi_align_grad_of<T, N>(k, stream));
    return cudaErrorInvalidValue;
}
