// SPDX-License-Identifier: Apache-2.0
// Several problems in one launch: each block works on one of them. Cost: a block finds its problem by bisection.
#pragma once

#include "runtime/cuda/kernels/k_common.cuh"
#include "runtime/cuda/kernels/k_many.h"

// The problems of K_MANY_LAUNCHER as one argument of a kernel. Problem i has the blocks from first[i] to first[i + 1].
template <typename K> struct many {
    K of[K_MANY];
    int first[K_MANY + 1];
    int count;
};

template <typename K> static inline void many_add(many<K> &all, const K &k, int64_t blocks)
{
    all.of[all.count] = k;
    all.first[all.count + 1] = all.first[all.count] + (int)blocks;
    all.count++;
}

template <typename K> static inline unsigned many_blocks(const many<K> &all) { return (unsigned)all.first[all.count]; }

// The number of the problem that a block works on, by bisection.
__device__ static inline int many_find(const int *first, int count)
{
    int low = 0, high = count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if ((int)blockIdx.x >= first[middle]) low = middle;
        else high = middle;
    }
    return low;
}
