// SPDX-License-Identifier: Apache-2.0
// Published word vectors (GloVe, or word2vec's text form) for the words of a vocabulary.
//
// A line is a word and `dimension` numbers. Some words hold blanks, so the numbers are counted from the right. A word that
// the file lacks takes the vector of its lower case, else of its lower case without hyphens. Cost: one pass over the file at
// the speed of the disk; only the numbers of requested words are parsed. The vectors found are packed into the user's cache
// folder. The next run with the same file and words reads the pack.
#pragma once

#include "data/text/vocabulary.h"

enum { VECTORS_DIMENSION = 4096, VECTORS_LINE = 1 << 20 };  // upper bounds
enum vectors_found { VECTORS_NONE, VECTORS_CASED, VECTORS_LOWER, VECTORS_STRIPPED };

struct vectors {
    int64_t words, dimension;
    float *row;         // [words, dimension]; zeros for a word without a vector
    uint8_t *found;     // enum vectors_found of each word
    int64_t lines;      // of the file
    bool remembered;    // read from the cache
};

// The words of the vocabulary must hold no blanks. Refuses a file of another dimension and a line that is not a vector.
int vectors_open(const char *path, const struct vocabulary *, int64_t dimension, struct vectors *) MUST_CHECK;
// Parses bytes in memory; pure.
int vectors_parse(const char *name, const char *bytes, size_t count, const struct vocabulary *, int64_t dimension,
                  struct vectors *) MUST_CHECK;
void vectors_free(struct vectors *);  // {0} is fine
