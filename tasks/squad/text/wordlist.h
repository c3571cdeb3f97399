// SPDX-License-Identifier: Apache-2.0
// The words of a run: which words of the training texts have a row in the table of vectors. Rows are numbered by how often
// the words come, equals by their bytes, so the same texts give the same rows.
//
// Where the rows are learned, a word that comes once has none: it trains the row of unknown words. Where a file gives the
// vectors, each word has a row that the file has a vector of.
#ifndef DAWN_SQUAD_WORDLIST_H
#define DAWN_SQUAD_WORDLIST_H

#include "runtime/base/hash.h"
#include "tasks/squad/text/texts.h"

enum { WORDLIST_PADDING, WORDLIST_UNKNOWN, WORDLIST_FIRST };  // rows

struct wordlist {
    struct vocabulary *words;  // of the training texts
    int32_t *row;              // of each word
    int32_t rows;
    struct vectors *vectors;   // of `words`; NULL: rows are learned
    char digest[DIGEST_HEX];   // of the words that have rows, in their order
};

// Of the training texts, whose pieces are words; NULL: noise. `vectors` is a file of vectors (data/text/vectors.h). Without it
// there are `rows` rows, whether the texts have so many words or not, so that a model has one size.
int wordlist_open(const struct texts *train, int64_t rows, const char *vectors, int64_t dimension, struct wordlist **) MUST_CHECK;
void wordlist_free(struct wordlist *);  // NULL is fine
int32_t wordlist_row(const struct wordlist *, const char *word, size_t n);
// rows * dimension numbers: the vectors of the file. Padding and the unknown word have zeros.
void wordlist_vectors(const struct wordlist *, float *into);

#endif
