// SPDX-License-Identifier: Apache-2.0
// The training log: one row per line, cells separated by tabs, columns by name. Irregular but unambiguous input is accepted and
// reported; an ambiguous cell refuses the file. One pass; memory proportional to the file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"

enum { EPOCH, HOURS, SCORE, COLUMNS };
enum { CELL_MAX = 64, CELLS_MAX = 64, ROW_LEAST = 6 };  // "1\t1\t1" and its line end

struct cell {
    const char *at;
    size_t count;
};
struct log {
    struct dawnbench_entry *e;
    int index[COLUMNS];  // number of the column in the file
    int columns;
    int padded, longer, blank, blank_last;  // numbers of such rows
};

// Blanks before or after a cell. Unicode's wide blank and the no-break space count as blanks.
static size_t blank_at(const char *at, size_t count)
{
    if (count >= 1 && (*at == ' ' || *at == '\r' || *at == '\v' || *at == '\f')) return 1;
    if (count >= 2 && memcmp(at, "\xc2\xa0", 2) == 0) return 2;
    if (count >= 3 && memcmp(at, "\xe3\x80\x80", 3) == 0) return 3;
    return 0;
}

static size_t blank_before(const char *at, size_t count)
{
    for (size_t n = 1; n <= 3 && n <= count; n++)
        if (blank_at(at + count - n, n) == n) return n;
    return 0;
}

static bool trim(struct cell *cell)
{
    size_t n, before = cell->count;
    while ((n = blank_at(cell->at, cell->count)) > 0) cell->at += n, cell->count -= n;
    while ((n = blank_before(cell->at, cell->count)) > 0) cell->count -= n;
    return cell->count != before;
}

// Cells of a line, trimmed. Cells beyond the last place are only counted.
static int split(struct cell line, struct cell cells[CELLS_MAX], bool *padded)
{
    int n = 0;
    *padded = false;
    while (true) {
        const char *tab = memchr(line.at, '\t', line.count);
        struct cell cell = {line.at, tab != NULL ? (size_t)(tab - line.at) : line.count};
        *padded |= trim(&cell);
        if (n < CELLS_MAX) cells[n] = cell;
        n++;
        if (tab == NULL) return n;
        line.count -= (size_t)(tab + 1 - line.at);
        line.at = tab + 1;
    }
}

static const char *column_name(const struct log *log, int column)
{
    static const char *const names[COLUMNS] = {"epoch", "hours", NULL};
    return column == SCORE ? log->e->contest->dawnbench_column : names[column];
}

static int read_header(struct log *log, struct cell line)
{
    struct cell cells[CELLS_MAX];
    bool padded;
    log->columns = split(line, cells, &padded);
    if (log->columns > CELLS_MAX) return fail(ERR_INPUT, "%s.tsv: has %d columns", log->e->source, log->columns);
    if (padded) dawnbench_quirk(log->e, "tsv", "names of columns are padded with blanks");
    for (int c = 0; c < COLUMNS; c++) {
        const char *name = column_name(log, c);
        log->index[c] = -1;
        for (int i = 0; i < log->columns; i++) {
            if (cells[i].count != strlen(name) || memcmp(cells[i].at, name, cells[i].count) != 0) continue;
            if (log->index[c] >= 0) return fail(ERR_INPUT, "%s.tsv: has the column \"%s\" twice", log->e->source, name);
            log->index[c] = i;
        }
        if (log->index[c] < 0)
            return fail(ERR_INPUT, "%s.tsv: has no column \"%s\" (columns are separated by tabs)", log->e->source, name);
    }
    if (log->index[EPOCH] > log->index[HOURS] || log->index[HOURS] > log->index[SCORE])
        dawnbench_quirk(log->e, "tsv", "columns are in another order than epoch, hours, %s", column_name(log, SCORE));
    return 0;
}

static int read_cell(const struct log *log, int line, int column, struct cell cell, double *into)
{
    static const double most[COLUMNS] = {1e9, 1e6, 100};  // 1e6 hours are a century
    char word[CELL_MAX];
    int rc = 0;
    if (cell.count == 0) rc = fail(ERR_INPUT, "the cell is empty");
    else if (cell.count >= sizeof word) rc = fail(ERR_INPUT, "a cell of %zu bytes is not a number", cell.count);
    if (rc == 0) {
        memcpy(word, cell.at, cell.count);
        word[cell.count] = 0;
        rc = text_to_double(word, 0, most[column], into);
    }
    if (rc == 0) {
        *into += 0.0;  // makes -0 positive
        return 0;
    }
    return fail_prefix(ERR_INPUT, "%s.tsv: line %d, column \"%s\": ", log->e->source, line, column_name(log, column));
}

static int read_row(struct log *log, int number, struct cell line, struct dawnbench_point *point)
{
    struct cell cells[CELLS_MAX];
    double value[COLUMNS];
    bool padded;
    int n = split(line, cells, &padded);
    for (int c = 0; c < COLUMNS; c++) {
        if (log->index[c] >= n)
            return fail(ERR_INPUT, "%s.tsv: line %d has no cell for \"%s\"", log->e->source, number, column_name(log, c));
        TRY(read_cell(log, number, c, cells[log->index[c]], &value[c]));
    }
    log->padded += padded;
    log->longer += n > log->columns;
    *point = (struct dawnbench_point){value[EPOCH], value[HOURS], value[SCORE]};
    return 0;
}

