// SPDX-License-Identifier: Apache-2.0
// Finds the answer of one window from its scores: the best pair of a beginning and an end, in order and not too long. Pure;
// costs some microseconds per window.
#pragma once

#include "tasks/squad/text/windows.h"

enum { DECODE_BEST = 20, DECODE_LONGEST = 30, DECODE_WORDS = 15 };
struct decoded {
    int64_t first, last;  // pieces of the context
    float score;          // score of the beginning plus score of the end
};
// start[T] and end[T] are the scores of the places of the sequence. An answer begins at a piece that the window owns, so
// that windows do not compete for it. False if there is no answer: the window owns no piece, or its scores are not numbers.
// Combines the best 20 beginnings and ends (run_squad.py); an answer has at most 30 pieces.
bool decode_window(const struct windows *, int64_t number, const float *start, const float *end, struct decoded *);
// The best of all pairs with at most 15 words (Chen et al. 2017).
bool decode_words(const struct windows *, int64_t number, const float *start, const float *end, struct decoded *);
