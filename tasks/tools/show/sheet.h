// SPDX-License-Identifier: Apache-2.0
// Pages of headings, paragraphs and tables for people, made once and written as HTML or Markdown; tables also as CSV. All words
// may be foreign text: each form escapes them. An HTML page is one file without scripts, and links to nothing.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { SHEET_COLUMNS = 16 };
struct sheet {
    const char *title;  // borrowed
    struct arena arena;
    const char *column[SHEET_COLUMNS];
    bool figures[SHEET_COLUMNS];  // true: numbers, aligned right
    int columns;
    char **cell;  // row by row
    int cells;
};
// Columns are separated by '|', columns of figures marked by '#': "model|#batch".
void sheet_begin(struct sheet *, const char *title, const char *columns);
void sheet_add(struct sheet *, const char *format, ...) __attribute__((format(printf, 2, 3)));  // adds the next cell
int sheet_rows(const struct sheet *);
void sheet_free(struct sheet *);

enum sheet_form { SHEET_HTML, SHEET_MARKDOWN, SHEET_CSV };
void sheet_print(const struct sheet *, enum sheet_form, struct text *into);
void sheet_put(struct sheet *, enum sheet_form, struct text *into);  // writes it, if it has a row, and frees it

// The rest of a page: not for CSV.
void sheet_page(enum sheet_form, const char *title, struct text *into);
void sheet_heading(enum sheet_form, int level, const char *words, struct text *into);
void sheet_words(enum sheet_form, const char *words, struct text *into);
void sheet_page_end(enum sheet_form, struct text *into);
