// SPDX-License-Identifier: Apache-2.0
// A table of a report, made once and written as HTML, Markdown or CSV. Cells may hold foreign text: each form escapes them.
#ifndef DAWN_REPORT_SHEET_H
#define DAWN_REPORT_SHEET_H

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

void sheet_html(const struct sheet *, struct text *into);
void sheet_markdown(const struct sheet *, struct text *into);
void sheet_csv(const struct sheet *, struct text *into);

#endif
