// SPDX-License-Identifier: Apache-2.0
// The words of a run: the words of the training texts that have a row in the table of vectors. Rows are ordered by the
// frequency of the words, and words of equal frequency by their bytes, so the same texts give the same rows.
//
// If rows are learned, a word that occurs once has none and trains the row of unknown words. If a file gives the vectors,
// each word with a vector in the file has a row.
#pragma once

#include "runtime/common/base/hash.h"
#include "tasks/squad/text/texts.h"

enum { WORDLIST_PADDING, WORDLIST_UNKNOWN, WORDLIST_FIRST };  // rows

struct wordlist {
    struct vocabulary *words;  // words of the training texts
    int32_t *row;              // of each word
    int32_t rows;
    struct vectors *vectors;   // vectors of `words`; NULL: rows are learned
    char digest[DIGEST_HEX];   // digest of the words with rows, in their order
};

// Makes the list from the training texts, whose pieces are words; NULL: noise. `vectors` is a file of vectors
// (data/text/vectors.h). Without the file there are exactly `rows` rows, however many words the texts have, so that a model
// has one size.
int wordlist_open(const struct texts *train, int64_t rows, const char *vectors, int64_t dimension, struct wordlist **) MUST_CHECK;
void wordlist_free(struct wordlist *);  // NULL is fine
int32_t wordlist_row(const struct wordlist *, const char *word, size_t n);
// Fills in rows * width numbers: the vectors of the file, each followed by zeros. Padding and the unknown word get zeros.
void wordlist_vectors(const struct wordlist *, int64_t width, float *into);
