// SPDX-License-Identifier: Apache-2.0
// The arithmetic of single elements: activations, their derivatives, and the augmentation of a sample. Header only and
// branch-free, because gcc vectorises these lines for the CPU and nvcc compiles them for the GPU (except for a power and an
// inverse, for which a GPU has instructions).
// test_element.c tests the error of each function against libm over its whole range, on a processor. The lines under
// __CUDA_ARCH__ run on a GPU alone; only the operators' cases test their error there.
#pragma once

#include "runtime/common/base/rng.h"

#include <string.h>

// e^x for any x: 2^n times a polynomial on [-ln2/2, ln2/2], relative error below 3e-7; saturates, never overflows.
DAWN_BOTH float element_exp(float x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float t = x * 1.44269504f;
    float n = (t + 12582912.0f) - 12582912.0f;  // round to nearest: 1.5 * 2^23
    float f = x - n * 0.693359375f;
    f = f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * f + 1.3981999507e-3f;
    p = p * f + 8.3334519073e-3f;
    p = p * f + 4.1665795894e-2f;
    p = p * f + 1.6666665459e-1f;
    p = p * f + 5.0000001201e-1f;
    p = p * f * f + f + 1.0f;
    uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;  // of NaN any
    float power;
    memcpy(&power, &bits, 4);
    return p * power;
}

// e^x for any x, infinity and 0 included; relative error below 7e-7.
DAWN_BOTH float element_exp_any(float x)
{
#ifdef __CUDA_ARCH__
    return expf(x);
#else
    float root = element_exp(0.5f * x);
    return root * root;
#endif
}

// The logarithm of any x, relative error below 1.2e-7 (musl's polynomial).
DAWN_BOTH float element_log(float x)
{
#ifdef __CUDA_ARCH__
    return logf(x);
#else
    int tiny = x < 1.17549435e-38f;  // subnormal
    float z = tiny ? x * 8388608.0f : x;
    uint32_t bits;
    memcpy(&bits, &z, 4);
    bits -= 0x3f3504f3u;  // sqrt(1/2): z = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2))
    float n = (float)((int32_t)bits >> 23) - (tiny ? 23.0f : 0.0f);
    bits = (bits & 0x7fffffu) + 0x3f3504f3u;
    memcpy(&z, &bits, 4);
    float f = z - 1.0f, s = f / (2.0f + f), s2 = s * s, s4 = s2 * s2, half = 0.5f * f * f;
    float r = s2 * (0.66666662693f + s4 * 0.28498786688f) + s4 * (0.40000972152f + s4 * 0.24279078841f);
    float y = s * (half + r) + n * 9.0580006145e-06f - half + f + n * 6.9313812256e-01f;
    y = x > 0.0f ? y : x == 0.0f ? -INFINITY : NAN;
    return x == INFINITY ? x : y;
#endif
}

DAWN_BOTH float element_sqrt(float x) { return sqrtf(x); }
DAWN_BOTH float element_pow(float x, float to) { return powf(x, to); }  // a call per element: no formula in a hot loop

// Parts of the activations, for numbers known to be in range. Integer minima and shifts replace conditions and conversions,
// which is up to a third faster in a vector loop. (A reciprocal by Newton steps was slower than the division on Zen 5:
// docs/performance.md.)

// min(|x|, most), and `most` for NaN: callers multiply by x itself afterwards, which keeps a NaN one.
DAWN_BOTH float element_bounded(float x, float most)
{
    uint32_t u, m;
    memcpy(&u, &x, 4);
    memcpy(&m, &most, 4);
    u &= 0x7fffffffu;
    u = u < m ? u : m;  // floats above zero are ordered as their bits are
    memcpy(&x, &u, 4);
    return x;
}

// e^f for |f| <= ln2 / 2: minimax.
DAWN_BOTH float element_exp_part(float f)
{
    float p = 0.00138145499f;
    p = p * f + 0.00836874824f;
    p = p * f + 0.041668389f;
    p = p * f + 0.166665196f;
    p = p * f + 0.49999994f;
    p = p * f + 1.0f;
    return p * f + 1.0f;
}

