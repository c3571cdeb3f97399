// SPDX-License-Identifier: Apache-2.0
// Pooling. The first of equal values wins, and a NaN wins only if there is nothing else: a value replaces the best one if it is
// greater, or if the best is NaN and the value is not. `at` is computed in 16 bits and narrowed afterwards: one loop over 32-,
// 16- and 8-bit elements would need four times the registers.
#include "runtime/cpu/loops_inside.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

enum { CHUNK = 256 };

// All ones or zero. Uses masks, because gcc 12 compiles conditional expressions to branches and then does not vectorise.
ALWAYS int32_t wins(float v, float best)
{
    return -(int32_t)((v > best) | ((best != best) & (v == v)));
}

ALWAYS float choose(int32_t mask, float yes, float no)
{
    int32_t a, b;
    memcpy(&a, &yes, 4), memcpy(&b, &no, 4);
    a = (a & mask) | (b & ~mask);
    memcpy(&yes, &a, 4);
    return yes;
}

ALWAYS void pool2_chunk(enum dtype t, const void *a, const void *b, const void *c, const void *d, int64_t n, void *y,
                        uint16_t *at)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float best = get(t, a, i), v = get(t, b, i);
        int32_t take = wins(v, best), where = 1 & take;
        best = choose(take, v, best);
        v = get(t, c, i), take = wins(v, best);
        best = choose(take, v, best), where = (2 & take) | (where & ~take);
        v = get(t, d, i), take = wins(v, best);
        best = choose(take, v, best), where = (3 & take) | (where & ~take);
        put(t, y, i, best);
        at[i] = (uint16_t)where;
    }
}

// A bf16 as an integer of the same order: zeros are equal, NaN is below everything. Has twice the lanes of f32.
ALWAYS int16_t order_of(uint16_t h)
{
    int16_t size = (int16_t)(h & 0x7fff), minus = (int16_t)((int16_t)h >> 15);
    int16_t order = (int16_t)((size ^ minus) - minus), nan = (int16_t) - (size > 0x7f80);
    return (int16_t)((order & ~nan) | (nan & INT16_MIN));
}

ALWAYS int16_t choose_16(int16_t mask, int16_t yes, int16_t no)
{
    return (int16_t)((yes & mask) | (no & ~mask));
}

ALWAYS void pool2_chunk_bf16(const uint16_t *a, const uint16_t *b, const uint16_t *c, const uint16_t *d, int64_t n,
                             uint16_t *y, uint16_t *at)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        int16_t best = order_of(a[i]), v = order_of(b[i]), take = (int16_t) - (v > best);
        int16_t value = choose_16(take, (int16_t)b[i], (int16_t)a[i]), where = (int16_t)(take & 1);
        best = v > best ? v : best;
        v = order_of(c[i]), take = (int16_t) - (v > best);
        value = choose_16(take, (int16_t)c[i], value), where = choose_16(take, 2, where);
        best = v > best ? v : best;
        v = order_of(d[i]), take = (int16_t) - (v > best);
        y[i] = (uint16_t)choose_16(take, (int16_t)d[i], value);
        at[i] = (uint16_t)choose_16(take, 3, where);
    }
}

ALWAYS void pool2_of(enum dtype t, const void *x0, const void *x1, int64_t pairs, int64_t channels, void *y,
                     uint8_t *at)
{
    uint16_t where[CHUNK];
    for (int64_t pair = 0; pair < pairs; pair++)
        for (int64_t c = 0; c < channels; c += CHUNK) {
            int64_t n = channels - c < CHUNK ? channels - c : CHUNK, left = 2 * pair * channels + c,
                    to = pair * channels + c;
            if (t == BF16)
                pool2_chunk_bf16(from(t, x0, left), from(t, x0, left + channels), from(t, x1, left),
                                 from(t, x1, left + channels), n, into(t, y, to), where);
            else
                pool2_chunk(t, from(t, x0, left), from(t, x0, left + channels), from(t, x1, left),
                            from(t, x1, left + channels), n, into(t, y, to), where);
            if (!at) continue;
            INDEPENDENT
            for (int64_t i = 0; i < n; i++) at[to + i] = (uint8_t)where[i];
        }
}

void LOOPS_NAME(pool2)(enum dtype t, const void *x0, const void *x1, int64_t pairs, int64_t c, void *y, uint8_t *at)
{
    EACH_TYPE(t, pool2_of, x0, x1, pairs, c, y, at);
}

