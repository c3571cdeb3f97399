// SPDX-License-Identifier: Apache-2.0
// Text helpers: a growing string, the nearest known name, and figures for people.
#pragma once

#include "runtime/common/base/error.h"

struct text {
    char *at;  // NUL-terminated; NULL while empty
    size_t length, capacity;
};
void text_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_bytes(struct text *, const void *bytes, size_t count);
void text_free(struct text *);
// Adds words, starting at column `column`, and breaks lines before TEXT_WIDTH; later lines start at `indent`.
// Line breaks in the words are kept, and so are blanks at the start of a line.
enum { TEXT_WIDTH = 80 };
void text_wrap(struct text *, const char *words, int column, int indent);
// "a, b and c": words in a row, the last one after `last` (" and ", " or ").
void text_list(struct text *, const char *const *words, int count, const char *last);
// A cell of CSV (RFC 4180): quoted if it has a comma, a quote or a line end; quotes inside are doubled. A text that a spreadsheet
// would take for a formula gets a ' before it.
void text_csv(struct text *, const char *cell);
// Bytes as part of one line that is safe on a terminal: control characters become blanks.
void text_plain(struct text *, const char *bytes, size_t n);
// A word of a command, quoted for a shell if necessary.
void text_quote(struct text *, const char *word);
// A line "  label      words", the words wrapped at column 13, as in the heads of reports.
void text_entry(struct text *, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

// The nearest of the NULL-terminated `names` by Damerau-Levenshtein distance, or NULL if none is near enough.
const char *text_nearest(const char *word, const char *const names[]);
// Refuses a word that is none of the NULL-terminated `names`: there is no WHAT "WORD"; did you mean "X"? If no name is near,
// lists the names if they are few. `hint` follows in parentheses, unless it is NULL.
int fail_unknown(int code, const char *what, const char *word, const char *const names[], const char *hint);

// The whole number above a value from 0 on. A value that is whole but for the last bits of a double stays, and -0 becomes 0.
// Times and money are rounded in this way, so that no page shows less than was measured.
double text_up(double value);

// Each writes into `into` and returns it. "1.50 GB", "2 h 03 min", "3.2 s", "340 ms", "12,345"
enum { TEXT_FIGURE = 32 };
char *text_size(char into[TEXT_FIGURE], double bytes);
char *text_span(char into[TEXT_FIGURE], double seconds);       // rounded up
char *text_count(char into[TEXT_FIGURE], int64_t n);
char *text_moment(char into[TEXT_FIGURE], int64_t unix_ms);     // "2026-12-01 12:00:00 UTC"
char *text_si(char into[TEXT_FIGURE], double value, const char *unit);  // "446 GFLOP/s"

// Strict readers: the whole word must be a number within the bounds.
int text_to_int(const char *word, int64_t low, int64_t high, int64_t *into) MUST_CHECK;
int text_to_double(const char *word, double low, double high, double *into) MUST_CHECK;
