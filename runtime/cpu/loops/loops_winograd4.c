// SPDX-License-Identifier: Apache-2.0
// Transforms of Winograd's F(4x4, 3x3) in f32 with the points 0, +-a, +-b and infinity, a = sqrt(1/2), b = sqrt(2). With them
// results have about the rounding error of a direct convolution; with the usual 1 and 2 five times as much
// (docs/decisions/winograd.md).
//
//   d: 6 x 6 inputs of a tile     V = B' d B     g: 3 x 3 filter    U = G g G'     M = sum over c of U V at 36 positions
//   y: 4 x 4 outputs              y = A' M A     and for the gradient of g: S = sum of (A dy A') V, dg = G' S G
//
// Each is a pass over columns, then over rows, of a vector of channels at a time; values between the passes stay in the L1 cache.
#include "runtime/cpu/loops/loops_inside.h"

#define A_ 0.70710678118654752f   // a, a^3, b, b^3
#define A3 0.35355339059327376f
#define B_ 1.41421356237309505f
#define B3 2.82842712474619010f

// v = B' d, in place
ALWAYS void input_line(lanes d[6])
{
    lanes even_a = d[4] - d[2] * 2.0f, odd_a = (d[3] - d[1] * 2.0f) * A_;
    lanes even_b = d[4] - d[2] * 0.5f, odd_b = (d[3] - d[1] * 0.5f) * B_;
    lanes first = d[0] - d[2] * 2.5f + d[4], last = d[1] - d[3] * 2.5f + d[5];
    d[0] = first, d[5] = last;
    d[1] = even_a + odd_a, d[2] = even_a - odd_a;
    d[3] = even_b + odd_b, d[4] = even_b - odd_b;
}

// z = A y
ALWAYS void gradient_line(const lanes y[4], lanes z[6])
{
    lanes even_a = y[0] + y[2] * 0.5f, odd_a = y[1] * A_ + y[3] * A3;
    lanes even_b = y[0] + y[2] * 2.0f, odd_b = y[1] * B_ + y[3] * B3;
    z[0] = y[0], z[5] = y[3];
    z[1] = even_a + odd_a, z[2] = even_a - odd_a;
    z[3] = even_b + odd_b, z[4] = even_b - odd_b;
}

// u = G g
ALWAYS void filter_line(const lanes g[3], lanes u[6])
{
    lanes even_a = (g[0] + g[2] * 0.5f) * (-1.0f / 1.5f), odd_a = g[1] * (-A_ / 1.5f);
    lanes even_b = (g[0] + g[2] * 2.0f) * (1.0f / 6.0f), odd_b = g[1] * (B_ / 6.0f);
    u[0] = g[0], u[5] = g[2];
    u[1] = even_a + odd_a, u[2] = even_a - odd_a;
    u[3] = even_b + odd_b, u[4] = even_b - odd_b;
}

// y = A' m
ALWAYS void output_line(const lanes m[6], lanes y[4])
{
    lanes even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
    y[0] = m[0] + even_a + even_b;
    y[1] = odd_a * A_ + odd_b * B_;
    y[2] = even_a * 0.5f + even_b * 2.0f;
    y[3] = odd_a * A3 + odd_b * B3 + m[5];
}

// h = G' s
ALWAYS void sum_line(const lanes s[6], lanes h[3])
{
    lanes even_a = (s[1] + s[2]) * (-1.0f / 1.5f), odd_a = (s[1] - s[2]) * (-A_ / 1.5f);
    lanes even_b = (s[3] + s[4]) * (1.0f / 6.0f), odd_b = (s[3] - s[4]) * (B_ / 6.0f);
    h[0] = s[0] + even_a + even_b;
    h[1] = odd_a + odd_b;
    h[2] = even_a * 0.5f + even_b * 2.0f + s[5];
}

// Where the vector at channel c of a tile lies.
ALWAYS float *position_at(const struct positions *p, int64_t c)
{
    return p->at + c / PANEL_LANES * p->panel + c % PANEL_LANES;
}

