// SPDX-License-Identifier: Apache-2.0
// Shared by the loops*.c files: names with the instruction set, element access that compiles to straight vector code for a
// constant type, and the switch that makes the type (and the activation) constant.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/element.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef ISA
#define ISA base
#endif
#define LOOPS_PASTE2(a, b, c) a##b##_##c
#define LOOPS_PASTE(a, b, c) LOOPS_PASTE2(a, b, c)
#define LOOPS_NAME(name) LOOPS_PASTE(loops_, name, ISA)  // loops_sums_avx512

#define LOOP(name, arguments) void LOOPS_NAME(name) arguments;
LOOPS_LIST
#undef LOOP

#define ALWAYS static inline __attribute__((always_inline))

// A vector as wide as a register of the instruction set: compilers keep wider ones in memory. LANES of them fill LANE_GROUP
// numbers, which is what layouts and sums are defined by, so that these do not depend on the instruction set. Macros instead of
// functions, because the ABI of vector arguments differs between instruction sets.
enum { LANE_GROUP = 16 };
#if defined __AVX512F__
#define LANE_BYTES 64
enum { VECTOR_REGISTERS = 32 };
#elif defined __AVX2__
#define LANE_BYTES 32
enum { VECTOR_REGISTERS = 16 };
#else
#define LANE_BYTES 16
enum { VECTOR_REGISTERS = 16 };
#endif
enum { LANES = LANE_BYTES / 4, PANEL_LANES = 2 * LANES };
typedef float lanes __attribute__((vector_size(LANE_BYTES)));
typedef int32_t whole_lanes __attribute__((vector_size(LANE_BYTES)));
typedef float lanes_anywhere __attribute__((vector_size(LANE_BYTES), aligned(4), may_alias));
typedef uint32_t bits_anywhere __attribute__((vector_size(LANE_BYTES), aligned(4), may_alias));
#define AT(address) (*(lanes_anywhere *)(address))
#define BITS_AT(address) (*(const bits_anywhere *)(address))
#define CHOOSE(condition, a, b) ((lanes)(((condition) & (whole_lanes)(a)) | (~(condition) & (whole_lanes)(b))))
// a > b ? a : b, so b where one is NaN.
#if defined __AVX512F__
#define LARGER(a, b) ((lanes)_mm512_max_ps((__m512)(a), (__m512)(b)))
#elif defined __AVX2__
#define LARGER(a, b) ((lanes)_mm256_max_ps((__m256)(a), (__m256)(b)))
#else
#define LARGER(a, b) CHOOSE((a) > (b), a, b)
#endif
// Elements are independent, even if the result overwrites the input.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // loops over f16 call a function per element and do not vectorise
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

ALWAYS float get(enum dtype t, const void *x, int64_t i)
{
    if (t == F32) return ((const float *)x)[i];
    if (t == BF16) return bf16_to_f32(((const uint16_t *)x)[i]);
    return f16_to_f32(((const uint16_t *)x)[i]);
}

ALWAYS void put(enum dtype t, void *y, int64_t i, float v)
{
    if (t == F32)
        ((float *)y)[i] = v;
    else if (t == BF16)
        ((uint16_t *)y)[i] = f32_to_bf16(v);
    else
        ((uint16_t *)y)[i] = f32_to_f16(v);
}

ALWAYS const void *from(enum dtype t, const void *x, int64_t i)
{
    return (const char *)x + i * (t == F32 ? 4 : 2);
}

ALWAYS void *into(enum dtype t, void *x, int64_t i)
{
    return (char *)x + i * (t == F32 ? 4 : 2);
}

ALWAYS float activate(enum act act, float z)
{
#define ACT(ID, name) if (act == ACT_##ID) return element_##name(z);
    ACT_LIST(ACT)
#undef ACT
    return z;
}

ALWAYS float slope(enum act act, float z)
{
#define ACT(ID, name) if (act == ACT_##ID) return element_##name##_slope(z);
    ACT_LIST(ACT)
#undef ACT
    return 1.0f;
}

