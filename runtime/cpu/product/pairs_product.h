// SPDX-License-Identifier: Apache-2.0
// Attention in bf16 on processors that multiply pairs of bf16 (AVX-512 BF16): products of blocks that fit in the cache, packing
// for them, and the passes over the scores of two queries between them, which write the pairs that the next product reads.
// Single-threaded.
#pragma once

#include "runtime/cpu/loops/loops.h"
#include "runtime/element.h"

bool pairs_fit(void);  // this processor has the instructions

enum { PAIRS_TILE = 4 };  // rows of a product are a multiple of this
void pairs_product(const struct product *);

// ---- packing. n rows of d numbers in bf16, `pitch` numbers apart; a unit is two of them.
struct pairs_matrix {
    uint16_t *at;
    int64_t pitch, n, d;
};
// to[row][units]: an odd last row has a row of zeros behind it.
void pairs_pack_rows(const struct pairs_matrix *, int64_t units, uint32_t *to);
// to[unit][padded]: rows become columns, with zeros up to a multiple of PRODUCT_LANES.
void pairs_pack_words(const struct pairs_matrix *, int64_t padded, uint32_t *to);
// to[row / 2][wide]: two rows side by side, with zeros up to `wide`, a multiple of PRODUCT_LANES.
void pairs_pack_pairs(const struct pairs_matrix *, int64_t wide, uint32_t *to);
// Writes rows of x[n][wide]; row i is multiplied by weight[i * step].
void pairs_narrow(const struct pairs_matrix *to, const float *x, int64_t wide, const float *weight, int64_t step);
void pairs_dots(const struct pairs_matrix *a, const struct pairs_matrix *b, float *sum);  // sum[i] = a[i] b[i]

// ---- scores of some queries; `row` is the first one's row of the mask
struct pairs_scores {
    const uint32_t *q, *k_words;   // packed as rows [queries][units] and as words [units][padded]
    const uint32_t *dy, *v_words;  // the same of the gradient of the result and of the values; backward alone
    int64_t units, padded;
    float scale;
    const struct attention_mask *mask;
    uint32_t row;
    bool causal;   // the first query sees `seen` keys, which may be below 1, and each further one one more
    int64_t seen;
    bool tiles;    // multiply by tiles (tiles.h)
};
// p[queries][padded] = e^(scale q k' - top), masked; n keys are padded with zeros to whole vectors. The caller multiplies row i
// by weight[i]. lse: logarithms of the sums. A query that sees no key has lse 0 and weight 0. s: scratch,
// [PAIRS_QUERIES][padded]. An odd last query is paired with a query of zeros.
enum { PAIRS_QUERIES = 8 };
void pairs_attend(const struct pairs_scores *, int64_t queries, int64_t n, float *s, uint16_t *p, float *lse, float *weight);

// The gradients of an even number of queries, at most PAIRS_QUERIES, for n keys from `first` on, a multiple of PAIRS_KEYS. Rows
// of results are PAIRS_ROW apart.
enum { PAIRS_KEYS = ATTENTION_LANES * ATTENTION_DRAW, PAIRS_ROW = PAIRS_KEYS + ATTENTION_LANES };
struct pairs_gradients {
    const float *lse, *delta;
    uint32_t *p_pairs;   // the kept probabilities of two queries side by side, not multiplied by the mask's factor
    uint32_t *ds_pairs;  // gradients of the unscaled scores, side by side
    uint16_t *ds;        // and as rows
};
void pairs_attend_back(const struct pairs_scores *, int64_t queries, int64_t first, int64_t n, const struct pairs_gradients *);