// The vector behind that at channel c; the last one ends with the last channel.
ALWAYS int64_t next_vector(int64_t c, int64_t channels)
{
    return c + LANES >= channels ? channels : c + 2 * LANES <= channels ? c + LANES : channels - LANES;
}

// Row `row` of the positions at channel c.
ALWAYS void store_line(const struct positions *to, int64_t c, int row, const lanes v[6])
{
    float *at = position_at(to, c) + 6 * row * to->spot;
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) AT(at + j * to->spot) = v[j];
}

void LOOPS_NAME(winograd4_inputs)(const float *const pixel[36], int64_t channels, const struct positions *to)
{
    for (int64_t c = 0; c < channels; c = next_vector(c, channels)) {
        lanes t[6][6];
        for (int j = 0; j < 6; j++) {
            lanes d[6];
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) d[i] = AT((float *)(uintptr_t)pixel[6 * i + j] + c);
            input_line(d);
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) t[i][j] = d[i];
        }
        for (int i = 0; i < 6; i++) {
            input_line(t[i]);
            store_line(to, c, i, t[i]);
        }
    }
}

void LOOPS_NAME(winograd4_gradients)(const float *const pixel[16], int64_t channels, const struct positions *to)
{
    for (int64_t c = 0; c < channels; c = next_vector(c, channels)) {
        lanes t[6][4];
        for (int j = 0; j < 4; j++) {
            lanes y[4], z[6];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) y[i] = AT((float *)(uintptr_t)pixel[4 * i + j] + c);
            gradient_line(y, z);
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) t[i][j] = z[i];
        }
        for (int i = 0; i < 6; i++) {
            lanes z[6];
            gradient_line(t[i], z);
            store_line(to, c, i, z);
        }
    }
}

void LOOPS_NAME(winograd4_filters)(const float *const tap[9], int64_t channels, const struct positions *to)
{
    for (int64_t c = 0; c < channels; c = next_vector(c, channels)) {
        lanes t[6][3];
        for (int j = 0; j < 3; j++) {
            lanes g[3], u[6];
#pragma GCC unroll 3
            for (int i = 0; i < 3; i++) g[i] = AT((float *)(uintptr_t)tap[3 * i + j] + c);
            filter_line(g, u);
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) t[i][j] = u[i];
        }
        for (int i = 0; i < 6; i++) {
            lanes u[6];
            filter_line(t[i], u);
            store_line(to, c, i, u);
        }
    }
}

void LOOPS_NAME(winograd4_outputs)(const struct positions *from, int64_t channels, const float *bias, float *const y[16])
{
    for (int64_t c = 0; c < channels; c = next_vector(c, channels)) {
        lanes t[4][6];
        lanes b = {0};
        if (bias) b = AT((float *)(uintptr_t)bias + c);
        for (int j = 0; j < 6; j++) {
            lanes m[6], v[4];
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) m[i] = AT(position_at(from, c) + (6 * i + j) * from->spot);
            output_line(m, v);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) t[i][j] = v[i];
        }
        for (int i = 0; i < 4; i++) {
            lanes v[4];
            output_line(t[i], v);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) AT(y[4 * i + j] + c) = v[j] + b;
        }
    }
}

void LOOPS_NAME(winograd4_sums)(const struct positions *from, int64_t channels, float *const dw[9])
{
    for (int64_t c = 0; c < channels; c = next_vector(c, channels)) {
        lanes t[3][6];
        for (int j = 0; j < 6; j++) {
            lanes s[6], h[3];
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) s[i] = AT(position_at(from, c) + (6 * i + j) * from->spot);
            sum_line(s, h);
#pragma GCC unroll 3
            for (int i = 0; i < 3; i++) t[i][j] = h[i];
        }
        for (int i = 0; i < 3; i++) {
            lanes h[3];
            sum_line(t[i], h);
#pragma GCC unroll 3
            for (int j = 0; j < 3; j++) AT(dw[3 * i + j] + c) = h[j];
        }
    }
}
