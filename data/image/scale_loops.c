// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set. Plain C is the specification. gcc 12 does not find the permutations of a
// horizontal filter, so the wider sets have them by hand: 8 pixels out of 16 (or 32) by vpermi2q with AVX-512, four loads
// for four pixels with AVX2.
#include "data/image/scale_inside.h"

#include <stdbool.h>
#include <string.h>

#if defined __AVX512BW__ || defined __AVX2__
#include <immintrin.h>
#endif

#define LANES SCALE_LANES
#define GROUP SCALE_GROUP

#if defined __AVX512BW__

// Up to 64 lanes at once. A row has few taps, so two sums hide the latency of their additions.
static void rows(const uint8_t *pixels, int64_t stride, const int16_t *weight, int taps, int64_t n, int16_t *row)
{
    for (int64_t i = 0; i < n; i += 64) {
        __m512i a = _mm512_setzero_si512(), b = a;
        for (int k = 0; k < taps; k++) {
            const uint8_t *from = pixels + k * stride + i;
            __m512i w = _mm512_set1_epi16(weight[k]);
            __m512i x = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)from));
            __m512i y = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(from + 32)));
            a = _mm512_add_epi16(a, _mm512_mulhrs_epi16(_mm512_slli_epi16(x, SCALE_BETWEEN), w));
            b = _mm512_add_epi16(b, _mm512_mulhrs_epi16(_mm512_slli_epi16(y, SCALE_BETWEEN), w));
        }
        _mm512_storeu_si512(row + i, a);
        _mm512_storeu_si512(row + i + 32, b);
    }
}

static void spread(const int16_t *packed, int64_t pixels, int16_t *row)
{
    int16_t from[32];
    for (int i = 0; i < 32; i++) from[i] = (int16_t)(i / 4 * 3 + i % 4);
    const __m512i at = _mm512_loadu_si512(from);
    for (int64_t x = 0; x < pixels; x += GROUP)
        _mm512_storeu_si512(row + 4 * x, _mm512_permutexvar_epi16(at, _mm512_loadu_si512(packed + 3 * x)));
}

// Pixel at[i] of 16, or of 32 if `far`.
static inline __m512i pick(const int16_t *from, __m512i at, bool far)
{
    __m512i low = _mm512_permutex2var_epi64(_mm512_loadu_si512(from), at, _mm512_loadu_si512(from + 32));
    if (!far) return low;
    __m512i high = _mm512_permutex2var_epi64(_mm512_loadu_si512(from + 64), at, _mm512_loadu_si512(from + 96));
    return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(at, _mm512_set1_epi64(16)), low, high);
}

// Eight pixels that are too far apart for `pick`.
static __m512i pick_each(const int16_t *from, const int32_t *first)
{
    int64_t pixel[GROUP];
    for (int i = 0; i < GROUP; i++) memcpy(&pixel[i], from + (int64_t)first[i] * LANES, sizeof pixel[i]);
    return _mm512_loadu_si512(pixel);
}

static inline void sum_taps(const int16_t *from, int64_t stride, __m512i at, bool far, const int16_t (*weight)[LANES],
                            int taps, __m512i sum[SCALE_ROWS])
{
    const __m512i one = _mm512_set1_epi64(1);
    for (int k = 0; k < taps; k++) {
        __m512i w = _mm512_loadu_si512(weight[k * GROUP]);
        for (int r = 0; r < SCALE_ROWS; r++)
            sum[r] = _mm512_add_epi16(sum[r], _mm512_mulhrs_epi16(pick(from + r * stride, at, far), w));
        at = _mm512_add_epi64(at, one);
    }
}

// Eight pixels of two rows with rounded sums: words 0 to 11 belong to the first row, 16 to 27 to the second.
static inline __m512i pack(__m512i a, __m512i b)
{
    const __m512i drop = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m512i join = _mm512_setr_epi32(0x00010000, 0x00080002, 0x000a0009, 0x00110010, 0x00180012, 0x001a0019, 0, 0,
                                           0x00040003, 0x000b0005, 0x000d000c, 0x00140013, 0x001b0015, 0x001d001c, 0, 0);
    __m512i bytes = _mm512_packus_epi16(_mm512_srai_epi16(a, SCALE_BETWEEN), _mm512_srai_epi16(b, SCALE_BETWEEN));
    return _mm512_permutexvar_epi16(join, _mm512_shuffle_epi8(bytes, drop));
}

