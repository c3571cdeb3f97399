// SPDX-License-Identifier: Apache-2.0
// Values in bf16 as integers of the same order, for max pools: zeros are equal, NaN is below everything. The
// including file defines LOOPS_ORDER, the attribute of a function that uses AVX-512BW: some files are compiled for an instruction
// set, others choose one for each function.
#pragma once

#include <immintrin.h>

LOOPS_ORDER __m512i loops_order(__m512i x)
{
    __m512i size = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff)), minus = _mm512_srai_epi16(x, 15);
    __m512i order = _mm512_sub_epi16(_mm512_xor_si512(size, minus), minus);
    __mmask32 nan = _mm512_cmpgt_epi16_mask(size, _mm512_set1_epi16(0x7f80));
    return _mm512_mask_mov_epi16(order, nan, _mm512_set1_epi16(INT16_MIN));
}
