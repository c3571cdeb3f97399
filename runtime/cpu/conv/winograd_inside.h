// SPDX-License-Identifier: Apache-2.0
// What winograd.c and winograd_wgrad.c share: tiles of 2 x 2 outputs, and the transforms (Lavin and Gray 2016, with the sign of
// the last row turned, so that no transform of outputs has a factor -1 of its own).
//
//   d: 4 x 4 inputs of a tile      V = B' d B     rows of B':  d0 - d2, d1 + d2, d2 - d1, d3 - d1
//   g: 3 x 3 filter                U = G g G'     rows of G:   g0, (g0 + g1 + g2)/2, (g0 - g1 + g2)/2, g2
//   y: 2 x 2 outputs               y = A' M A     rows of A':  m0 + m1 + m2, m1 - m2 + m3    with M = U V at 16 positions
//
// A tile has as many positions as its rows times its columns. A position whose inputs all lie outside the image is zero,
// and at an odd edge the last one is not needed; such positions are not computed.
#pragma once

#include "runtime/cpu/conv/winograd.h"
#include "runtime/cpu/product/rows.h"
#include "runtime/cpu/product/avx512.h"

enum { KB = ROWS_WIDE, CB = 32 };  // filters and channels in a block
enum { WINOGRAD_SPOTS = 16, WINOGRAD_CHANNELS = 1024, WINOGRAD_MOST_TILES = 512 };

// Tiles of an image.
static inline int64_t winograd_tiles(int64_t outputs) { return (outputs + 1) / 2; }

// Bit i: row (or column) i of the positions of tile t is computed.
static inline unsigned winograd_rows(int64_t t, int64_t outputs, int64_t inputs, int before)
{
    unsigned inside = 0;
    for (int i = 0; i < 4; i++) {
        int64_t at = 2 * t - before + i;
        inside |= (unsigned)(at >= 0 && at < inputs) << i;
    }
    unsigned rows = 0;
    if (inside & 5) rows |= 1;
    if (inside & 6) rows |= 6;
    if (inside & 10 && 2 * t + 1 < outputs) rows |= 8;
    return rows;
}

static inline void winograd_columns(const struct dnnl_conv *c, uint8_t columns[WINOGRAD_MOST_TILES])
{
    for (int64_t t = 0; t < winograd_tiles(c->q) && t < WINOGRAD_MOST_TILES; t++)
        columns[t] = (uint8_t)winograd_rows(t, c->q, c->w, c->before[1]);
}

// All rows (or columns) of positions of an image.
static inline int64_t winograd_all_rows(int64_t outputs, int64_t inputs, int before)
{
    int64_t all = 0;
    for (int64_t t = 0; t < winograd_tiles(outputs); t++) all += __builtin_popcount(winograd_rows(t, outputs, inputs, before));
    return all;
}

// All rows of taps that lie inside: what the direct kernels compute.
static inline int64_t winograd_direct_rows(int64_t outputs, int64_t inputs, int before)
{
    int64_t all = 0;
    for (int64_t p = 0; p < outputs; p++)
        for (int i = 0; i < 3; i++) all += p - before + i >= 0 && p - before + i < inputs;
    return all;
}

// Cycles of one core: a product of 2 x 64 multiply-adds takes one, the transforms of a tile take so many for each channel of x
// and of y (docs/performance.md). The direct kernels are preferred if they are as fast, because they round less.
static inline bool winograd_is_faster(const struct dnnl_conv *c, double each_x, double each_y)
{
    double tiles = (double)(winograd_tiles(c->p) * winograd_tiles(c->q)), product = (double)(c->c * c->k) / KB;
    double all = (double)(winograd_all_rows(c->p, c->h, c->before[0]) * winograd_all_rows(c->q, c->w, c->before[1]));
    double direct = (double)(winograd_direct_rows(c->p, c->h, c->before[0]) * winograd_direct_rows(c->q, c->w, c->before[1]));
    return all * product + tiles * (each_x * (double)c->c + each_y * (double)c->k) < 0.95 * direct * product;
}

// What every kernel here needs.
static inline bool winograd_shape(const struct dnnl_conv *c)
{
    return c->dtype == BF16 && c->r == 3 && c->s == 3 && c->groups == 1 && c->stride[0] == 1 && c->stride[1] == 1 &&
           c->c <= WINOGRAD_CHANNELS && c->k <= WINOGRAD_CHANNELS && winograd_tiles(c->q) <= WINOGRAD_MOST_TILES;
}

// The offset of the packed filters k.. of channel c.. at a position, in bytes: [k block][position][pair of channels][KB].
static inline int64_t winograd_filters_at(const struct dnnl_conv *conv, int64_t k, int64_t c, int64_t spot)
{
    return ((k / KB * WINOGRAD_SPOTS + spot) * (conv->c / 2) + c / 2) * KB * 4 + k % KB * 4;
}

#if defined __x86_64__

static const uint16_t winograd_zeros[WINOGRAD_CHANNELS + 32];  // a pixel outside the image

static inline AVX512 ALWAYS void winograd_input_row(__m512 *d0, __m512 *d1, __m512 *d2, __m512 *d3)
{
    __m512 a = *d0, b = *d1, c = *d2, e = *d3;
    *d0 = _mm512_sub_ps(a, c);
    *d1 = _mm512_add_ps(b, c);
    *d2 = _mm512_sub_ps(c, b);
    *d3 = _mm512_sub_ps(e, b);
}

// d = B' d B
static inline AVX512 ALWAYS void winograd_input(__m512 d[16])
{
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) winograd_input_row(&d[j], &d[4 + j], &d[8 + j], &d[12 + j]);
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) winograd_input_row(&d[i], &d[i + 1], &d[i + 2], &d[i + 3]);
}

// Two vectors of f32 as 16 pairs of bf16, `low` in the low halves.
static inline AVX512 ALWAYS __m512i winograd_pairs(__m512 low, __m512 high)
{
    const __m512i mix = _mm512_setr_epi32(0x100000, 0x110001, 0x120002, 0x130003, 0x140004, 0x150005, 0x160006, 0x170007,
                                          0x180008, 0x190009, 0x1a000a, 0x1b000b, 0x1c000c, 0x1d000d, 0x1e000e, 0x1f000f);
    return _mm512_permutexvar_epi16(mix, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

// The 16 pixels that tile (ty, tx) of an image reads; zeros outside.
static inline void winograd_pixels(const struct dnnl_conv *c, const uint16_t *image, int64_t ty, int64_t tx,
                                   const uint16_t *pixel[16])
{
    int64_t top = 2 * ty - c->before[0], left = 2 * tx - c->before[1];
    if (top >= 0 && left >= 0 && top + 4 <= c->h && left + 4 <= c->w) {
        const uint16_t *from = image + (top * c->w + left) * c->c;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) pixel[4 * i + j] = from + (i * c->w + j) * c->c;
        return;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            bool inside = top + i >= 0 && top + i < c->h && left + j >= 0 && left + j < c->w;
            pixel[4 * i + j] = inside ? image + ((top + i) * c->w + left + j) * c->c : winograd_zeros;
        }
}

#endif
