// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of attention: lengths, which keys a query sees, the dropout of the probabilities.
#pragma once

#include "runtime/cuda/kernels/k_attention.h"
#include "runtime/cuda/kernels/k_common.cuh"

// Tokens of a sample below its lengths.
struct valid {
    int queries, keys;
};

__device__ static inline int tokens_of(const int32_t *length, int b, int most)
{
    const int n = length ? length[b] : most;
    return n < 0 ? 0 : n > most ? most : n;
}

__device__ static inline valid valid_of(const struct k_attention &k, int b)
{
    return {tokens_of(k.q_length, b, k.tokens), tokens_of(k.length, b, k.keys)};
}

// How many keys query t sees; the first query that sees key t.
__device__ static inline int seen_by(const struct k_attention &k, const valid &n, int t)
{
    if (t >= n.queries) return 0;
    const int seen = t + 1 + n.keys - n.queries;
    return !k.causal || seen > n.keys ? n.keys : seen < 0 ? 0 : seen;
}
__device__ static inline int first_to_see(const struct k_attention &k, const valid &n, int key)
{
    const int first = key - (n.keys - n.queries);
    return k.causal && first > 0 ? first : 0;
}

// The draw that serves `key`, and with it the keys that lie 16, 32, .. further on or back within 128.
__device__ static inline rng4 draw_of(const struct k_attention &k, int64_t query, int key)
{
    enum { SPAN = ATTENTION_LANES * ATTENTION_DRAW };
    uint32_t draw = (uint32_t)(key / SPAN * ATTENTION_LANES + key % ATTENTION_LANES);
    return element_attention_draw(k.key, (uint32_t)*k.step, k.site, (uint32_t)query, draw);
}

// The dropout factor of the probability of `key`, by its draw: 0 or 1 / (1 - rate).
__device__ static inline float factor_of(const struct k_attention &k, const rng4 &r, int key)
{
    int piece = key / ATTENTION_LANES % ATTENTION_DRAW;
    uint32_t word = piece < 4 ? (piece < 2 ? r.v[0] : r.v[1]) : piece < 6 ? r.v[2] : r.v[3];
    return (word >> (16 * (piece & 1)) & 0xffffu) >= element_least(k.p) ? element_factor(k.p) : 0.0f;
}

__device__ static inline float mask_of(const struct k_attention &k, int64_t query, int key)
{
    return k.key ? factor_of(k, draw_of(k, query, key), key) : 1.0f;
}
