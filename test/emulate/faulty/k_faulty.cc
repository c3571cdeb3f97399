// SPDX-License-Identifier: Apache-2.0
#include "test/emulate/emulate.h"

#include "test/emulate/faulty/k_faulty.h"

#include "runtime/cuda/kernels/k_common.cuh"

__global__ static void reverse(const struct k_faulty k)
{
    __shared__ float scratch[K_BLOCK];
    int i = (int)threadIdx.x;
    int64_t first = (int64_t)blockIdx.x * K_BLOCK;
    scratch[i] = k.x[first + i];
    if (k.fault != FAULT_NO_BARRIER) __syncthreads();
    k.y[first + i] = scratch[K_BLOCK - 1 - i];
    if (k.fault == FAULT_BLOCK_ORDER && i == 0) k.y[0] = (float)blockIdx.x;
}

__global__ static void badly_waiting(const struct k_faulty k)
{
    int i = (int)threadIdx.x;
    switch (k.fault) {
    case FAULT_HALF_BARRIER:
        if (i < K_BLOCK / 2) __syncthreads();
        break;
    case FAULT_EARLY_END:
        if (i == 77) return;
        __syncthreads();
        break;
    case FAULT_TWO_BARRIERS:
        if (i < K_BLOCK / 2) __syncthreads();
        else __syncthreads();
        break;
    case FAULT_MISSING_LANE:
        if (i % K_WARP != 3) k.y[i] = __shfl_xor_sync(0xffffffffu, k.x[i], 1);
        break;
    case FAULT_OTHER_CALL:
        if (i % 2) k.y[i] = __shfl_xor_sync(0xffffffffu, k.x[i], 1);
        else k.y[i] = __shfl_down_sync(0xffffffffu, k.x[i], 1);
        break;
    case FAULT_MASK_WITHOUT_ME: k.y[i] = __shfl_xor_sync(0x0000ffffu, k.x[i], 1); break;
    default: k.y[i] = __shfl_xor_sync(0xffffffffu, k.x[i], 1); break;
    }
}

static const float *volatile nowhere = (const float *)16;

__global__ static void badly_reaching(const struct k_faulty k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    float four[4];
    switch (k.fault) {
    case FAULT_PAST_THE_END: k.y[i + 1] = k.x[i]; break;
    case FAULT_MISALIGNED:
        if (i) break;
        load<4>(k.x + 1, four);
        store<4>(k.y, four);
        break;
    default: k.y[i] = *nowhere; break;
    }
}

// In a separate function, like the helpers of kernels.
__device__ static inline float unwritten(int i)
{
    __shared__ float scratch[K_BLOCK];
    float at_first = scratch[i];
    scratch[i] = 1.0f;
    return at_first;
}

__global__ static void never_written(const struct k_faulty k)
{
    int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    k.y[i] = unwritten((int)threadIdx.x);
}

__global__ static void too_much(const struct k_faulty k)
{
    __shared__ float scratch[16384];
    for (int i = (int)threadIdx.x; i < 16384; i += K_BLOCK) scratch[i] = k.x[0];
    __syncthreads();
    k.y[threadIdx.x] = scratch[threadIdx.x * 64];
}

K_LAUNCHER(k_faulty)
{
    const struct k_faulty *k = (const struct k_faulty *)args;
    dim3 grid(blocks_for(k->count)), block(K_BLOCK);
    switch (k->fault) {
    case FAULT_NONE:
    case FAULT_NO_BARRIER:
    case FAULT_BLOCK_ORDER: return launch(reverse, grid, block, stream, *k);
    case FAULT_PAST_THE_END:
    case FAULT_MISALIGNED:
    case FAULT_NOWHERE: return launch(badly_reaching, grid, block, stream, *k);
    case FAULT_UNWRITTEN_SHARED: return launch(never_written, grid, block, stream, *k);
    case FAULT_MUCH_SHARED: return launch(too_much, grid, block, stream, *k);
    case FAULT_SHORT_WARP: return launch(badly_waiting, grid, dim3(20), stream, *k);
    case FAULT_MANY_THREADS: return launch(reverse, grid, dim3(1025), stream, *k);
    case FAULT_NO_BLOCKS: return launch(reverse, dim3(0), block, stream, *k);
    case FAULT_HIGH_GRID: return launch(reverse, dim3(1, 65536), block, stream, *k);
    case FAULT_NO_KERNEL: return launch((void (*)(struct k_faulty))NULL, grid, block, stream, *k);
    default: return launch(badly_waiting, grid, block, stream, *k);
    }
}

