// SPDX-License-Identifier: Apache-2.0
// Texts of entries come from strangers. The parsers have removed bytes that steer a terminal; this file escapes cells for their
// format. Cost: one pass over the rows, two for the table.
#include "scoreboard/rank/table.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9 };
static const char *const columns[COLUMNS] = {"rank", "author", "model", "hardware", "framework",
                                             "date", "value",  "unit",  "source"};

// ---- TSV and CSV

static void add_tsv_cell(struct text *into, const char *cell)
{
    for (; *cell != 0; cell++) text_add(into, "%c", (unsigned char)*cell < 0x20 || *cell == 0x7f ? ' ' : *cell);
}

static void add_line(struct text *into, const char *const cells[COLUMNS], bool csv)
{
    for (int c = 0; c < COLUMNS; c++) {
        if (c > 0) text_add(into, csv ? "," : "\t");
        if (csv) text_csv(into, cells[c]);
        else add_tsv_cell(into, cells[c]);
    }
    text_add(into, "\n");
}

static void write_cells(bool csv, const struct filter *filter, const struct entries *entries, struct text *into)
{
    add_line(into, columns, csv);
    for (int i = 0; i < entries->count; i++) {
        const struct entry *e = &entries->at[i];
        char rank[24], value[TABLE_NUMBER];
        snprintf(rank, sizeof rank, "%lld", (long long)e->rank);
        table_number(e->value, value);
        const char *cells[COLUMNS] = {rank,    e->author, e->model, e->hardware, e->framework,
                                      e->date, value,     board_unit(filter->board), e->source};
        add_line(into, cells, csv);
    }
}

// ---- JSON

static void add_string(struct text *into, const char *key, const char *value)
{
    json_t *string = json_string(value);
    char *literal = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    text_add(into, ", \"%s\": %s", key, literal != NULL ? literal : "\"\"");
    free(literal);
    json_decref(string);
}

