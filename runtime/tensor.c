// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor.h"

#include <math.h>

// Both directions follow the format: exponent of 5 bits with bias 15, mantissa of 10 bits.
float f16_to_f32(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    float magnitude;
    if (exponent == 31)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent)
        magnitude = ldexpf((float)(mantissa + 1024), exponent - 25);
    else
        magnitude = ldexpf((float)mantissa, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

uint16_t f32_to_f16(float f)
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    float a = fabsf(f);
    if (isnan(f)) return sign | 0x7e00;
    if (a >= 65520.0f) return sign | 0x7c00;  // rounds to infinity
    int exponent;
    frexpf(a, &exponent);  // a = m * 2^exponent, m in [0.5, 1)
    if (exponent < -13) exponent = -13;
    // The spacing here is 2^(exponent - 11); nearbyintf rounds ties to even.
    int units = (int)nearbyintf(ldexpf(a, 11 - exponent));
    // Adding 1024 units carries into the exponent; subnormal numbers stay below 1024.
    int biased = exponent + 14;
    return sign | (uint16_t)(units < 1024 ? units : (biased << 10) + units - 1024);
}

double element_get(enum dtype t, const void *base, int64_t i)
{
    switch (t) {
    case F32: return ((const float *)base)[i];
    case BF16: return bf16_to_f32(((const uint16_t *)base)[i]);
    case F16: return f16_to_f32(((const uint16_t *)base)[i]);
    case U8: return ((const uint8_t *)base)[i];
    case I32: return ((const int32_t *)base)[i];
    case DTYPE_COUNT: break;
    }
    BUG("no such dtype");
}

static double saturate(double x, double low, double high)
{
    if (isnan(x)) return 0;
    x = nearbyint(x);
    return x < low ? low : x > high ? high : x;
}

void element_set(enum dtype t, void *base, int64_t i, double x)
{
    switch (t) {
    case F32: ((float *)base)[i] = (float)x; return;
    case BF16: ((uint16_t *)base)[i] = f32_to_bf16((float)x); return;
    case F16: ((uint16_t *)base)[i] = f32_to_f16((float)x); return;
    case U8: ((uint8_t *)base)[i] = (uint8_t)saturate(x, 0, 255); return;
    case I32: ((int32_t *)base)[i] = (int32_t)saturate(x, INT32_MIN, INT32_MAX); return;
    case DTYPE_COUNT: break;
    }
    BUG("no such dtype");
}
