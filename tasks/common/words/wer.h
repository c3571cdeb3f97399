// SPDX-License-Identifier: Apache-2.0
// Word and character error rates, equal to jiwer 4.0's, with its counts: the least number of substitutions, insertions and
// deletions that turn the reference into the hypothesis, summed over utterances, per word or character of the references.
#pragma once

#include "runtime/common/base/error.h"

struct wer {  // counts; zeroed at the start
    int64_t hits, substitutions, insertions, deletions;
};
struct wer_line {
    const char *at;  // UTF-8
    size_t bytes;
};
void wer_words(struct wer *, struct wer_line reference, struct wer_line hypothesis);
// Counts characters. `spaces`: blanks count, too; Deep Speech leaves them out.
void wer_characters(struct wer *, struct wer_line reference, struct wer_line hypothesis, bool spaces);
int64_t wer_errors(const struct wer *);
int64_t wer_reference(const struct wer *);  // words or characters of the references
double wer_rate(const struct wer *);        // errors per word of the references; of no words: the errors themselves
