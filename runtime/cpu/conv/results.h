// SPDX-License-Identifier: Apache-2.0
// How the hand-written convolutions write 32 results: rounded to bf16, bypassing the caches if requested, and as a 2x2 max pool.
// Results are rounded before they are compared, so this is a max pool (loops_pool.c).
#pragma once

#if defined __x86_64__

#include "runtime/cpu/product/avx512.h"

#define LOOPS_ORDER static inline AVX512 ALWAYS
#include "runtime/cpu/loops/loops_order.h"

static inline AVX512 ALWAYS void results_store(bool past_cache, uint16_t *to, __m512i line)
{
    if (past_cache) _mm512_stream_si512((void *)to, line);
    else _mm512_storeu_si512(to, line);
}

static inline AVX512 ALWAYS __m512i results_round(const float from[32])
{
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + 16), _mm512_loadu_ps(from));
}

static inline AVX512 ALWAYS void results_widen(__m512i line, float to[32])
{
    _mm512_storeu_ps(to, (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(line)), 16));
    _mm512_storeu_ps(to + 16, (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(line, 1)), 16));
}

// The largest of the results so far, and its position in the window.
struct results_pool {
    __m512i value, where, order;
};

static inline AVX512 ALWAYS struct results_pool results_pool_first(__m512 low, __m512 high)
{
    __m512i value = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    return (struct results_pool){value, _mm512_setzero_si512(), loops_order(value)};
}

static inline AVX512 ALWAYS void results_pool_next(struct results_pool *best, int position, __m512 low, __m512 high)
{
    __m512i other = (__m512i)_mm512_cvtne2ps_pbh(high, low), order = loops_order(other);
    __mmask32 wins = _mm512_cmpgt_epi16_mask(order, best->order);
    best->order = _mm512_max_epi16(order, best->order);
    best->value = _mm512_mask_mov_epi16(best->value, wins, other);
    best->where = _mm512_mask_mov_epi16(best->where, wins, _mm512_set1_epi16((short)position));
}

#endif
