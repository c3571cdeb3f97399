// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a number is a function of its key and its
// counter, so no result depends on the order of draws, the number of threads or the device. Header only, because
// the same lines are compiled for the CPU and for the GPU.
#pragma once

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define DAWN_BOTH static __host__ __device__ inline
#else
#define DAWN_BOTH static inline
#endif

struct rng4 {
    uint32_t v[4];
};

// The purpose of a draw. Two uses of a run's seed never share a counter: test_draws lists all uses, and proves it. The values are
// part of "same seed, same bytes". They differ in the low byte; the upper bytes number the sites or fields of a purpose.
enum rng_purpose {
    RNG_INIT = 1, RNG_ORDER = 2, RNG_FLIP = 3, RNG_CROP = 4, RNG_JITTER = 5, RNG_DROPOUT = 6, RNG_SYNTHETIC = 7, RNG_TEST = 8,
    RNG_PACK = 9, RNG_RANDOM = 10, RNG_WRITE = 11, RNG_SENTENCES = 12, RNG_PLAY = 13
};

DAWN_BOTH struct rng4 rng_philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b, c3 = (uint32_t)a, c0 = n0, c2 = n2;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    struct rng4 r = {{c0, c1, c2, c3}};
    return r;
}

// Draws keyed by (seed, purpose, epoch, sample); `block` numbers the blocks of four within one sample.
DAWN_BOTH struct rng4 rng_draw(uint64_t seed, uint32_t purpose, uint32_t epoch, uint32_t sample, uint32_t block)
{
    return rng_philox(seed, sample, epoch, purpose, block);
}

DAWN_BOTH float rng_unit(uint32_t bits)  // [0, 1), 24 bits
{
    return (float)(bits >> 8) * 0x1p-24f;
}

DAWN_BOTH uint32_t rng_below(uint32_t bits, uint32_t n)  // 0 .. n-1, bias below n / 2^32
{
    return (uint32_t)(((uint64_t)bits * n) >> 32);
}

// Mean 0, deviation 1 (Box-Muller, one of the pair), from the first two words. On the host alone: in double.
static inline double rng_normal(struct rng4 r)
{
    double u = ((double)r.v[0] + 1.0) * 0x1p-32, v = (double)r.v[1] * 0x1p-32;
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}
