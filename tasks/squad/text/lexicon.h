// SPDX-License-Identifier: Apache-2.0
// A vocabulary of pieces for an encoder without pretrained weights: the words of the training texts, the most frequent
// first, after the special pieces and all single letters and digits. So every other word can be spelled.
#pragma once

#include "data/read/squad/squad_kind.h"
#include "runtime/common/base/text.h"

// Appends up to `most` lines in the form of vocab.txt. Words are runs of ASCII letters and digits in lower case; other texts
// are spelled or unknown. NULL: there are no texts, so numbers stand for words.
void lexicon_make(const struct squad *, int64_t most, struct text *);
