// SPDX-License-Identifier: Apache-2.0
// What the files of pairs_product.h share: the instruction set, and masks of the last vector of a row.
#pragma once

#include "runtime/cpu/product/pairs_product.h"

#if defined __x86_64__ && !defined ISA_ONLY_BASE

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define ALWAYS __attribute__((always_inline))

enum { PAIRS_LANES = 16 };
static inline ALWAYS __mmask16 pairs_below(int64_t n, int64_t at)  // lanes at, at + 1, ... below n
{
    return n - at >= PAIRS_LANES ? 0xffff : n <= at ? 0 : (__mmask16)((1u << (n - at)) - 1);
}

static inline ALWAYS __mmask32 pairs_halves_below(int64_t n, int64_t at)  // the same for 32 lanes
{
    return n - at >= 2 * PAIRS_LANES ? 0xffffffffu : n <= at ? 0 : (__mmask32)((1u << (n - at)) - 1);
}

#endif
