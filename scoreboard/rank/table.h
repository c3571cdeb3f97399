// SPDX-License-Identifier: Apache-2.0
// Rows of a board as text: a table for people, or TSV, CSV and JSON for programs.
#ifndef DAWN_SCOREBOARD_TABLE_H
#define DAWN_SCOREBOARD_TABLE_H

#include "scoreboard/rank/board.h"

// The columns of TSV and CSV: rank author model hardware framework date value unit source. No cell of TSV holds a tab or a
// line end. `format`: "table" (at most `width` columns), "tsv", "csv" or "json".
void table_write(const char *format, const struct filter *, const struct entries *, int width, struct text *into);

// The shortest decimal that is read back as the same number.
enum { TABLE_NUMBER = 32 };
char *table_number(double value, char into[TABLE_NUMBER]);

#endif