__global__ static void exchange(const struct k_exchange k)
{
    const unsigned all = 0xffffffffu;
    int lane = (int)threadIdx.x;
    float x = k.x[lane], every[K_WARP];
    uint32_t *y = k.y + lane;
    y[EXCHANGE_LANE * K_WARP] = __float_as_uint(__shfl_sync(all, x, 5));
    y[EXCHANGE_XOR * K_WARP] = __float_as_uint(__shfl_xor_sync(all, x, 6));
    y[EXCHANGE_DOWN * K_WARP] = __float_as_uint(__shfl_down_sync(all, x, 3));
    y[EXCHANGE_UP * K_WARP] = __float_as_uint(__shfl_up_sync(all, x, 3));
    y[EXCHANGE_QUARTER * K_WARP] = __float_as_uint(__shfl_down_sync(all, x, 2, 8));
    if (lane < 16) y[EXCHANGE_HALF_WARP * K_WARP] = __float_as_uint(__shfl_xor_sync(0x0000ffffu, x, 8));
    else y[EXCHANGE_HALF_WARP * K_WARP] = (uint32_t)__shfl_sync(0xffff0000u, lane, 20);
    y[EXCHANGE_BALLOT * K_WARP] = __ballot_sync(all, lane % 3 == 0);
    y[EXCHANGE_ANY * K_WARP] = (uint32_t)__any_sync(all, lane == 9);
    y[EXCHANGE_ALL * K_WARP] = (uint32_t)__all_sync(all, lane < 32) + 2 * (uint32_t)__all_sync(all, lane < 31);
    emulate_warp_gather(&x, sizeof x, every);
    y[EXCHANGE_GATHER * K_WARP] = __float_as_uint(every[(lane * 7 + 1) % K_WARP]);
    y[EXCHANGE_SUM * K_WARP] = __float_as_uint(warp_sum(x));
    y[EXCHANGE_MOST * K_WARP] = __float_as_uint(warp_most(x));
}
K_LAUNCHER(k_exchange) { return launch(exchange, dim3(1), dim3(K_WARP), stream, *(const struct k_exchange *)args); }

__global__ static void sums_of_blocks(const struct k_sums k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    float sum = block_sum<K_BLOCK>(k.x[(int64_t)blockIdx.x * K_BLOCK + threadIdx.x], scratch);
    if (threadIdx.x == 0) k.y[blockIdx.x] = sum;
}
__global__ static void sum_of_sums(const struct k_sums k)
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < k.count / K_BLOCK; i += K_BLOCK) sum += k.y[i];
    sum = block_sum<K_BLOCK>(sum, scratch);
    if (threadIdx.x == 0) k.y[k.count / K_BLOCK] = sum;
}
K_LAUNCHER(k_sums)
{
    const struct k_sums *k = (const struct k_sums *)args;
    TRY_CUDA(launch(sums_of_blocks, dim3(blocks_for(k->count)), dim3(K_BLOCK), stream, *k));
    return launch(sum_of_sums, dim3(1), dim3(K_BLOCK), stream, *k);
}

__global__ static void indices(const struct k_indices k)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int i = (int)(block * blockDim.x * blockDim.y * blockDim.z + thread);
    k.y[i] = i;
    __syncthreads();
    k.y[i] += (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) - thread);  // still the same
}
K_LAUNCHER(k_indices) { return launch(indices, dim3(3, 2, 2), dim3(4, 3, 2), stream, *(const struct k_indices *)args); }
