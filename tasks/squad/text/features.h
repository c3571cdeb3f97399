// SPDX-License-Identifier: Apache-2.0
// Features of a word of a context besides its vector: its match with the question, its frequency, its form. Pure functions
// of the two texts.
//
// Cost: about 0.1 ms per sample of 150 words. Features are computed whenever a sample is fed.
#pragma once

#include "data/text/wordpiece.h"

enum {
    FEATURE_SAME,         // the question has the word (exact match of Chen et al. 2017)
    FEATURE_LOWER,        // the question has the word in lower case
    FEATURE_STEM,         // a word of the question has the same stem; replaces the match of lemmas, which needs a dictionary
    FEATURE_FREQUENCY,    // its share of the words, in lower case
    FEATURE_CAPITAL,      // begins with a capital
    FEATURE_CAPITALS,     // has two letters or more, all of them capitals
    FEATURE_DIGIT,        // has a digit
    FEATURE_PUNCTUATION,  // has neither letters nor numbers
    FEATURES
};
// Two words have the same stem if their common prefix has at least four bytes and all but three bytes of each word.
enum { FEATURES_STEM = 4, FEATURES_ENDING = 3 };

// The words [first, first + count) of a text.
struct features_words {
    const char *text;
    const struct pieces *all;
    int64_t first, count;
};
// Writes into[count][FEATURES] for these words of a context.
void features_make(const struct features_words *context, const struct features_words *question, float *into);