// rng_philox of base/rng.h for many counters at once, in place: word w of counter i is c[w][i], `count` a multiple of 16. Rounds
// are the outer loop, so that a round is a loop over vectors; one counter after the other takes five times as long.
enum { DRAWS = 64 };
#ifdef __AVX2__  // where the compiler takes twice as long
#ifdef __AVX512F__
typedef __m512i words;
#define WORDS_OF(name) _mm512_##name
#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define MERGE_WORDS(even, odd) _mm512_mask_mov_epi32(even, 0xaaaa, _mm512_slli_epi64(odd, 32))
#else
typedef __m256i words;
#define WORDS_OF(name) _mm256_##name
#define XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define MERGE_WORDS(even, odd) _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa)
#define _mm256_set1_epi64 _mm256_set1_epi64x
#endif
// Even and odd counters in the low halves of 64-bit lanes, which are all that the multiplication reads: no lane is moved between
// the rounds.
ALWAYS void philox_all(uint64_t key, uint32_t (*c)[DRAWS], int count)
{
    const words by_a = WORDS_OF(set1_epi64)(INT64_C(0xD2511F53)), by_b = WORDS_OF(set1_epi64)(INT64_C(0xCD9E8D57));
    for (int i = 0; i < count; i += LANES) {
        uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
        words v[4][2];
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++)
            memcpy(&v[w][0], &c[w][i], sizeof v[w][0]), v[w][1] = WORDS_OF(srli_epi64)(v[w][0], 32);
        for (int round = 0; round < 10; round++) {
            words key_0 = WORDS_OF(set1_epi64)((int64_t)k0), key_1 = WORDS_OF(set1_epi64)((int64_t)k1);
#pragma GCC unroll 2
            for (int h = 0; h < 2; h++) {
                words a = WORDS_OF(mul_epu32)(v[0][h], by_a), b = WORDS_OF(mul_epu32)(v[2][h], by_b);
                v[0][h] = XOR3(WORDS_OF(srli_epi64)(b, 32), v[1][h], key_0);
                v[2][h] = XOR3(WORDS_OF(srli_epi64)(a, 32), v[3][h], key_1);
                v[1][h] = b, v[3][h] = a;
            }
            k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
        }
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++) {
            words both = MERGE_WORDS(v[w][0], v[w][1]);
            memcpy(&c[w][i], &both, sizeof both);
        }
    }
}
#else
ALWAYS void philox_all(uint64_t key, uint32_t (*c)[DRAWS], int count)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        INDEPENDENT
        for (int i = 0; i < count; i++) {
            uint64_t a = (uint64_t)0xD2511F53u * c[0][i], b = (uint64_t)0xCD9E8D57u * c[2][i];
            c[0][i] = (uint32_t)(b >> 32) ^ c[1][i] ^ k0;
            c[2][i] = (uint32_t)(a >> 32) ^ c[3][i] ^ k1;
            c[1][i] = (uint32_t)b, c[3][i] = (uint32_t)a;
        }
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
}
#endif

// By halves: sixteen additions that wait for each other would take as long as a row of 128 elements.
ALWAYS double lanes_sum(const float *part)
{
    double sum[LANE_GROUP / 2];
    for (int j = 0; j < LANE_GROUP / 2; j++) sum[j] = (double)part[j] + (double)part[j + LANE_GROUP / 2];
    for (int half = LANE_GROUP / 4; half > 0; half /= 2)
        for (int j = 0; j < half; j++) sum[j] += sum[j + half];
    return sum[0];
}

enum { PARTS = LANE_GROUP / LANES };
#if defined __AVX512F__
#define BF16_AT(address) ((lanes)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(address))), 16))
#else
typedef uint16_t half_lanes __attribute__((vector_size(LANE_BYTES / 2), aligned(2), may_alias));
typedef uint32_t wide_lanes __attribute__((vector_size(LANE_BYTES)));
#define BF16_AT(address) ((lanes)(__builtin_convertvector(*(const half_lanes *)(address), wide_lanes) << 16))
#endif

// Elements i .. i + LANE_GROUP of x.
ALWAYS void get_group(enum dtype t, const void *x, int64_t i, lanes into[PARTS])
{
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++, i += LANES) {
        if (t == F32) into[k] = AT((const float *)x + i);
        else if (t == BF16) into[k] = BF16_AT(from(t, x, i));
        else
            for (int j = 0; j < LANES; j++) into[k][j] = get(t, x, i + j);
    }
}

// Elements i .. i + LANE_GROUP of y.
ALWAYS void put_group(enum dtype t, void *y, int64_t i, const lanes v[PARTS])
{
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++, i += LANES) {
        if (t == F32) AT((float *)y + i) = v[k];
#if defined __AVX512F__
        else if (t == BF16) {  // as f32_to_bf16
            const __m512i u = (__m512i)v[k], high = _mm512_srli_epi32(u, 16), odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
            __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd), 16);
            rounded = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask((__m512)v[k], (__m512)v[k], _CMP_UNORD_Q), high,
                                           _mm512_set1_epi32(0x40));
            _mm256_storeu_si256((__m256i *)into(t, y, i), _mm512_cvtepi32_epi16(rounded));
        }
#endif
        else
            for (int j = 0; j < LANES; j++) put(t, y, i + j, v[k][j]);
    }
}

// Calls name(type, ...) with the type as a constant.
#define EACH_TYPE(t, name, ...)                                                                                        \
    do {                                                                                                               \
        if ((t) == BF16)                                                                                               \
            name(BF16, __VA_ARGS__);                                                                                   \
        else if ((t) == F32)                                                                                           \
            name(F32, __VA_ARGS__);                                                                                    \
        else                                                                                                           \
            name(F16, __VA_ARGS__);                                                                                    \
    } while (0)

// Calls name(type, activation, ...) with both as constants.
#define EACH_ACT(t, act, name, ...)                                                                                    \
    do {                                                                                                               \
        switch (act) {                                                                                                 \
        case ACT_RELU: EACH_TYPE(t, name, ACT_RELU, __VA_ARGS__); break;                                               \
        case ACT_GELU: EACH_TYPE(t, name, ACT_GELU, __VA_ARGS__); break;                                               \
        case ACT_SILU: EACH_TYPE(t, name, ACT_SILU, __VA_ARGS__); break;                                               \
        case ACT_TANH: EACH_TYPE(t, name, ACT_TANH, __VA_ARGS__); break;                                               \
        case ACT_GELU_TANH: EACH_TYPE(t, name, ACT_GELU_TANH, __VA_ARGS__); break;                                     \
        case ACT_SIGMOID: EACH_TYPE(t, name, ACT_SIGMOID, __VA_ARGS__); break;                                         \
        default: EACH_TYPE(t, name, ACT_NONE, __VA_ARGS__);                                                            \
        }                                                                                                              \
    } while (0)
