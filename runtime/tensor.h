// SPDX-License-Identifier: Apache-2.0
// Reads and writes elements of every type as numbers. base/dtype.h has the types and shapes.
#pragma once

#include "runtime/common/base/dtype.h"

// 16-bit storage. Rounds to nearest even; a NaN stays a NaN. Branch-free, so that loops over them vectorise.
static inline float bf16_to_f32(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint16_t f32_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}

float f16_to_f32(uint16_t);
uint16_t f32_to_f16(float);

// One element of any type, as a number. Slow: for `ref`, tests and files.
double element_get(enum dtype, const void *base, int64_t index);
void element_set(enum dtype, void *base, int64_t index, double value);  // rounds and saturates to the type