static void add_object(struct text *into, const struct entry *e)
{
    for (int i = 0; i < table_columns(); i++) {
        char number[TABLE_NUMBER];
        json_t *value = table_value(i, e);
        char *literal = json_is_real(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        text_add(into, "%s\"%s\": %s", i > 0 ? ", " : "{", table_column(i)->name,
                 literal != NULL ? literal : table_number(json_number_value(value), number));
        free(literal);
        json_decref(value);
    }
    text_add(into, "}");
}

static void write_json(const struct filter *filter, const struct entries *entries, struct text *into)
{
    text_add(into, "{\"type\": \"dawn-board\"");
    add_string(into, "task", filter->contest->name);
    add_string(into, "board", board_word(filter->board));
    add_string(into, "rank", rank_word(filter->rank));
    add_string(into, "counts", board_counts(filter->board, filter->rank));
    text_add(into, ", \"total\": %lld, \"entries\": [", (long long)entries->total);
    for (int i = 0; i < entries->count; i++) {
        text_add(into, i > 0 ? ",\n" : "\n");
        add_object(into, &entries->at[i]);
    }
    text_add(into, "%s]}\n", entries->count > 0 ? "\n" : "");
}

// ---- for people

enum { RANK_CELL, VALUE_CELL, AUTHOR_CELL, MODEL_CELL, HARDWARE_CELL, TRUST_CELL, DATE_CELL, CELLS };
static const char *const heads[CELLS] = {"", "value", "author", "model", "hardware", "trust", "date"};

// East Asian characters take two columns of a terminal.
static int character_width(const char *at, size_t *length)
{
    unsigned char first = (unsigned char)*at;
    *length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    unsigned c = *length == 1 ? first : first & (0x7fu >> *length);
    for (size_t i = 1; i < *length; i++) {
        if (at[i] == 0) {  // cut short
            *length = i;
            return 1;
        }
        c = c << 6 | ((unsigned char)at[i] & 0x3f);
    }
    bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
                (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
    return wide ? 2 : 1;
}

static int width_of(const char *text)
{
    int width = 0;
    for (size_t length; *text != 0; text += length) width += character_width(text, &length);
    return width;
}

// Exactly `width` columns. Longer text is cut and ends with "..".
static void add_cell(struct text *into, const char *cell, int width, bool right)
{
    int needs = width_of(cell), capacity = needs > width ? width - 2 : needs, used = 0;
    if (right) text_add(into, "%*s", needs < width ? width - needs : 0, "");
    for (size_t length; *cell != 0; cell += length) {
        int more = character_width(cell, &length);
        if (used + more > capacity) break;
        text_bytes(into, cell, length);
        used += more;
    }
    if (needs > width) text_add(into, ".."), used += 2;
    if (!right) text_add(into, "%*s", used < width ? width - used : 0, "");
}

static void cells_of(const struct filter *filter, const struct entry *e, char rank[24], char value[BOARD_VALUE],
                     const char *cells[CELLS])
{
    snprintf(rank, 24, "%lld", (long long)e->rank);
    cells[RANK_CELL] = rank;
    cells[VALUE_CELL] = board_value(filter->board, e->value, value);
    cells[AUTHOR_CELL] = e->author;
    cells[MODEL_CELL] = e->model;
    cells[HARDWARE_CELL] = e->hardware;
    cells[TRUST_CELL] = e->self ? "self-evaluated" : trust_word(e->trust);
    cells[DATE_CELL] = e->date;
}

// Each column is as wide as its widest cell. Then the widest of author, model and hardware shrink until a line fits.
static void fit_columns(const struct filter *filter, const struct entries *entries, int width, int wide[CELLS])
{
    int sum = 2 * (CELLS - 1);
    for (int c = 0; c < CELLS; c++) wide[c] = width_of(heads[c]);
    for (int i = 0; i < entries->count; i++) {
        char rank[24], value[BOARD_VALUE];
        const char *cells[CELLS];
        cells_of(filter, &entries->at[i], rank, value, cells);
        for (int c = 0; c < CELLS; c++)
            if (width_of(cells[c]) > wide[c]) wide[c] = width_of(cells[c]);
    }
    for (int c = 0; c < CELLS; c++) sum += wide[c];
    while (sum > width) {
        int most = AUTHOR_CELL;
        for (int c = AUTHOR_CELL; c <= HARDWARE_CELL; c++)
            if (wide[c] > wide[most]) most = c;
        if (wide[most] <= 8) break;
        wide[most]--, sum--;
    }
}

static void add_row(struct text *into, const char *const cells[CELLS], const int wide[CELLS])
{
    for (int c = 0; c < CELLS; c++) {
        if (c > 0) text_add(into, "  ");
        if (c == DATE_CELL) text_add(into, "%s", cells[c]);  // the last: nothing behind it
        else add_cell(into, cells[c], wide[c], c <= VALUE_CELL);
    }
    text_add(into, "\n");
}

static void write_rows(const struct filter *filter, const struct entries *entries, int width, struct text *into)
{
    int wide[CELLS];
    fit_columns(filter, entries, width, wide);
    add_row(into, heads, wide);
    for (int i = 0; i < entries->count; i++) {
        char rank[24], value[BOARD_VALUE];
        const char *cells[CELLS];
        cells_of(filter, &entries->at[i], rank, value, cells);
        add_row(into, cells, wide);
    }
    if (entries->total > entries->count) text_add(into, "%d of %lld entries\n", entries->count, (long long)entries->total);
}

static void write_table(const struct filter *filter, const struct entries *entries, int width, struct text *into)
{
    text_add(into, "%s: %s, %s\n", filter->contest->title, board_title(filter->board), rank_word(filter->rank));
    text_wrap(into, board_counts(filter->board, filter->rank), 0, 0);
    text_add(into, "\n\n");
    if (entries->count == 0) text_add(into, "No entries.\n");
    else write_rows(filter, entries, width, into);
    if (entries->below > 0)
        text_add(into, "%lld more %s below this level of trust: --trust imported shows all\n", (long long)entries->below,
                 entries->below == 1 ? "entry is" : "entries are");
}

void table_write(const char *format, const struct filter *filter, const struct entries *entries, int width, struct text *into)
{
    if (strcmp(format, "tsv") == 0) write_cells(false, filter, entries, into);
    else if (strcmp(format, "csv") == 0) write_cells(true, filter, entries, into);
    else if (strcmp(format, "json") == 0) write_json(filter, entries, into);
    else write_table(filter, entries, width, into);
}
