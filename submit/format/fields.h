// SPDX-License-Identifier: Apache-2.0
// One table of the members of all statements: name, kind, bounds, presence, meaning. The parser checks against it, and a test
// compares docs/statements.md with it.
#pragma once

#include "submit/format/statement.h"

enum field_kind {
    FIELD_INT,     // low to high
    FIELD_YES,     // 0 or 1
    FIELD_WORD,    // low to high characters out of a-z A-Z 0-9 . _ + - (a handle, a task, a precision)
    FIELD_WORDS,   // text for people, low to high bytes (canonical_check_words)
    FIELD_URL,     // empty, or an address of at most `high` bytes (canonical_check_url)
    FIELD_HANDLE,  // a word that begins with a letter or digit: it becomes part of an address
    FIELD_TEXT,    // as FIELD_WORDS, but may begin and end with blanks (canonical_check_text): recipes, flags
    FIELD_HEX,     // exactly `low` lower-case hexadecimal digits
    FIELD_DATE,    // YYYY-MM-DD, a day that exists
    FIELD_ONE_OF,  // `words`, separated by |
    FIELD_OBJECT,  // `members`
    FIELD_LIST,    // low to high objects of `members`
    FIELD_TAGS,    // low to high different words of at most 32 characters
};
enum { BENCH_SETTINGS = 256, BENCH_SCALING = 16 };  // rows of a statement of type bench
enum { FIELD_OPTIONAL = 1 };
struct field {
    const char *name;
    enum field_kind kind;
    int64_t low, high;
    unsigned presence;            // 0 or FIELD_OPTIONAL
    const char *words;
    const struct field *members;  // ends with name NULL
    const char *what;
};
extern const struct field *const statement_fields[STATEMENT_TYPES];
extern const struct field receipt_fields[];

// ERR_INPUT names the member ("points[3].k"). `what` begins the sentence: "the payload".
int fields_check(const char *what, const struct field *, const json_t *) MUST_CHECK;
// The same for one member that a person typed, before a statement exists: ERR_USAGE, and `what` names it: "the note". For tags it
// is one of them.
int fields_check_typed(const char *what, const struct field *, const char *name, const char *text) MUST_CHECK;
