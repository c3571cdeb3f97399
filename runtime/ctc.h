// SPDX-License-Identifier: Apache-2.0
// The numbers of CTC on the CPU and the GPU. Probabilities of alignments leave the range of every float, and their logarithms in
// f32 would lose the digits that a gradient needs. So a number is m 2^e with a float and an integer: products and sums round as
// floats do, and no exponential is needed per state.
//
// The states of a sample with labels l are blank, l[0], blank, l[1], .., blank. `before` of a state at a frame sums the
// alignments of the frames before it; `with` includes the frame. Backward the same sums run over states and frames in reverse.
#pragma once

#include "runtime/element.h"

#include <string.h>

enum { CTC_ZERO = -(1 << 29), CTC_LEAST = -10000 };  // exponent of 0; a smaller logarithm of a probability counts as 0's

struct ctc_number {
    float m;    // [1, 2), or 0; of a sum of them [1, 6)
    int32_t e;
};

DAWN_BOTH float ctc_power(int32_t e)  // 2^e for e < 128
{
    uint32_t bits;
    float x;
    e = e < -127 ? -127 : e;
    bits = (uint32_t)(e + 127) << 23;  // 0 for -127
    memcpy(&x, &bits, 4);
    return x;
}

// x 2^e as a number; x is not negative.
DAWN_BOTH struct ctc_number ctc_of(float x, int32_t e)
{
    uint32_t bits;
    struct ctc_number n;
    memcpy(&bits, &x, 4);
    n.e = e + (int32_t)(bits >> 23) - 127;
    bits = (bits & 0x7fffffu) | 0x3f800000u;
    memcpy(&n.m, &bits, 4);
    n.m = x < 1.17549435e-38f ? 0.0f : n.m;
    n.e = x < 1.17549435e-38f ? CTC_ZERO : n.e;
    return n;
}

// The sum of a state, the state before it, and the state before that, if `skip` allows it.
DAWN_BOTH struct ctc_number ctc_add(const float *m, const int32_t *e, int32_t skip)
{
    int32_t far = e[-2], e2 = skip ? far : CTC_ZERO, most = e[0] > e[-1] ? e[0] : e[-1];
    struct ctc_number n;
    most = e2 > most ? e2 : most;
    n.m = m[0] * ctc_power(e[0] - most) + m[-1] * ctc_power(e[-1] - most) + (skip ? m[-2] : 0.0f) * ctc_power(e2 - most);
    n.e = most;
    return n;
}

// e^d for d <= 0, with m around 1.
DAWN_BOTH struct ctc_number ctc_exp(float d)
{
    float n = (d * 1.44269504f + 12582912.0f) - 12582912.0f, f = (d - n * 0.693359375f) + n * 2.12194440e-4f;
    struct ctc_number y;
    y.m = d < (float)CTC_LEAST ? 0.0f : element_exp_part(f);
    y.e = d >= (float)CTC_LEAST ? (int32_t)n : CTC_ZERO;
    return y;
}
