// SPDX-License-Identifier: Apache-2.0
// Samples of BERT's pre-training, as create_pretraining_data.py of its authors makes them: two texts of whole sentences, and
// positions to mask. Every epoch draws new ones. A draw depends only on the seed, the split, the epoch and the number of the
// article or sample.
//
// Sentences of an article are collected in order until they fill a sample (in one of ten samples: until they fill a shorter,
// drawn length). The first text is a drawn number of these sentences. The second text is the rest of them; in half of the
// samples, and if there is only one sentence, it is from another article, and the rest is used for the next sample. If both
// texts together are too long, the longer one loses pieces at its beginning or end.
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
