// SPDX-License-Identifier: Apache-2.0
// Attention in bf16 on processors that multiply pairs of bf16 (AVX-512 BF16): products of blocks that lie in the cache, and the
// passes over rows of scores between them, which write the pairs that the next product reads. Single-threaded.
#ifndef DAWN_CPU_PAIRS_H
#define DAWN_CPU_PAIRS_H

#include "runtime/cpu/loops/loops.h"

bool pairs_fit(void);  // this processor has the instructions
void pairs_product(const struct product *);
// p = e^(scale s - top), masked, zeros from n to room; *lse = log of the sum, and p is multiplied by *weight after all.
void pairs_attend(const float *s, int64_t n, int64_t room, float scale, const struct attention_mask *, uint32_t row, uint16_t *p,
                  float *lse, float *weight);
// Two rows of queries. From scores s and gradients dp of the probabilities: the masked probabilities side by side, and the
// gradients of the unscaled scores, side by side and as rows.
struct pairs_rows {
    const float *s[2], *dp[2];
    uint32_t *s_pairs, *dp_pairs;
    uint16_t *ds[2];
    float lse[2], delta[2];
};
void pairs_attend_back(const struct pairs_rows *, int64_t n, int64_t room, float scale, const struct attention_mask *,
                       uint32_t row);

#endif