static inline void store(__m256i bytes, int64_t left, uint8_t *into)
{
    if (left >= GROUP) {
        _mm_storeu_si128((__m128i *)into, _mm256_castsi256_si128(bytes));
        _mm_storel_epi64((__m128i *)(into + 16), _mm256_extracti128_si256(bytes, 1));
        return;
    }
    uint8_t all[32];
    _mm256_storeu_si256((__m256i *)all, bytes);
    memcpy(into, all, (size_t)left * 3);
}

static void pixels(const int16_t *row, int64_t stride, const struct scale_across *a, int count, uint8_t *into)
{
    for (int64_t x = 0; x < a->width; x += GROUP) {
        const int32_t *first = a->first + x;
        const int16_t(*weight)[LANES] = a->weight + x * a->taps;
        int base = first[0] < first[GROUP - 1] ? first[0] : first[GROUP - 1];
        int span = first[0] + first[GROUP - 1] - 2 * base + a->taps;
        const int16_t *from = row + (int64_t)base * LANES;
        __m512i at = _mm512_sub_epi64(_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)first)),
                                      _mm512_set1_epi64(base));
        __m512i sum[SCALE_ROWS];
        for (int r = 0; r < SCALE_ROWS; r++) sum[r] = _mm512_set1_epi16(1 << (SCALE_BETWEEN - 1));  // rounds to the nearest level
        if (span <= 16) sum_taps(from, stride, at, false, weight, a->taps, sum);
        else if (span <= 32) sum_taps(from, stride, at, true, weight, a->taps, sum);
        else
            for (int k = 0; k < a->taps; k++)
                for (int r = 0; r < SCALE_ROWS; r++)
                    sum[r] = _mm512_add_epi16(sum[r], _mm512_mulhrs_epi16(pick_each(row + r * stride + k * LANES, first),
                                                                          _mm512_loadu_si512(weight[k * GROUP])));
        for (int r = 0; r < count; r += 2) {
            __m512i two = pack(sum[r], sum[r + 1]);
            store(_mm512_castsi512_si256(two), a->width - x, into + 3 * (r * a->width + x));
            if (r + 1 < count) store(_mm512_extracti64x4_epi64(two, 1), a->width - x, into + 3 * ((r + 1) * a->width + x));
        }
    }
}

#elif defined __AVX2__

static void rows(const uint8_t *pixels, int64_t stride, const int16_t *weight, int taps, int64_t n, int16_t *row)
{
    for (int64_t i = 0; i < n; i += 32) {
        __m256i a = _mm256_setzero_si256(), b = a;
        for (int k = 0; k < taps; k++) {
            const uint8_t *from = pixels + k * stride + i;
            __m256i w = _mm256_set1_epi16(weight[k]);
            __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
            __m256i y = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(from + 16)));
            a = _mm256_add_epi16(a, _mm256_mulhrs_epi16(_mm256_slli_epi16(x, SCALE_BETWEEN), w));
            b = _mm256_add_epi16(b, _mm256_mulhrs_epi16(_mm256_slli_epi16(y, SCALE_BETWEEN), w));
        }
        _mm256_storeu_si256((__m256i *)(row + i), a);
        _mm256_storeu_si256((__m256i *)(row + i + 16), b);
    }
}

static void spread(const int16_t *packed, int64_t pixels, int16_t *row)
{
    const __m128i at = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11, 12, 13);
    for (int64_t x = 0; x < pixels; x += 2)
        _mm_storeu_si128((__m128i *)(row + 4 * x), _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(packed + 3 * x)), at));
}

