// SPDX-License-Identifier: Apache-2.0
// Included (-include) before a kernel file that the host's C++ compiler compiles: CUDA's keywords, indices, barriers, warp
// collectives and the few intrinsics that DAWN's kernels use. Each thread of a block runs the kernel's own lines on a fiber
// (emulate.cc); launches go to the emulated runtime (cudart.cc). Kernels must not use anything that is missing here.
//
// Shared memory is static memory: blocks run one after another, and it is filled with NaN before each. Float atomics do not
// compile, because their order of additions varies.
#pragma once
#define DAWN_EMULATE 1

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static const
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

// ---- thread indices

struct emulate_thread {
    uint3 thread, block;
    dim3 threads, blocks;
};
extern struct emulate_thread emulate_here;  // of the running thread
#define threadIdx ((const uint3 &)emulate_here.thread)
#define blockIdx ((const uint3 &)emulate_here.block)
#define blockDim ((const dim3 &)emulate_here.threads)
#define gridDim ((const dim3 &)emulate_here.blocks)
enum { warpSize = 32 };

// ---- launching

extern "C" cudaError_t emulate_launch(const void *kernel, void (*call)(const void *kernel, const void *k), const void *k,
                                      size_t bytes, dim3 grid, dim3 block, cudaStream_t stream);

template <typename K> static void emulate_call(const void *kernel, const void *k)
{
    ((void (*)(K))kernel)(*(const K *)k);
}

template <typename K>
static inline cudaError_t launch(void (*kernel)(const K), dim3 grid, dim3 block, cudaStream_t stream, const K &k)
{
    static_assert(sizeof(K) <= 4096, "a kernel takes at most 4096 bytes of arguments");
    static_assert(std::is_trivially_copyable<K>::value, "arguments of a kernel are copied as bytes");
    return emulate_launch((const void *)kernel, emulate_call<K>, &k, sizeof k, grid, block, stream);
}

// ---- synchronisation

extern "C" void emulate_barrier(const char *file, int line);

// A meeting of the lanes of `mask` in the caller's warp. When the last lane has arrived, `meet` is called once with the
// argument of each lane (NULL for lanes not in the mask); then all continue. `what` and the line must be the same for all.
extern "C" void emulate_meet(unsigned mask, void *mine, void (*meet)(void *const brought[32]), const char *what,
                             const char *file, int line);

// Every lane of a warp passes `bytes` bytes and receives the bytes of all 32 lanes in order.
extern "C" void emulate_gather(const void *mine, size_t bytes, void *all32, const char *file, int line);
static inline void emulate_warp_gather(const void *mine, size_t bytes, void *all32, const char *file = __builtin_FILE(),
                                       int line = __builtin_LINE())
{
    emulate_gather(mine, bytes, all32, file, line);
}

#define EMULATE_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(EMULATE_AT) { emulate_barrier(file, line); }

