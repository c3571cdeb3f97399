// SPDX-License-Identifier: Apache-2.0
// What a model of words is told of each word of a context besides its vector: how it matches the question, how often it comes,
// what it looks like. Pure functions of the two texts.
//
// Cost: about 0.1 ms a sample of 150 words. The features are made anew whenever a sample is fed.
#ifndef DAWN_SQUAD_FEATURES_H
#define DAWN_SQUAD_FEATURES_H

#include "data/text/wordpiece.h"

enum {
    FEATURE_SAME,         // the word stands in the question (exact match of Chen et al. 2017)
    FEATURE_LOWER,        // it does in lower case
    FEATURE_STEM,         // a word of the question begins as it does: for the match of lemmas, which needs a dictionary
    FEATURE_FREQUENCY,    // its share of the words, in lower case
    FEATURE_CAPITAL,      // it begins with a capital
    FEATURE_CAPITALS,     // it has two letters or more, and all are capitals
    FEATURE_DIGIT,        // it has a digit
    FEATURE_PUNCTUATION,  // it has neither letters nor numbers
    FEATURES
};
// A stem is what two words have in common if that is at least four bytes long, and all but three of each.
enum { FEATURES_STEM = 4, FEATURES_ENDING = 3 };

// Words [first, first + count) of the context, and the first `asked` words of the question; into[count][FEATURES].
void features_make(const char *context, const struct pieces *, int64_t first, int64_t count, const char *question,
                   const struct pieces *, int64_t asked, float *into);

#endif
