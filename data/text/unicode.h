// SPDX-License-Identifier: Apache-2.0
// Code points of UTF-8, and the Unicode classes for tokenizers (from utf8proc's tables).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNICODE_REPLACEMENT = 0xFFFD, UNICODE_BYTES = 4 };  // UNICODE_BYTES: the longest code point

// The code point at *at, which is below n; advances *at. A byte that does not begin a code point is U+FFFD with length one,
// so any bytes can be read and positions stay exact.
int32_t unicode_next(const char *text, size_t n, size_t *at);
size_t unicode_valid(const char *text, size_t n);  // the number of bytes before the first one that is not UTF-8; n if all are
int unicode_put(int32_t code, char into[UNICODE_BYTES]);  // returns the number of bytes

bool unicode_is_space(int32_t code);        // the property White_Space
bool unicode_is_word(int32_t code);         // letters, marks and numbers: L, M, N
bool unicode_is_digit(int32_t code);        // decimal digits: Nd
bool unicode_is_number(int32_t code);       // N
bool unicode_is_punctuation(int32_t code);  // P
bool unicode_is_symbol(int32_t code);       // S
bool unicode_is_currency(int32_t code);     // Sc
bool unicode_is_mark(int32_t code);         // nonspacing marks: Mn
bool unicode_is_letter_or_number(int32_t code);  // L, N
bool unicode_is_cased(int32_t code);            // upper, lower or title case, if not ignorable
bool unicode_is_case_ignorable(int32_t code);   // the property Case_Ignorable
int32_t unicode_lower(int32_t code);            // of a single character, without context
bool unicode_is_other(int32_t code);        // control, format, private use: Cc, Cf, Co