template <typename T> struct emulate_shuffle {
    T value, result;
    int from;  // the source lane
};
template <typename T>
static inline T emulate_exchange(unsigned mask, T value, int from, const char *what, const char *file, int line)
{
    struct emulate_shuffle<T> mine = {value, value, from};
    emulate_meet(
        mask, &mine,
        [](void *const *brought) {
            for (int i = 0; i < 32; i++) {
                struct emulate_shuffle<T> *to = (struct emulate_shuffle<T> *)brought[i];
                if (!to) continue;
                const struct emulate_shuffle<T> *of = (const struct emulate_shuffle<T> *)brought[to->from];
                // A lane that did not arrive has no value; on a GPU it would be the register's content.
                if (of) to->result = of->value;
                else memset((void *)&to->result, 0xff, sizeof to->result);
            }
        },
        what, file, line);
    return mine.result;
}
static inline int emulate_lane()
{
    const struct emulate_thread &h = emulate_here;
    return (int)((h.thread.x + h.threads.x * (h.thread.y + h.threads.y * h.thread.z)) % 32);
}
template <typename T>
static inline T emulate_shfl(unsigned mask, T value, int lane, int width, const char *file, int line)
{
    int me = emulate_lane();
    return emulate_exchange(mask, value, (me & -width) | (lane & (width - 1)), "__shfl_sync", file, line);
}
template <typename T>
static inline T emulate_shfl_xor(unsigned mask, T value, int lane, int width, const char *file, int line)
{
    int me = emulate_lane(), from = me ^ lane;
    return emulate_exchange(mask, value, from < (me & -width) + width ? from & 31 : me, "__shfl_xor_sync", file, line);
}
template <typename T>
static inline T emulate_shfl_down(unsigned mask, T value, unsigned by, int width, const char *file, int line)
{
    int me = emulate_lane(), from = me + (int)by;
    return emulate_exchange(mask, value, from < (me & -width) + width ? from : me, "__shfl_down_sync", file, line);
}
template <typename T>
static inline T emulate_shfl_up(unsigned mask, T value, unsigned by, int width, const char *file, int line)
{
    int me = emulate_lane(), from = me - (int)by;
    return emulate_exchange(mask, value, from >= (me & -width) ? from : me, "__shfl_up_sync", file, line);
}
#define EMULATE_SHUFFLES(T)                                                                                            \
    static inline T __shfl_sync(unsigned mask, T x, int lane, int width = 32, EMULATE_AT)                              \
    {                                                                                                                  \
        return emulate_shfl<T>(mask, x, lane, width, file, line);                                                      \
    }                                                                                                                  \
    static inline T __shfl_xor_sync(unsigned mask, T x, int lane, int width = 32, EMULATE_AT)                          \
    {                                                                                                                  \
        return emulate_shfl_xor<T>(mask, x, lane, width, file, line);                                                  \
    }                                                                                                                  \
    static inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32, EMULATE_AT)                      \
    {                                                                                                                  \
        return emulate_shfl_down<T>(mask, x, by, width, file, line);                                                   \
    }                                                                                                                  \
    static inline T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32, EMULATE_AT)                        \
    {                                                                                                                  \
        return emulate_shfl_up<T>(mask, x, by, width, file, line);                                                     \
    }
EMULATE_SHUFFLES(float)
EMULATE_SHUFFLES(int)
EMULATE_SHUFFLES(unsigned)
EMULATE_SHUFFLES(long)
EMULATE_SHUFFLES(unsigned long)
EMULATE_SHUFFLES(long long)
EMULATE_SHUFFLES(unsigned long long)

struct emulate_vote {
    int mine;
    unsigned all;
};
static inline unsigned emulate_ballot(unsigned mask, int yes, const char *what, const char *file, int line)
{
    struct emulate_vote vote = {yes, 0};
    emulate_meet(
        mask, &vote,
        [](void *const *brought) {
            unsigned all = 0;
            for (int i = 0; i < 32; i++)
                if (brought[i] && ((struct emulate_vote *)brought[i])->mine) all |= 1u << i;
            for (int i = 0; i < 32; i++)
                if (brought[i]) ((struct emulate_vote *)brought[i])->all = all;
        },
        what, file, line);
    return vote.all;
}
static inline unsigned __ballot_sync(unsigned mask, int yes, EMULATE_AT)
{
    return emulate_ballot(mask, yes, "__ballot_sync", file, line);
}
static inline int __any_sync(unsigned mask, int yes, EMULATE_AT)
{
    return emulate_ballot(mask, yes, "__any_sync", file, line) != 0;
}
static inline int __all_sync(unsigned mask, int yes, EMULATE_AT)
{
    return emulate_ballot(mask, yes, "__all_sync", file, line) == mask;
}

// ---- arithmetic

template <typename To, typename From> static inline To emulate_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &x, sizeof to);
    return to;
}
static inline unsigned __float_as_uint(float x) { return emulate_bits<unsigned>(x); }

#define EMULATE_EXTREMES(T)                                                                                            \
    static inline T min(T x, T y) { return y < x ? y : x; }                                                            \
    static inline T max(T x, T y) { return x < y ? y : x; }
EMULATE_EXTREMES(int)
EMULATE_EXTREMES(unsigned)
EMULATE_EXTREMES(long)
EMULATE_EXTREMES(unsigned long)
EMULATE_EXTREMES(long long)
EMULATE_EXTREMES(unsigned long long)
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
