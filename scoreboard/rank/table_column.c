// SPDX-License-Identifier: Apache-2.0
// A table of members and their forms. Cost: one small allocation per cell, none for CSV.
#include "scoreboard/rank/table.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *table_number(double value, char into[TABLE_NUMBER])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(into, TABLE_NUMBER, "%.*g", digits, value);
        if (strtod(into, NULL) == value) break;
    }
    return into;
}

// KNOWN: negative is not known. ABOVE_0: neither is 0.
enum kind { TEXT, INTEGER, COUNT, REAL, KNOWN, TRUST_WORD, UNIT, ABOVE_0 };
#define TYPE_TEXT "string", false
#define TYPE_INTEGER "integer", false
#define TYPE_COUNT "integer", false
#define TYPE_REAL "number", false
#define TYPE_KNOWN "number", true
#define TYPE_TRUST_WORD "string", false
#define TYPE_UNIT "string", false
#define TYPE_ABOVE_0 "integer", true
static const struct {
    struct table_column column;
    enum kind kind;
    size_t at;
} columns[] = {
#define COLUMN(name, kind, member, what) {{name, TYPE_##kind, what}, kind, offsetof(struct entry, member)}
    COLUMN("rank", INTEGER, rank, "Place on the whole board, before filters"),
    COLUMN("value", REAL, value, "In the board's unit, full precision"),
    COLUMN("unit", UNIT, board, ""),
    COLUMN("low", REAL, low, "Lower end of the 95% interval of a group's mean; the value otherwise"),
    COLUMN("high", REAL, high, "Upper end"),
    COLUMN("cost", KNOWN, cost, "USD: of the run, or of an item"),
    COLUMN("accuracy", REAL, accuracy, "Score by the board's metric: a share of 1, or the value itself"),
    COLUMN("p", KNOWN, p, "Of a group's one-sided t-test"),
    COLUMN("runs", COUNT, runs, "Runs of the group, 1 otherwise"),
    COLUMN("trust", TRUST_WORD, trust, ""),
    COLUMN("accepted_ms", INTEGER, accepted_ms, "Server time; of an import its date"),
    COLUMN("source", TEXT, source, "#SEQUENCE, group NONCE, or TASK/train|inference/STEM of an import"),
    COLUMN("task", TEXT, contest, ""),
    COLUMN("group", TEXT, group, "Nonce, empty when it is no group"),
    COLUMN("author", TEXT, author, ""),
    COLUMN("team", TEXT, team, ""),
    COLUMN("model", TEXT, model, ""),
    COLUMN("hardware", TEXT, hardware, ""),
    COLUMN("framework", TEXT, framework, ""),
    COLUMN("precision", TEXT, precision, ""),
    COLUMN("division", TEXT, division, ""),
    COLUMN("date", TEXT, date, "YYYY-MM-DD, when the run was made"),
    COLUMN("code_url", TEXT, code_url, ""),
    COLUMN("tags", TEXT, tags, "Words separated by blanks"),
    COLUMN("sequence", ABOVE_0, sequence, "Of the statement; of a group its last"),
    COLUMN("devices", ABOVE_0, devices, ""),
    COLUMN("views", ABOVE_0, views, "Forward passes per item in the evaluation"),
    COLUMN("flags", INTEGER, flags, "Checks that raised a flag"),
    COLUMN("self_evaluated", INTEGER, self, "1: the program that was trained scored itself"),
    COLUMN("energy", KNOWN, energy, "Joules of training: of a run up to the target, of a group the mean of its whole runs"),
    COLUMN("objections_upheld", INTEGER, upheld, "Of the flags, objections that the operator upheld"),
    COLUMN("drawn_waits_ms", ABOVE_0, waits_ms, "Since when a run that the log drew waits to be repeated"),
    COLUMN("repeated_epoch_micro", ABOVE_0, repeated_micro, "Millionths of epochs, trained again to the last bit"),
    COLUMN("repeated_differs", INTEGER, differs, "Of the flags, runs that the operator trained again with other figures"),
};

int table_columns(void)
{
    return (int)(sizeof columns / sizeof columns[0]);
}

const struct table_column *table_column(int column)
{
    return &columns[column].column;
}

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text != NULL ? text : "");
    return value != NULL ? value : json_string("");  // not UTF-8: the file was altered
}

json_t *table_value(int column, const struct entry *entry)
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

static void add_integer(struct text *csv, int64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    text_bytes(csv, digits, (size_t)length);
}

void table_cell(int column, const struct entry *entry, struct text *csv)
{
    const void *at = (const char *)entry + columns[column].at;
    const enum kind kind = columns[column].kind;
    char number[TABLE_NUMBER];
    switch (kind) {
    case TEXT: text_csv(csv, *(const char *const *)at != NULL ? *(const char *const *)at : ""); return;
    case TRUST_WORD: text_csv(csv, trust_word(entry->trust)); return;
    case UNIT: text_csv(csv, board_unit(entry->board)); return;
    case COUNT: add_integer(csv, *(const int *)at); return;
    case INTEGER: add_integer(csv, *(const int64_t *)at); return;
    case ABOVE_0:
        if (*(const int64_t *)at != 0) add_integer(csv, *(const int64_t *)at);
        return;
    default: break;
    }
    const double value = *(const double *)at;
    if (!isfinite(value) || (kind != REAL && value < 0)) return;
    table_number(value, number);
    text_bytes(csv, number, strlen(number));
}