// e^x for |x| <= 87, relative error below 1.5e-7. A GPU has an instruction for powers of two, where the polynomial
// is a third of an activation's instructions; its relative error is below (2 + 1.2 |x|) 2^-23, and where |x| is large
// activations weigh it by something small.
DAWN_BOTH float element_exp_near(float x)
{
#ifdef __CUDA_ARCH__
    return __expf(x);
#else
    float n = x * 1.44269504f + 12582912.0f;  // the low bits hold round(x / ln 2)
    float whole = n - 12582912.0f;
    float f = x - whole * 0.693359375f;
    f = f + whole * 2.12194440e-4f;
    float p = element_exp_part(f);
    uint32_t bits, exponent;
    memcpy(&bits, &p, 4);
    memcpy(&exponent, &n, 4);
    bits += exponent << 23;
    memcpy(&p, &bits, 4);
    return p;
#endif
}

DAWN_BOTH float element_exp_minus(float x)  // e^-x, saturating
{
    float a = element_bounded(x, 87.0f);
    uint32_t bits, sign;
    memcpy(&bits, &a, 4);
    memcpy(&sign, &x, 4);
    bits |= ~sign & 0x80000000u;
    memcpy(&a, &bits, 4);
    return element_exp_near(a);
}

// 1 / x for x in [1, 2^126). A GPU has an instruction for it that is off by two units in the last place at most; a
// correctly rounded division takes it ten instructions.
DAWN_BOTH float element_inverse(float x)
{
#ifdef __CUDA_ARCH__
    return __fdividef(1.0f, x);
#else
    return 1.0f / x;
#endif
}

DAWN_BOTH float element_sigmoid_near(float x) { return element_inverse(1.0f + element_exp_minus(x)); }

// Gaussian distribution function by Abramowitz and Stegun 7.1.26, absolute error below 4e-7; *density is phi(x).
DAWN_BOTH float element_gauss(float x, float *density)
{
    float a = element_bounded(x, 13.0f);  // the tail there is 1e-38
    float e = element_exp_near(-0.5f * a * a);
    float t = element_inverse(1.0f + 0.2316418882f * a);  // 0.3275911 / sqrt(2)
    float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    float tail = 0.5f * p * e;
    *density = 0.3989422804f * e;
    return x < 0.0f ? tail : 1.0f - tail;
}

// Relative error below 4e-7, for small x too (Cephes).
DAWN_BOTH float element_tanh(float x)
{
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float a = element_bounded(x, 20.0f);
    float far = 1.0f - 2.0f * element_inverse(1.0f + element_exp_near(2.0f * a));
    far = x < 0.0f ? -far : far;
    far = x != x ? x : far;
    return z < 0.390625f ? near : far;
}
DAWN_BOTH float element_tanh_slope(float x)
{
    float e = element_exp_near(-2.0f * element_bounded(x, 43.0f)), s = element_inverse(1.0f + e);
    return x != x ? x : 4.0f * e * s * s;  // 1 - tanh^2, without the cancellation
}

DAWN_BOTH float element_sigmoid(float x) { return x != x ? x : element_sigmoid_near(x); }
DAWN_BOTH float element_sigmoid_slope(float x)
{
    float e = element_exp_minus(x), s = element_inverse(1.0f + e);
    return x != x ? x : e * s * s;
}

// x / 2 (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3); from |x| = 32 on the cube no longer matters.
DAWN_BOTH float element_gelu_tanh(float x)
{
    float z = x * x;
    z = z < 1024.0f ? z : 1024.0f;
    return x * element_sigmoid_near(x * (1.5957691216f + 0.07135481283f * z));
}
DAWN_BOTH float element_gelu_tanh_slope(float x)
{
    float z = x * x;
    z = z < 1024.0f ? z : 1024.0f;
    float e = element_exp_minus(x * (1.5957691216f + 0.07135481283f * z)), s = element_inverse(1.0f + e);
    return s * (1.0f + x * (1.5957691216f + 0.21406443849f * z) * (e * s));
}

