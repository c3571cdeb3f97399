// SPDX-License-Identifier: Apache-2.0
// Transcripts as labels: 0 is the blank of CTC, then ' and A to Z and the space, as in deepspeech.pytorch.
#pragma once

#include "runtime/common/base/error.h"

enum { LETTERS = 29, LETTERS_BLANK = 0, LETTERS_SPACE = 28 };

char letters_char(int label);  // "_'A..Z "; the blank is '_'
int letters_label(char);       // -1: it is none; small letters count as capitals, '_' is none
// A label for each byte, words parted by one space. Fails on a character outside of the alphabet and on an empty text, with
// `name` at the beginning. `into` holds n labels.
int letters_encode(const char *name, const char *text, size_t n, int32_t *into, int64_t *count) MUST_CHECK;
// Joins labels of frames as CTC does: repeats count once, blanks part them. Writes at most n + 1 characters, without spaces at
// the ends and two in a row, and a NUL. Returns the length.
int64_t letters_join(const int32_t *labels, int64_t n, char *into);
