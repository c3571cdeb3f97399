// SPDX-License-Identifier: Apache-2.0
// A table of members and how each is said. Cost: a small allocation a cell.
#include "scoreboard/rank/column.h"

#include <math.h>
#include <stddef.h>

// KNOWN: negative is not known. ABOVE_0: neither is 0.
enum kind { TEXT, INTEGER, COUNT, REAL, KNOWN, TRUST_WORD, UNIT, ABOVE_0 };
static const struct {
    const char *name;
    enum kind kind;
    size_t at;
} columns[] = {
#define COLUMN(name, kind, member) {name, kind, offsetof(struct entry, member)}
    COLUMN("rank", INTEGER, rank), COLUMN("value", REAL, value), COLUMN("unit", UNIT, board), COLUMN("low", REAL, low),
    COLUMN("high", REAL, high), COLUMN("cost", KNOWN, cost), COLUMN("accuracy", REAL, accuracy), COLUMN("p", KNOWN, p),
    COLUMN("runs", COUNT, runs), COLUMN("trust", TRUST_WORD, trust), COLUMN("accepted_ms", INTEGER, accepted_ms),
    COLUMN("source", TEXT, source), COLUMN("task", TEXT, contest), COLUMN("group", TEXT, group),
    COLUMN("author", TEXT, author), COLUMN("team", TEXT, team), COLUMN("model", TEXT, model),
    COLUMN("hardware", TEXT, hardware), COLUMN("framework", TEXT, framework), COLUMN("precision", TEXT, precision),
    COLUMN("division", TEXT, division), COLUMN("date", TEXT, date), COLUMN("code_url", TEXT, code_url),
    COLUMN("tags", TEXT, tags), COLUMN("sequence", ABOVE_0, sequence), COLUMN("devices", ABOVE_0, devices),
    COLUMN("views", ABOVE_0, views), COLUMN("flags", INTEGER, flags),
    COLUMN("self_evaluated", INTEGER, self),
};

int column_count(void)
{
    return (int)(sizeof columns / sizeof columns[0]);
}

const char *column_name(int column)
{
    return columns[column].name;
}

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text != NULL ? text : "");
    return value != NULL ? value : json_string("");  // not UTF-8: from a file that was altered
}

json_t *column_value(int column, const struct entry *entry)
{
    const void *at = (const char *)entry + columns[column].at;
    const enum kind kind = columns[column].kind;
    switch (kind) {
    case TEXT: return text_value(*(const char *const *)at);
    case TRUST_WORD: return json_string(trust_word(entry->trust));
    case UNIT: return json_string(board_unit(entry->board));
    case COUNT: return json_integer(*(const int *)at);
    case INTEGER: return json_integer(*(const int64_t *)at);
    case ABOVE_0: return *(const int64_t *)at != 0 ? json_integer(*(const int64_t *)at) : json_null();
    default: break;
    }
    const double number = *(const double *)at;
    return isfinite(number) && (kind == REAL || number >= 0) ? json_real(number) : json_null();
}