DAWN_BOTH float element_relu(float x) { return x > 0.0f ? x : 0.0f; }
DAWN_BOTH float element_relu_slope(float x) { return x > 0.0f ? 1.0f : 0.0f; }
DAWN_BOTH float element_silu(float x) { return x * element_sigmoid_near(x); }
DAWN_BOTH float element_silu_slope(float x)
{
    float e = element_exp_minus(x), s = element_inverse(1.0f + e);
    return s * (1.0f + x * (e * s));  // 1 - s = e s, without the cancellation
}
DAWN_BOTH float element_gelu(float x)
{
    float density;
    return x * element_gauss(x, &density);
}
DAWN_BOTH float element_gelu_slope(float x)
{
    float density, below = element_gauss(x, &density);
    return below + x * density;
}

// log(1 + e^x) without overflow: the larger of x and 0, plus log1p(e^-|x|).
DAWN_BOTH float element_softplus(float x)
{
    float e = element_exp_minus(x < 0.0f ? -x : x), u = 1.0f + e;
    float rest = element_log(u) - ((u - 1.0f) - e) / u;
    return x != x ? x : (x > 0.0f ? x : 0.0f) + rest;
}

// ---- augmentation: the draws for one sample, from key = {seed low, seed high, epoch, 0}
struct augment_draw {
    int flip, dy, dx;  // mirrored first, then read at (y + dy, x + dx) with reflected borders
    float shift, gain; // (pixel + shift) * gain, after normalising
};

DAWN_BOTH int element_reflect(int i, int n)
{
    i = i < 0 ? -i : i;
    return i >= n ? 2 * (n - 1) - i : i;
}

