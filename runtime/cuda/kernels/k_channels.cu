// SPDX-License-Identifier: Apache-2.0
// A thread a row. Cost: the narrow rows are read in 2-byte pieces of lines that the neighbours share, the wide ones are written
// 16 bytes at a time.
#include "runtime/cuda/kernels/k_channels.h"

#include "runtime/cuda/kernels/k_common.cuh"

static __global__ void channels_pad(const struct k_channels_pad k)
{
    const int64_t row = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (row >= k.rows) return;
    const uint16_t *from = (const uint16_t *)k.from + row * k.c;
    lanes<uint16_t, K_CHANNELS> v;
    for (int i = 0; i < K_CHANNELS; i++) v.at[i] = i < k.c ? from[i] : (uint16_t)0;
    *(lanes<uint16_t, K_CHANNELS> *)((uint16_t *)k.to + row * K_CHANNELS) = v;
}

K_LAUNCHER(k_channels_pad)
{
    const struct k_channels_pad *k = (const struct k_channels_pad *)args;
    return launch(channels_pad, blocks_for(k->rows), K_BLOCK, stream, *k);
}

template <typename T> __global__ void channels_take(const struct k_channels_take k)
{
    const int64_t row = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (row >= k.rows) return;
    float v[K_CHANNELS];
    load<K_CHANNELS>((const T *)k.from + row * K_CHANNELS, v);
    for (int i = 0; i < K_CHANNELS; i++)
        if (i < k.c) k.to[row * k.c + i] = v[i];
}

K_LAUNCHER(k_channels_take)
{
    const struct k_channels_take *k = (const struct k_channels_take *)args;
    BY_FLOAT(k->type, T, return launch(channels_take<T>, blocks_for(k->rows), K_BLOCK, stream, *k));
}
