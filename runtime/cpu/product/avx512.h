// SPDX-License-Identifier: Apache-2.0
// The instructions of the hand-written convolutions: AVX-512, with products of pairs of bf16.
#pragma once

#if defined __x86_64__

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define ALWAYS __attribute__((always_inline))

// True if this processor has the instructions; the ones for bf16 are checked only on request.
static inline bool avx512_fit(bool bf16)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           (!bf16 || __builtin_cpu_supports("avx512bf16"));
}

// The 16 lanes from `at` on that are below `end`.
static inline __attribute__((target("avx512f"), always_inline)) __mmask16 avx512_below(int64_t end, int64_t at)
{
    return end - at >= 16 ? 0xffff : end <= at ? 0 : (__mmask16)((1u << (end - at)) - 1);
}

#endif