// flip: 0 never, 1 at random, 2 decided once per image and reversed every other epoch (enum flip of graph.h)
DAWN_BOTH struct augment_draw element_augment(const int32_t key[4], uint32_t image, int flip, int pad, float brightness,
                                              float contrast)
{
    struct augment_draw d = {0, 0, 0, 0.0f, 1.0f};
    uint64_t seed = (uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32;
    uint32_t epoch = (uint32_t)key[2];
    if (flip == 1) d.flip = (int)(rng_draw(seed, RNG_FLIP, epoch, image, 0).v[0] & 1u);
    if (flip == 2) d.flip = (int)((rng_draw(seed, RNG_FLIP, 0, image, 0).v[0] ^ epoch) & 1u);
    if (pad > 0) {
        struct rng4 r = rng_draw(seed, RNG_CROP, epoch, image, 0);
        d.dy = (int)rng_below(r.v[0], (uint32_t)(2 * pad + 1)) - pad;
        d.dx = (int)rng_below(r.v[1], (uint32_t)(2 * pad + 1)) - pad;
    }
    if (brightness > 0.0f || contrast > 0.0f) {
        struct rng4 r = rng_draw(seed, RNG_JITTER, epoch, image, 0);
        d.shift = brightness * (2.0f * rng_unit(r.v[0]) - 1.0f);
        d.gain = 1.0f + contrast * (2.0f * rng_unit(r.v[1]) - 1.0f);
    }
    return d;
}

// Dropout: one draw serves eight elements, with a piece of 16 bits each. An element is kept if its piece is not below this.
enum { DROPOUT_DRAW = 8 };
DAWN_BOTH uint32_t element_least(float p)
{
    uint32_t least = (uint32_t)(p * 65536.0f + 0.5f);
    return least > 65535u ? 65535u : least;
}
// By which a kept element is multiplied: 1 / (1 - p) of the rounded p.
DAWN_BOTH float element_factor(float p) { return 65536.0f / (65536.0f - (float)element_least(p)); }
DAWN_BOTH struct rng4 element_dropout_draw(const int32_t key[4], uint32_t step, uint32_t site, uint64_t draw)
{
    uint64_t seed = (uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32;
    return rng_philox(seed, (uint32_t)draw, (uint32_t)(draw >> 32), RNG_DROPOUT | site << 8, step);
}
// True if the dropout `site` keeps element `i` at this step.
DAWN_BOTH int element_keeps(const int32_t key[4], uint32_t step, uint32_t site, uint64_t i, float p)
{
    struct rng4 r = element_dropout_draw(key, step, site, i / DROPOUT_DRAW);
    // Not an index: on a GPU it puts the draw into memory.
    uint32_t low = i & 2u ? r.v[1] : r.v[0], high = i & 2u ? r.v[3] : r.v[2];
    return ((i & 4u ? high : low) >> (16 * (i & 1u)) & 0xffffu) >= element_least(p);
}

// Cosine and sine of x, |x| <= pi / 4, and `quarter` quarters of a turn: absolute error below 1e-7 (Cephes' polynomials).
DAWN_BOTH void element_turn(float x, int quarter, float *cosine, float *sine)
{
    float z = x * x;
    float s = x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
    float c = 1.0f - 0.5f * z + z * z * (4.1666645683e-2f + z * (-1.3887316255e-3f + z * 2.4433157118e-5f));
    int odd = quarter & 1;
    float a = odd ? s : c, b = odd ? c : s;
    *cosine = (quarter + 1) & 2 ? -a : a;
    *sine = quarter & 2 ? -b : b;
}

// Cosine and sine of the angle at a position, of `turn` from rotary_turns (graph.h): absolute error below 1.5e-7.
DAWN_BOTH void element_rotary(uint64_t turn, int64_t position, float *cosine, float *sine)
{
    uint32_t phase = (uint32_t)(turn * (uint64_t)position >> 32) + 0x20000000u;  // to the nearest quarter
    float x = (float)((int32_t)(phase & 0x3fffffffu) - 0x20000000) * 1.46291808e-9f;  // 2 pi / 2^32
    element_turn(x, (int)(phase >> 30), cosine, sine);
}

// Two normal numbers of 24 bits each (Box-Muller): radius[0, 5.8) times cosine and sine, absolute error below 1e-6.
DAWN_BOTH void element_normals(uint32_t u, uint32_t v, float *first, float *second)
{
    float radius = sqrtf(-2.0f * element_log((float)((u >> 8) + 1u) * 0x1p-24f));
    float t = 4.0f * rng_unit(v), n = (t + 12582912.0f) - 12582912.0f, c, s;
    element_turn((t - n) * 1.57079633f, (int)n, &c, &s);
    *first = radius * c, *second = radius * s;
}
// Elements i .. i + 3 of OP_RANDOM at this step; i is a multiple of four.
DAWN_BOTH struct rng4 element_random_draw(const int32_t key[4], uint32_t step, uint32_t site, uint64_t i)
{
    uint64_t seed = (uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32;
    return rng_philox(seed, (uint32_t)(i >> 2), (uint32_t)(i >> 34), RNG_RANDOM | site << 8, step);
}

// Dropout of the probabilities of attention. `row` numbers (sample, head, query). One draw serves eight keys that are 16 apart,
// so that 16 adjacent keys are the lanes of a vector: key 128 b + 16 j + i is piece j of draw 16 b + i.
enum { ATTENTION_LANES = 16, ATTENTION_DRAW = 8 };  // keys in a vector; keys served by one draw

DAWN_BOTH struct rng4 element_attention_draw(const int32_t key[4], uint32_t step, uint32_t site, uint32_t row, uint32_t draw)
{
    return element_dropout_draw(key, step, site, (uint64_t)draw << 32 | row);
}
DAWN_BOTH uint32_t element_attention_piece(struct rng4 r, int piece)  // 16 bits
{
    return r.v[piece >> 1] >> (16 * (piece & 1)) & 0xffffu;
}
