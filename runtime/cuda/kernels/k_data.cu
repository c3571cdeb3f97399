// SPDX-License-Identifier: Apache-2.0
// Data on the GPU. Augmentation: the first thread of a block draws for the image, with the same code as on the CPU (element.h).
// Every thread then writes 16 bytes at a time and reads single bytes, which hit the cache. Cost: u8 read once, the result
// written once.
#include "runtime/cuda/kernels/k_data.h"

#include "runtime/cuda/kernels/k_many.cuh"

#include <string.h>

__device__ static inline int64_t clamp_index(int64_t i, int64_t count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

static __global__ void window(const struct k_window k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.batch) return;
    int64_t at = (*k.cursor + i) % k.count;
    k.y[i] = k.order[at < 0 ? at + k.count : at];
}

K_LAUNCHER(k_window)
{
    const struct k_window *k = (const struct k_window *)args;
    return launch(window, blocks_for(k->batch), K_BLOCK, stream, *k);
}

// A thread for each table or counter. nvcc cannot name many<k_pick>, because k_pick is a function, too.
struct pick_one {
    struct k_pick k;
};
struct tick_one {
    struct k_tick k;
};

static_assert((int)K_MANY <= (int)K_WARP, "a warp has a thread for each");
template <typename K> static cudaError_t a_thread_each(void (*kernel)(const many<K>), cudaStream_t stream,
                                                       const void *const *args, int count)
{
    many<K> all = {};
    for (int i = 0; i < count; i++) {
        K one;
        memcpy(&one, args[i], sizeof one);
        many_add(all, one, 0);
    }
    return launch(kernel, 1, K_WARP, stream, all);
}

static __global__ void pick(const __grid_constant__ many<pick_one> all)
{
    if ((int)threadIdx.x >= all.count) return;
    const struct k_pick &k = all.of[threadIdx.x].k;
    *k.y = k.table[clamp_index(*k.step, k.count)];
}

K_MANY_LAUNCHER(k_pick) { return a_thread_each(pick, stream, args, count); }
K_LAUNCHER(k_pick) { return k_pick_many(stream, &args, 1); }

static __global__ void tick(const __grid_constant__ many<tick_one> all)
{
    if ((int)threadIdx.x >= all.count) return;
    const struct k_tick &k = all.of[threadIdx.x].k;
    const bool stays = k.clip && *k.clip < 0.0f;
    *k.y = (int32_t)((uint32_t)*k.counter + (stays ? 0u : (uint32_t)k.by));  // wraps around
}

K_MANY_LAUNCHER(k_tick) { return a_thread_each(tick, stream, args, count); }
K_LAUNCHER(k_tick) { return k_tick_many(stream, &args, 1); }

// ---- augment

struct drawn {  // for one image
    int64_t image;
    int flip, dy, dx;
    float a[4], b[4];  // value = pixel * a + b
};

__device__ static inline struct drawn draw_of(const struct k_augment &k, int64_t sample)
{
    struct drawn o;
    struct augment_draw d = {0, 0, 0, 0.0f, 1.0f};
    o.image = k.index ? clamp_index(k.index[sample], k.count) : sample;
    if (k.key) d = element_augment(k.key, (uint32_t)o.image, k.flip, k.pad, k.brightness, k.contrast);
    o.flip = d.flip ^ k.view_flip, o.dy = d.dy + k.view_dy, o.dx = d.dx + k.view_dx;
    for (int i = 0; i < 4; i++) o.a[i] = k.scale[i] * d.gain, o.b[i] = (k.offset[i] + d.shift) * d.gain;
    return o;
}

template <typename T, int N> __global__ void augment(const struct k_augment k)
{
    __shared__ struct drawn o;
    unsigned sample = blockIdx.x / (unsigned)k.blocks, block = blockIdx.x - sample * (unsigned)k.blocks;
    if (threadIdx.x == 0) o = draw_of(k, sample);
    __syncthreads();
    int line = k.w * k.c;
    int64_t each = (int64_t)k.h * line, end = ((int64_t)block + 1) * K_AUGMENT_EACH;
    if (end > each) end = each;
    const uint8_t *image = k.images + o.image * each;
    T *y = (T *)k.y + sample * each;
    for (int64_t at = (int64_t)block * K_AUGMENT_EACH + threadIdx.x * N; at < end; at += K_BLOCK * N) {
        int64_t whole = at;
        uint32_t rest = (uint32_t)k_split_any(&k.by_line, &whole);
        int row = (int)whole, c = (int)k_split(k.by_c, &rest), column = (int)rest;
        float v[N];
        for (int i = 0; i < N; i++) {
            int x = element_reflect(column + o.dx, k.w);
            if (o.flip) x = k.w - 1 - x;
            uint8_t pixel = image[(int64_t)element_reflect(row + o.dy, k.h) * line + x * k.c + c];
            v[i] = (float)pixel * o.a[c] + o.b[c];
            if (++c == k.c) c = 0, column++;
            if (column == k.w) column = 0, row++;
        }
        store<N>(y + at, v);
    }
}

K_LAUNCHER(k_augment)
{
    const struct k_augment *k = (const struct k_augment *)args;
    bool one = k_lanes(k->type, (int64_t)k->h * k->w * k->c) == 1;
    unsigned grid = (unsigned)(k->batch * k->blocks);
    BY_FLOAT(k->type, T, return one ? launch(augment<T, 1>, grid, K_BLOCK, stream, *k)
                                    : launch(augment<T, wide<T>::N>, grid, K_BLOCK, stream, *k));
}
