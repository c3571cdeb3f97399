// SPDX-License-Identifier: Apache-2.0
// Rows of a board as text: a table for people, or TSV, CSV and JSON for programs; and the members of an entry.
#pragma once

#include <jansson.h>

#include "scoreboard/rank/board.h"

// The columns of TSV and CSV: rank author model hardware framework date value unit source. No cell of TSV holds a tab or a
// line end. `format`: "table" (at most `width` columns), "tsv", "csv" or "json".
void table_write(const char *format, const struct filter *, const struct entries *, int width, struct text *into);

// ---- table_column.c: one list of members, in one order, for the API, its OpenAPI document, CSV and the command line's JSON
struct table_column {
    const char *name, *type;   // of JSON schema: "string", "integer" or "number"
    bool nullable;             // null: not known
    const char *what;          // "": the name is enough
};
// The shortest decimal that reads back as the same number.
enum { TABLE_NUMBER = 32 };
char *table_number(double value, char into[TABLE_NUMBER]);
int table_columns(void);
const struct table_column *table_column(int column);
// An integer, a real in full precision, a text, or null; the reference passes to the caller.
json_t *table_value(int column, const struct entry *);
// The same as a cell of CSV: empty for null.
void table_cell(int column, const struct entry *, struct text *csv);
