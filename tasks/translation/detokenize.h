// SPDX-License-Identifier: Apache-2.0
// The detokenizer of Moses for German and English, as sacremoses has it: blanks before marks and inside quotes go, escapes become
// characters. Other white space counts as a blank.
#ifndef DAWN_TRANSLATION_DETOKENIZE_H
#define DAWN_TRANSLATION_DETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

struct text;
// Adds the detokenized line. `english` also joins what follows an apostrophe, and an apostrophe behind an "s". MLPerf's GNMT runs
// the script without a language, which means English.
void detokenize(const char *line, size_t n, bool english, struct text *into);

#endif
