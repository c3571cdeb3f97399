// SPDX-License-Identifier: Apache-2.0
// Samples of a model of words: the question, and apart from it a context or a window of a long context. A view of a data set
// that squad_of knows. Its fields are "tokens" and "question" (i32, ragged: rows of words), "features" (f32[T,FEATURES],
// ragged), "start" and "end" (i32: places of the answer's first and last word). Training has only samples that hold their
// answer.
//
// Words follow data/text/words.h. Cost: texts are cut once (texts.h); features are made when a sample is fed.
#pragma once

#include "tasks/squad/sample/reader.h"
#include "tasks/squad/text/wordlist.h"

extern const struct reader passages_reader;

const struct wordlist *passages_words(const struct dataset *view);
