// SPDX-License-Identifier: Apache-2.0
// Pooling. The first of equal values wins, and a NaN wins only if there is nothing else: a value replaces the best one if it is
// greater, or if the best is NaN and the value is not. `at` is computed in 16 bits and narrowed afterwards: one loop over 32-,
// 16- and 8-bit elements would need four times the registers.
#include "runtime/cpu/loops/loops_inside.h"

#ifdef __AVX512BW__
#define LOOPS_ORDER ALWAYS
#include "runtime/cpu/loops/loops_order.h"
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

// Windows of any size: a tap after the other over a chunk of channels, whose best values stay in the L1 cache.
ALWAYS void max_tap(enum dtype t, const void *x, int64_t n, int32_t tap, float *restrict best, int32_t *restrict at)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float v = get(t, x, i), old = best[i];
        int32_t take = wins(v, old);
        best[i] = choose(take, v, old);
        at[i] = (tap & take) | (at[i] & ~take);
    }
}

ALWAYS void max_chunk(enum dtype t, const struct window *w, int64_t c, int64_t n, void *y, uint16_t *at)
{
    float best[CHUNK];
    int32_t where[CHUNK], first = w->tap[0];
    const void *x = from(t, w->x[0], c);
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) best[i] = get(t, x, i), where[i] = first;
    for (int k = 1; k < w->count; k++) max_tap(t, from(t, w->x[k], c), n, w->tap[k], best, where);
    if (y) {
        INDEPENDENT
        for (int64_t i = 0; i < n; i++) put(t, y, i, best[i]);
    }
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) at[i] = (uint16_t)where[i];
}

ALWAYS void max_tap_bf16(const uint16_t *restrict x, int64_t n, int16_t tap, int16_t *restrict best, int16_t *restrict value,
                         int16_t *restrict at)
{
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        int16_t v = order_of(x[i]), old = best[i], take = (int16_t) - (v > old);
        best[i] = v > old ? v : old;
        value[i] = choose_16(take, (int16_t)x[i], value[i]);
        at[i] = choose_16(take, tap, at[i]);
    }
}

ALWAYS void max_chunk_bf16(const struct window *w, int64_t c, int64_t n, uint16_t *y, uint16_t *at)
{
    int16_t best[CHUNK], value[CHUNK], where[CHUNK], first = w->tap[0];
    const uint16_t *x = (const uint16_t *)w->x[0] + c;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) value[i] = (int16_t)x[i], best[i] = order_of(x[i]), where[i] = first;
    for (int k = 1; k < w->count; k++) max_tap_bf16((const uint16_t *)w->x[k] + c, n, w->tap[k], best, value, where);
    if (y) memcpy(y, value, (size_t)n * sizeof *y);
    memcpy(at, where, (size_t)n * sizeof *at);
}

ALWAYS void pool_max_of(enum dtype t, const struct window *w, int64_t n, void *y, uint8_t *at)
{
    uint16_t where[CHUNK];
    for (int64_t c = 0; c < n; c += CHUNK) {
        int64_t count = n - c < CHUNK ? n - c : CHUNK;
        void *to = y ? into(t, y, c) : NULL;
        if (t == BF16)
            max_chunk_bf16(w, c, count, to, where);
        else
            max_chunk(t, w, c, count, to, where);
        if (!at) continue;
        INDEPENDENT
        for (int64_t i = 0; i < count; i++) at[c + i] = (uint8_t)where[i];
    }
}

#ifdef __AVX512BW__
// The same in registers, which the compiler does not keep over the taps: six times as fast, with AVX2, too.
static void max_wide_bf16(const struct window *w, int64_t n, uint16_t *y, uint8_t *at)
{
    for (int64_t c = 0; c < n; c += 32) {
        __m512i value = _mm512_loadu_si512((const uint16_t *)w->x[0] + c), best = loops_order(value);
        __m512i where = _mm512_set1_epi16(w->tap[0]);
        for (int k = 1; k < w->count; k++) {
            __m512i x = _mm512_loadu_si512((const uint16_t *)w->x[k] + c), v = loops_order(x);
            __mmask32 take = _mm512_cmpgt_epi16_mask(v, best);
            best = _mm512_max_epi16(v, best);
            value = _mm512_mask_mov_epi16(value, take, x);
            where = _mm512_mask_mov_epi16(where, take, _mm512_set1_epi16(w->tap[k]));
        }
        if (y) _mm512_storeu_si512(y + c, value);
        if (at) _mm256_storeu_si256((void *)(at + c), _mm512_cvtepi16_epi8(where));
    }
}

