// SPDX-License-Identifier: Apache-2.0
// Converts three planes to interleaved pixels and back. Every image that is read gets interleaved, so that direction also
// has a version with byte shuffles (SSSE3, in every x86 processor since 2006).
//
// Cost: nine shuffles and three stores move 16 pixels, so the speed of memory is the limit.
#include "data/read/planes.h"

static void interleave_plain(const uint8_t *planes, int64_t begin, int64_t n, uint8_t *pixels)
{
    for (int64_t i = begin; i < n; i++) {
        pixels[3 * i] = planes[i];
        pixels[3 * i + 1] = planes[n + i];
        pixels[3 * i + 2] = planes[2 * n + i];
    }
}

#ifdef __x86_64__
#include <tmmintrin.h>

// Byte j of the k-th 16-byte store comes from plane (16k+j) mod 3, element (16k+j) / 3; -1 gives a zero.
static const int8_t interleave_from[3][3][16] = {
    {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
     {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
     {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
    {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
     {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
     {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
    {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
     {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
     {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}},
};

__attribute__((target("ssse3"))) static void interleave_ssse3(const uint8_t *planes, int64_t n, uint8_t *pixels)
{
    __m128i from[3][3];
    for (int k = 0; k < 3; k++) {
        for (int p = 0; p < 3; p++) from[k][p] = _mm_loadu_si128((const __m128i *)interleave_from[k][p]);
    }
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i red = _mm_loadu_si128((const __m128i *)(planes + i));
        __m128i green = _mm_loadu_si128((const __m128i *)(planes + n + i));
        __m128i blue = _mm_loadu_si128((const __m128i *)(planes + 2 * n + i));
        for (int k = 0; k < 3; k++) {
            __m128i out =
                _mm_or_si128(_mm_shuffle_epi8(red, from[k][0]),
                             _mm_or_si128(_mm_shuffle_epi8(green, from[k][1]), _mm_shuffle_epi8(blue, from[k][2])));
            _mm_storeu_si128((__m128i *)(pixels + 3 * i + 16 * k), out);
        }
    }
    interleave_plain(planes, i, n, pixels);
}
#endif

void planes_interleave(const uint8_t *planes, int64_t n, uint8_t *pixels)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("ssse3")) {
        interleave_ssse3(planes, n, pixels);
        return;
    }
#endif
    interleave_plain(planes, 0, n, pixels);
}

void planes_split(const uint8_t *pixels, int64_t n, uint8_t *planes)
{
    for (int64_t i = 0; i < n; i++) {
        planes[i] = pixels[3 * i];
        planes[n + i] = pixels[3 * i + 1];
        planes[2 * n + i] = pixels[3 * i + 2];
    }
}
