// SPDX-License-Identifier: Apache-2.0
// Transposes 16 x 16 elements of 4 bytes in registers: filters and their gradients change between rows of channels and rows of
// filters once per step, which one by one costs as much as a third of a small convolution (docs/performance.md).
#pragma once

#if defined __x86_64__

#include <immintrin.h>

static inline __attribute__((target("avx512f"), always_inline)) void transpose16(__m512i v[16])
{
    __m512i t[16];
    for (int i = 0; i < 16; i += 2) {  // pairs of rows, then fours: 4 x 4 blocks lie in 128-bit lanes
        t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; i++) {  // then the lanes themselves
        __m512i a = _mm512_shuffle_i32x4(v[i], v[i + 4], 0x88), b = _mm512_shuffle_i32x4(v[i], v[i + 4], 0xdd);
        __m512i c = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0x88), d = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0xdd);
        t[i] = _mm512_shuffle_i32x4(a, c, 0x88), t[i + 8] = _mm512_shuffle_i32x4(a, c, 0xdd);
        t[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88), t[i + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
    for (int i = 0; i < 16; i++) v[i] = t[i];
}

#endif
