// SPDX-License-Identifier: Apache-2.0
// Samples of BERT's pre-training, as create_pretraining_data.py of its authors makes them: two texts of whole sentences, and
// places to mask. New ones in every epoch: a draw depends on the seed, the split, the epoch and the number of the article or
// sample alone.
//
// An article is walked through: sentences are taken until they have as many pieces as a sample, once in ten times fewer. The
// first text is some of them from the first on. In half of the samples, and where there is one sentence only, the second text is
// from another article, and the sentences that were not used come again. What is too long loses pieces of its longer text, in
// front or behind.
#pragma once

#include "data/text/wordpiece.h"

enum { SENTENCE_PIECES = UINT16_MAX + 1, SENTENCE_SPECIAL = 3 };  // of the vocabulary; [CLS] and two [SEP] of a sample

struct sentence_text {  // of a split
    uint16_t *id;
    int64_t *sentence, *article;  // where each begins, in ids and in sentences; one more at the end
    int64_t ids, sentences, articles, id_capacity, sentence_capacity, article_capacity;
};
// Adds an article with one sentence per line. A sentence without pieces is left out, and so is an article without sentences.
void sentence_text_add(struct sentence_text *, const struct wordpiece *, const char *text, size_t n, struct pieces *spare);
void sentence_text_add_pieces(struct sentence_text *, const struct pieces *);  // an article of one sentence
void sentence_text_free(struct sentence_text *);

struct sentence_draws {
    uint64_t seed;
    uint32_t split;  // enum split
    uint32_t epoch;
};
struct sentence_pair {
    int64_t begin[2];   // in ids
    int16_t count[2];
    bool random;        // the second text is from another article
};
struct sentence_list {
    struct sentence_pair *pair;
    int64_t count, capacity;
};
// Adds the samples of a walk through all articles, in a drawn order. `walk` numbers the walks of one epoch.
void sentence_pairs_add(const struct sentence_text *, const struct sentence_draws *, uint32_t walk, int64_t length,
                        struct sentence_list *);
void sentence_pairs_shuffle(const struct sentence_draws *, struct sentence_list *);

struct sentence_masks {
    int64_t most;            // of a sample
    double share;            // of the pieces
    int32_t mask, symbols;
    int32_t *position, *label;  // ascending; capacity `most`
};
// Masks `share` of the pieces of sample `number`, id[count] with its special pieces at 0, middle and count - 1; one at least.
// Of ten masked ones eight become [MASK], one any piece, and one stays. Returns their number.
int64_t sentence_mask(const struct sentence_draws *, int64_t number, int32_t *id, const int64_t count[2],
                      const struct sentence_masks *);
