// SPDX-License-Identifier: Apache-2.0
// Cost: each element is read and written once, eight per thread, 16 bytes at a time. A block finds its tensor by bisection.
#include "runtime/cuda/kernels/k_many.cuh"
#include "runtime/cuda/kernels/k_weights.h"

enum { LANES = K_WEIGHTS_BLOCK / K_BLOCK };

template <typename T> __global__ static void cast_tensors(const __grid_constant__ struct k_weights k)
{
    const int which = many_find(k.first, k.tensors);
    int64_t at = (int64_t)((int)blockIdx.x - k.first[which]) * K_WEIGHTS_BLOCK + (int64_t)threadIdx.x * LANES;
    const int64_t rest = k.of[which].count - at, all = rest + k.of[which].zeros;
    const float *from = k.of[which].from + at;
    T *to = (T *)k.of[which].to + at;
    if (rest >= LANES) {
        float x[LANES];
        load<LANES>(from, x);
        store<LANES>(to, x);
    } else {
        for (int i = 0; i < LANES && i < all; i++) to[i] = from_float<T>(i < rest ? from[i] : 0.0f);
    }
}

K_LAUNCHER(k_weights)
{
    const struct k_weights *k = (const struct k_weights *)args;
    dim3 grid((unsigned)k->first[k->tensors]), block(K_BLOCK);
    switch (k->type) {
    case BF16: return launch(cast_tensors<__nv_bfloat16>, grid, block, stream, *k);
    case F16: return launch(cast_tensors<__half>, grid, block, stream, *k);
    default: return cudaErrorInvalidValue;
    }
}