static bool is_blank(struct cell line)
{
    while (line.count > 0) {
        size_t n = *line.at == '\t' ? 1 : blank_at(line.at, line.count);
        if (n == 0) return false;
        line.at += n, line.count -= n;
    }
    return true;
}

static int read_lines(struct log *log, const char *at, const char *end)
{
    struct dawnbench_entry *e = log->e;
    for (int number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct cell line = {at, (size_t)((stop != NULL ? stop : end) - at)};
        if (line.count > 0 && line.at[line.count - 1] == '\r') line.count--;
        at = stop != NULL ? stop + 1 : end;
        if (number == 1) {
            TRY(read_header(log, line));
        } else if (is_blank(line)) {
            log->blank++, log->blank_last++;
        } else {
            log->blank_last = 0;
            TRY(read_row(log, number, line, &e->points[e->point_count]));
            e->point_count++;
        }
    }
    return e->point_count > 0 ? 0 : fail(ERR_INPUT, "%s.tsv: has no row", e->source);
}

// ---- scores

bool dawnbench_other_unit(const struct contest *contest, double highest)
{
    return contest->dawnbench_scale == 1 ? highest > 1 : highest > 0 && highest <= 1;
}

double dawnbench_in_unit(const struct contest *contest, double score)
{
    return contest->dawnbench_scale == 1 ? score / 100 : score * 100;
}

double dawnbench_goal(const struct contest *contest, int target)
{
    return (double)(contest->target_micro[target] * contest->dawnbench_scale) / 1e6;
}

// Scores printed from 32-bit floats are off by 1e-5 points of 100 at most; one image of 50,000 is 200 times as much.
bool dawnbench_whole(const struct contest *contest, double score)
{
    if (contest->items != contest->test_items) return true;
    double scale = (double)contest->dawnbench_scale, n = (double)contest->items;
    return fabs(score - round(score / scale * n) * scale / n) <= 1e-7 * scale;
}

static void tell_scores(struct dawnbench_entry *e)
{
    double highest = 0;
    int odd = 0;
    for (int i = 0; i < e->point_count; i++) highest = fmax(highest, e->points[i].score);
    if (dawnbench_other_unit(e->contest, highest)) {
        for (int i = 0; i < e->point_count; i++) e->points[i].score = dawnbench_in_unit(e->contest, e->points[i].score);
        dawnbench_quirk(e, "tsv", e->contest->dawnbench_scale == 1 ? "%s is given in points of 100; read as a share of 1"
                                                                   : "%s is given as a share of 1; read in points of 100",
                        e->contest->dawnbench_column);
    }
    for (int i = 0; i < e->point_count; i++) odd += !dawnbench_whole(e->contest, e->points[i].score);
    if (odd > 0)
        dawnbench_quirk(e, "tsv", "values of %s that are no whole number of %lld items: %d of %d",
                        e->contest->dawnbench_column, (long long)e->contest->items, odd, e->point_count);
}

static void tell_steps(struct dawnbench_entry *e)
{
    int fractions = 0, repeated = 0, back = 0, stuck = 0;
    for (int i = 0; i < e->point_count; i++) {
        const struct dawnbench_point *now = &e->points[i], *last = now - 1;
        fractions += now->epoch != floor(now->epoch);
        if (i == 0) continue;
        repeated += now->epoch == last->epoch;
        back += now->epoch < last->epoch;
        stuck += now->hours <= last->hours;
    }
    if (fractions > 0) dawnbench_quirk(e, "tsv", "epochs that are fractions: %d", fractions);
    if (e->points[0].epoch == 0) dawnbench_quirk(e, "tsv", "epochs are counted from 0");
    if (repeated > 0) dawnbench_quirk(e, "tsv", "epochs that are repeated: %d", repeated);
    if (back > 0) dawnbench_quirk(e, "tsv", "epochs smaller than the one before: %d", back);
    if (e->points[0].hours == 0) dawnbench_quirk(e, "tsv", "hours start at 0");
    if (stuck > 0) dawnbench_quirk(e, "tsv", "rows at which hours do not grow: %d", stuck);
}

static void tell_form(const struct log *log, const char *tsv, size_t count)
{
    struct dawnbench_entry *e = log->e;
    if (memmem(tsv, count, "\r\n", 2) != NULL) dawnbench_quirk(e, "tsv", "lines end with CR LF");
    if (tsv[count - 1] != '\n') dawnbench_quirk(e, "tsv", "the last line has no end");
    if (log->blank_last > 0) dawnbench_quirk(e, "tsv", "blank lines at the end: %d", log->blank_last);
    if (log->blank > log->blank_last) dawnbench_quirk(e, "tsv", "blank lines between rows: %d", log->blank - log->blank_last);
    if (log->padded > 0) dawnbench_quirk(e, "tsv", "rows with cells padded with blanks: %d", log->padded);
    if (log->longer > 0) dawnbench_quirk(e, "tsv", "rows with more cells than the header: %d", log->longer);
}

int dawnbench_log(struct dawnbench_entry *e, const char *tsv, size_t count)
{
    struct log log = {.e = e};
    if (count == 0) return fail(ERR_INPUT, "%s.tsv: is empty", e->source);
    size_t mark = count >= 3 && memcmp(tsv, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (mark > 0) dawnbench_quirk(e, "tsv", "begins with a byte order mark");
    e->points = arena_alloc(&e->arena, (count / ROW_LEAST + 1) * sizeof *e->points);
    TRY(read_lines(&log, tsv + mark, tsv + count));
    tell_form(&log, tsv, count);
    tell_steps(e);
    tell_scores(e);
    return 0;
}
