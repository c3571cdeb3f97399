// SPDX-License-Identifier: Apache-2.0
// A vocabulary of pieces for an encoder that is trained from the beginning: the words of the training texts, the most frequent
// first, after the special pieces and all single letters and digits, so that every other word can be spelled.
#ifndef DAWN_SQUAD_LEXICON_H
#define DAWN_SQUAD_LEXICON_H

#include "data/read/squad/squad.h"
#include "runtime/base/text.h"

// Appends lines as vocab.txt has them, `most` of them if there are so many words. Words are runs of ASCII letters and
// digits, lowered; others are spelled or unknown. NULL: no texts, so numbers stand for words.
void lexicon_make(const struct squad *, int64_t most, struct text *);

#endif
