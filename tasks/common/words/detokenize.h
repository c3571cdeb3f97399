// SPDX-License-Identifier: Apache-2.0
// The detokenizer of Moses for English, as sacremoses has it: blanks before marks and inside quotes go, escapes become
// characters. Other white space counts as a blank. MLPerf's GNMT runs the script without a language, which means English. The
// script's rule for Chinese, Japanese and Korean is not here: no task translates into them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text;
// Adds the detokenized line.
void detokenize(const char *line, size_t n, struct text *into);
// Adds a line as people type it in the tokenizer's form: marks apart, escapes for characters.
void detokenize_reverse(const char *line, size_t n, bool lowercase, struct text *into);
