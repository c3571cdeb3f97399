// SPDX-License-Identifier: Apache-2.0
// What programs are told of an entry: one list, in one order, for the API, for CSV and for the command line's JSON. A
// column more in it is one more in all of them (and in docs/api/openapi.json, which a test holds to it).
#ifndef DAWN_SCOREBOARD_COLUMN_H
#define DAWN_SCOREBOARD_COLUMN_H

#include <jansson.h>

#include "scoreboard/rank/board.h"

int column_count(void);
const char *column_name(int column);
// An integer, a real in full precision, a text, or null for what is not known; the reference passes to the caller.
json_t *column_value(int column, const struct entry *);

#endif