static __m256i pick(const int16_t *row, const int32_t *first)
{
    __m128i pixel[4];
    for (int i = 0; i < 4; i++) pixel[i] = _mm_loadl_epi64((const __m128i *)(row + (int64_t)first[i] * LANES));
    return _mm256_set_m128i(_mm_unpacklo_epi64(pixel[2], pixel[3]), _mm_unpacklo_epi64(pixel[0], pixel[1]));
}

static void store(__m256i a, __m256i b, int64_t left, uint8_t *into)
{
    const __m256i half = _mm256_set1_epi16(1 << (SCALE_BETWEEN - 1));
    const __m256i drop = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    a = _mm256_srai_epi16(_mm256_add_epi16(a, half), SCALE_BETWEEN);
    b = _mm256_srai_epi16(_mm256_add_epi16(b, half), SCALE_BETWEEN);
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
    uint8_t all[32];
    bytes = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(bytes, drop), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
    _mm256_storeu_si256((__m256i *)all, bytes);
    memcpy(into, all, left < GROUP ? (size_t)left * 3 : GROUP * 3);
}

static void row_of_pixels(const int16_t *row, const struct scale_across *a, uint8_t *into)
{
    for (int64_t x = 0; x < a->width; x += GROUP) {
        __m256i low = _mm256_setzero_si256(), high = low;
        const int16_t(*weight)[LANES] = a->weight + x * a->taps;
        for (int k = 0; k < a->taps; k++) {
            const int16_t *from = row + k * LANES;
            __m256i w = _mm256_loadu_si256((const __m256i *)weight[k * GROUP]);
            __m256i v = _mm256_loadu_si256((const __m256i *)weight[k * GROUP + 4]);
            low = _mm256_add_epi16(low, _mm256_mulhrs_epi16(pick(from, a->first + x), w));
            high = _mm256_add_epi16(high, _mm256_mulhrs_epi16(pick(from, a->first + x + 4), v));
        }
        store(low, high, a->width - x, into + 3 * x);
    }
}

#else

static int16_t times(int a, int16_t weight)
{
    return (int16_t)((a * weight + (1 << (SCALE_BITS - 1))) >> SCALE_BITS);
}

static void rows(const uint8_t *pixels, int64_t stride, const int16_t *weight, int taps, int64_t n, int16_t *row)
{
    memset(row, 0, (size_t)n * sizeof *row);
    for (int k = 0; k < taps; k++)
        for (int64_t i = 0; i < n; i++)
            row[i] = (int16_t)(row[i] + times(pixels[k * stride + i] << SCALE_BETWEEN, weight[k]));
}

static void spread(const int16_t *packed, int64_t pixels, int16_t *row)
{
    for (int64_t x = 0; x < pixels; x++) memcpy(row + 4 * x, packed + 3 * x, 4 * sizeof *row);
}

static void row_of_pixels(const int16_t *row, const struct scale_across *a, uint8_t *into)
{
    for (int64_t x = 0; x < a->width; x++) {
        const int16_t *from = row + (int64_t)a->first[x] * LANES;
        const int16_t(*weight)[LANES] = a->weight + x / GROUP * GROUP * a->taps + x % GROUP;
        int16_t sum[LANES] = {0};
        for (int k = 0; k < a->taps; k++)
            for (int c = 0; c < LANES; c++)
                sum[c] = (int16_t)(sum[c] + times(from[k * LANES + c], weight[k * GROUP][c]));
        for (int c = 0; c < 3; c++) into[3 * x + c] = (uint8_t)((sum[c] + (1 << (SCALE_BETWEEN - 1))) >> SCALE_BETWEEN);
    }
}

#endif

#ifndef __AVX512BW__
static void pixels(const int16_t *row, int64_t stride, const struct scale_across *a, int count, uint8_t *into)
{
    for (int r = 0; r < count; r++) row_of_pixels(row + r * stride, a, into + 3 * r * a->width);
}
#endif

#define TABLE2(isa) scale_loops_##isa
#define TABLE(isa) TABLE2(isa)
const struct scale_loops TABLE(ISA) = {rows, spread, pixels};
