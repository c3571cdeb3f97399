// SPDX-License-Identifier: Apache-2.0
// Division of sizes, rounded up, and of indices by a number known when a graph is compiled: one wide multiplication and a shift
// instead of the twenty instructions of a division (Granlund and Montgomery, 1994), exact for every index below 2^31.
#pragma once

#include "runtime/common/base/rng.h"

DAWN_BOTH int64_t k_divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }  // for sizes; a is not negative

struct k_divide {
    uint32_t by, factor;
    int shift;
};

static inline struct k_divide k_divide_by(int64_t by)  // 1 .. 2^31 - 1
{
    int bits = 0;
    while (bits < 31 && (int64_t)1 << bits < by) bits++;
    uint64_t power = (uint64_t)1 << (31 + bits), d = (uint64_t)by;
    struct k_divide result = {(uint32_t)by, (uint32_t)((power + d - 1) / d), 31 + bits};
    return result;
}

DAWN_BOTH uint32_t k_divided(struct k_divide d, uint32_t index) { return (uint32_t)((uint64_t)index * d.factor >> d.shift); }

// Replaces *index by the quotient; returns the remainder.
DAWN_BOTH uint32_t k_split(struct k_divide d, uint32_t *index)
{
    uint32_t whole = k_divided(d, *index), rest = *index - whole * d.by;
    *index = whole;
    return rest;
}

// The same for larger sizes: an index or a divisor from 2^31 on uses a real division.
struct k_divide_any {
    int64_t by;
    struct k_divide quick;
};

static inline struct k_divide_any k_divide_any_by(int64_t by)  // 1 or more
{
    struct k_divide_any result = {by, k_divide_by(by >> 31 ? 1 : by)};
    return result;
}

DAWN_BOTH int64_t k_split_any(const struct k_divide_any *d, int64_t *index)
{
    if ((*index | d->by) >> 31) {
        int64_t whole = *index / d->by, rest = *index - whole * d->by;
        *index = whole;
        return rest;
    }
    uint32_t quotient = (uint32_t)*index, rest = k_split(d->quick, &quotient);
    *index = quotient;
    return rest;
}
