// SPDX-License-Identifier: Apache-2.0
// The numbers of a drawn sample, one after the other: they depend on seed, split and sample alone (rng.h).
#pragma once

#include "runtime/common/base/rng.h"

struct draws {
    uint64_t seed;
    uint32_t split, sample, block;
    int used;
    struct rng4 four;
};
#define DRAWS(seed, split, sample) ((struct draws){seed, (uint32_t)(split), (uint32_t)(sample), 0, 4, {{0}}})

static inline uint32_t draws_bits(struct draws *d)
{
    if (d->used == 4) {
        d->four = rng_draw(d->seed, RNG_SYNTHETIC, d->split, d->sample, d->block++);
        d->used = 0;
    }
    return d->four.v[d->used++];
}

static inline int draws_below(struct draws *d, int n)
{
    return (int)rng_below(draws_bits(d), (uint32_t)n);
}