static void max_wide_f32(const struct window *w, int64_t n, float *y, uint8_t *at)
{
    for (int64_t c = 0; c < n; c += 16) {
        __m512 best = _mm512_loadu_ps((const float *)w->x[0] + c);
        __m512i where = _mm512_set1_epi32(w->tap[0]);
        for (int k = 1; k < w->count; k++) {
            __m512 v = _mm512_loadu_ps((const float *)w->x[k] + c);
            __mmask16 nan = _mm512_cmp_ps_mask(best, best, _CMP_UNORD_Q) & _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
            __mmask16 take = _mm512_cmp_ps_mask(v, best, _CMP_GT_OQ) | nan;
            best = _mm512_mask_mov_ps(best, take, v);
            where = _mm512_mask_mov_epi32(where, take, _mm512_set1_epi32(w->tap[k]));
        }
        if (y) _mm512_storeu_ps(y + c, best);
        if (at) _mm_storeu_si128((void *)(at + c), _mm512_cvtepi32_epi8(where));
    }
}

static void unpool_wide_bf16(const struct window *w, int64_t n, uint16_t *dx)
{
    for (int64_t c = 0; c < n; c += 16) {
        __m512 sum = _mm512_setzero_ps();
        for (int k = 0; k < w->count; k++) {
            __m512i d = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)((const uint16_t *)w->x[k] + c)));
            __mmask16 mine = _mm_cmpeq_epi8_mask(_mm_loadu_si128((const void *)(w->at[k] + c)), _mm_set1_epi8((char)w->tap[k]));
            sum = _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mine, d, 16)));
        }
        __m512i bits = _mm512_castps_si512(sum), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        __mmask16 nan = _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q);
        rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(1 << 22));
        _mm256_storeu_si256((void *)(dx + c), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
    }
}

static void unpool_wide_f32(const struct window *w, int64_t n, float *dx)
{
    for (int64_t c = 0; c < n; c += 16) {
        __m512 sum = _mm512_setzero_ps();
        for (int k = 0; k < w->count; k++) {
            __mmask16 mine = _mm_cmpeq_epi8_mask(_mm_loadu_si128((const void *)(w->at[k] + c)), _mm_set1_epi8((char)w->tap[k]));
            sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mine, (const float *)w->x[k] + c));
        }
        _mm512_storeu_ps(dx + c, sum);
    }
}
#elif defined __AVX2__
static void max_wide_f32(const struct window *w, int64_t n, float *y, uint8_t *at)
{
    for (int64_t c = 0; c < n; c += 8) {
        __m256 best = _mm256_loadu_ps((const float *)w->x[0] + c), where = _mm256_castsi256_ps(_mm256_set1_epi32(w->tap[0]));
        for (int k = 1; k < w->count; k++) {
            __m256 v = _mm256_loadu_ps((const float *)w->x[k] + c);
            __m256 nan = _mm256_and_ps(_mm256_cmp_ps(best, best, _CMP_UNORD_Q), _mm256_cmp_ps(v, v, _CMP_ORD_Q));
            __m256 take = _mm256_or_ps(_mm256_cmp_ps(v, best, _CMP_GT_OQ), nan);
            best = _mm256_blendv_ps(best, v, take);
            where = _mm256_blendv_ps(where, _mm256_castsi256_ps(_mm256_set1_epi32(w->tap[k])), take);
        }
        if (y) _mm256_storeu_ps(y + c, best);
        __m256i is = _mm256_castps_si256(where);
        __m128i both = _mm_packs_epi32(_mm256_castsi256_si128(is), _mm256_extracti128_si256(is, 1));
        if (at) _mm_storel_epi64((void *)(at + c), _mm_packus_epi16(both, both));
    }
}
#endif

void LOOPS_NAME(pool_max)(enum dtype t, const struct window *w, int64_t n, void *y, uint8_t *at)
{
#ifdef __AVX512BW__
    if (t == BF16 && n % 32 == 0) {
        max_wide_bf16(w, n, y, at);
        return;
    }
#endif
#ifdef __AVX2__
    if (t == F32 && n % 16 == 0) {
        max_wide_f32(w, n, y, at);
        return;
    }
#endif
    EACH_TYPE(t, pool_max_of, w, n, y, at);
}

ALWAYS void unpool_max_of(enum dtype t, const struct window *w, int64_t n, void *dx)
{
    float sum[CHUNK];
    for (int64_t c = 0; c < n; c += CHUNK) {
        int64_t count = n - c < CHUNK ? n - c : CHUNK;
        void *to = into(t, dx, c);
        memset(sum, 0, (size_t)count * sizeof *sum);
        for (int k = 0; k < w->count; k++) {
            const void *dy = from(t, w->x[k], c);
            const uint8_t *at = w->at[k] + c;
            int32_t tap = w->tap[k];
            INDEPENDENT
            for (int64_t i = 0; i < count; i++) sum[i] += choose(-(at[i] == tap), get(t, dy, i), 0.0f);
        }
        INDEPENDENT
        for (int64_t i = 0; i < count; i++) put(t, to, i, sum[i]);
    }
}

void LOOPS_NAME(unpool_max)(enum dtype t, const struct window *w, int64_t n, void *dx)
{
#ifdef __AVX512BW__
    if (t == BF16 && n % 16 == 0) {
        unpool_wide_bf16(w, n, dx);
        return;
    }
    if (t == F32 && n % 16 == 0) {
        unpool_wide_f32(w, n, dx);
        return;
    }
#endif
    EACH_TYPE(t, unpool_max_of, w, n, dx);
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
