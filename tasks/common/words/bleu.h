// SPDX-License-Identifier: Apache-2.0
// BLEU of a corpus with one reference per line, equal to sacrebleu's: clipped matches of 1 to 4 words, summed over all lines, the
// brevity penalty, and exponential smoothing of orders without a match.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a line becomes words, which white space ends. BLEU_13A: mteval-v13a, for European languages. BLEU_INTL: mteval-v14,
// international. BLEU_T2T: Tensor2Tensor's form of it, which MLPerf's Transformer was scored with: only decimal digits keep their
// marks, and a blank at the end of a line counts.
enum bleu_words { BLEU_NONE, BLEU_13A, BLEU_INTL, BLEU_T2T };
enum { BLEU_ORDERS = 4 };

struct bleu_rules {
    enum bleu_words words;
    bool lowercase;
};
struct bleu_line {
    const char *at;
    size_t bytes;
};
struct bleu {  // counts of a corpus; zeroed at the start
    int64_t matched[BLEU_ORDERS], found[BLEU_ORDERS];  // per order, of the hypotheses' runs of words
    int64_t hypothesis, reference;                     // words
};
void bleu_add(struct bleu *, const struct bleu_rules *, struct bleu_line reference, struct bleu_line hypothesis);

struct bleu_score {
    double score;                   // 0 to 100
    double precision[BLEU_ORDERS];  // in percent, smoothed
    double brevity;                 // the penalty: 1 or less
};
struct bleu_score bleu_score(const struct bleu *);

// The words of a line as code points in `code`, each followed by a blank. free() ends it. For bleu.c and tests.
int32_t *bleu_split(const struct bleu_rules *, struct bleu_line, size_t *count);