#define UNPOOL(type)                                                                                                   \
    do {                                                                                                               \
        const type *d = dy;                                                                                            \
        for (int64_t pair = 0; pair < pairs; pair++, d += c, at += c) {                                                \
            type *a = (type *)dx0 + 2 * pair * c, *b = (type *)dx1 + 2 * pair * c;                                     \
            INDEPENDENT                                                                                                \
            for (int64_t i = 0; i < c; i++) {                                                                          \
                a[i] = (type)(d[i] & -(at[i] == 0));                                                                   \
                a[c + i] = (type)(d[i] & -(at[i] == 1));                                                               \
                b[i] = (type)(d[i] & -(at[i] == 2));                                                                   \
                b[c + i] = (type)(d[i] & -(at[i] == 3));                                                               \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#ifdef __AVX512BW__
// Writes whole lines around the cache: dx is four times as large as dy and is not read soon, and a plain store would first
// fetch the line that it overwrites.
static void unpool2_stream(const uint16_t *d, const uint8_t *at, int64_t pairs, int64_t c, uint16_t *a, uint16_t *b)
{
    for (int64_t pair = 0; pair < pairs; pair++, d += c, at += c, a += 2 * c, b += 2 * c)
        for (int64_t i = 0; i < c; i += 32) {
            __m512i x = _mm512_loadu_si512(d + i),
                    where = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(at + i)));
            __m512i one = _mm512_set1_epi16(1), two = _mm512_set1_epi16(2), three = _mm512_set1_epi16(3);
            _mm512_stream_si512((void *)(a + i), _mm512_maskz_mov_epi16(_mm512_testn_epi16_mask(where, where), x));
            _mm512_stream_si512((void *)(a + c + i), _mm512_maskz_mov_epi16(_mm512_cmpeq_epi16_mask(where, one), x));
            _mm512_stream_si512((void *)(b + i), _mm512_maskz_mov_epi16(_mm512_cmpeq_epi16_mask(where, two), x));
            _mm512_stream_si512((void *)(b + c + i), _mm512_maskz_mov_epi16(_mm512_cmpeq_epi16_mask(where, three), x));
        }
    _mm_sfence();
}
#endif

void LOOPS_NAME(unpool2)(size_t size, const void *dy, const uint8_t *at, int64_t pairs, int64_t c, void *dx0, void *dx1)
{
#ifdef __AVX512BW__
    if (size == 2 && c % 32 == 0 && ((uintptr_t)dx0 | (uintptr_t)dx1) % 64 == 0) {
        unpool2_stream(dy, at, pairs, c, dx0, dx1);
        return;
    }
#endif
    if (size == 2)
        UNPOOL(uint16_t);
    else
        UNPOOL(uint32_t);
}

ALWAYS void max_tap_of(enum dtype t, const void *x, int64_t n, int tap, bool first, float *best, int32_t *at)
{
    if (first) {
        INDEPENDENT
        for (int64_t i = 0; i < n; i++) best[i] = get(t, x, i), at[i] = tap;
        return;
    }
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float v = get(t, x, i), old = best[i];
        int32_t take = wins(v, old);
        best[i] = choose(take, v, old);
        at[i] = (tap & take) | (at[i] & ~take);
    }
}

void LOOPS_NAME(max_tap)(enum dtype t, const void *x, int64_t n, int tap, bool first, float *best, int32_t *at)
{
    EACH_TYPE(t, max_tap_of, x, n, tap, first, best, at);
}

ALWAYS void from_tap_of(enum dtype t, const void *dy, const uint8_t *at, int64_t n, int tap, float *acc)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float d = get(t, dy, i);
        acc[i] += at[i] == tap ? d : 0.0f;
    }
}

void LOOPS_NAME(from_tap)(enum dtype t, const void *dy, const uint8_t *at, int64_t n, int tap, float *acc)
{
    EACH_TYPE(t, from_tap_of, dy, at, n, tap, acc);
}

ALWAYS void add_scaled_of(enum dtype t, const void *x, int64_t n, float factor, float *acc)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) acc[i] += factor * get(t, x, i);
}

void LOOPS_NAME(add_scaled)(enum dtype t, const void *x, int64_t n, float factor, float *acc)
{
    EACH_TYPE(t, add_scaled_of, x, n, factor, acc);
}
