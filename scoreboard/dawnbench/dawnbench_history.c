// SPDX-License-Identifier: Apache-2.0
// Reads the published histories of DAWNBench, row by row (format: dawnbench.h).
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"

enum { TASK, DATE, SECONDS, SCORE, NEEDED, AUTHOR = NEEDED, HARDWARE, MODEL, FRAMEWORK, LINK, NOTE, COLUMNS, CELLS = 32 };
static const char *const columns[COLUMNS] = {"task",     "date",  "seconds",   "score", "author",
                                             "hardware", "model", "framework", "link",  "note"};

struct line {
    const char *at;
    size_t count;
};
struct history {
    const char *name;
    struct line header;
    int index[COLUMNS];  // of each column among the cells; -1: absent
    int cells;
};

static bool next_line(const char **at, const char *end, struct line *line)
{
    if (*at >= end) return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *line = (struct line){*at, (size_t)((stop ? stop : end) - *at)};
    while (line->count > 0 && line->at[line->count - 1] == '\r') line->count--;
    *at = stop ? stop + 1 : end;
    return true;
}

// Cells without the blanks around them. Returns their number, CELLS + 1 for too many.
static int split_cells(struct line line, struct line cell[CELLS])
{
    int count = 0;
    for (const char *at = line.at, *end = line.at + line.count; at <= end; count++) {
        const char *stop = memchr(at, '\t', (size_t)(end - at));
        struct line c = {at, (size_t)((stop ? stop : end) - at)};
        if (count == CELLS) return CELLS + 1;
        while (c.count > 0 && *c.at == ' ') c.at++, c.count--;
        while (c.count > 0 && c.at[c.count - 1] == ' ') c.count--;
        cell[count] = c;
        at = (stop ? stop : end) + 1;
    }
    return count;
}

static int read_names(struct history *h, struct line line)
{
    struct line cell[CELLS];
    h->header = line, h->cells = split_cells(line, cell);
    if (h->cells > CELLS) return fail(ERR_INPUT, "has more than %d columns", (int)CELLS);
    for (int c = 0; c < COLUMNS; c++) h->index[c] = -1;
    for (int i = 0; i < h->cells; i++) {
        int c = 0;
        while (c < COLUMNS && (strlen(columns[c]) != cell[i].count || memcmp(columns[c], cell[i].at, cell[i].count))) c++;
        int shown = (int)(cell[i].count < 40 ? cell[i].count : 40);
        if (c == COLUMNS) return fail(ERR_INPUT, "\"%.*s\" is no column of a history", shown, cell[i].at);
        if (h->index[c] >= 0) return fail(ERR_INPUT, "has the column \"%s\" twice", columns[c]);
        h->index[c] = i;
    }
    for (int c = 0; c < NEEDED; c++)
        if (h->index[c] < 0) return fail(ERR_INPUT, "has no column \"%s\" (columns are separated by tabs)", columns[c]);
    return 0;
}

// A text as it may be kept and shown; "" if the column or the cell is empty.
static int read_words(struct dawnbench_entry *e, const struct history *h, const struct line cell[], int column, const char **into)
{
    struct text kept = {0};
    int flags;
    *into = "";
    if (h->index[column] < 0 || cell[h->index[column]].count == 0) return 0;
    struct line c = cell[h->index[column]];
    if (c.count > DAWNBENCH_WORDS)
        return fail(ERR_INPUT, "%s has %zu bytes, more than %d", columns[column], c.count, (int)DAWNBENCH_WORDS);
    dawnbench_drop_mail(c.at, c.count, &kept);
    *into = dawnbench_words(&e->arena, kept.at ? kept.at : "", &flags);
    text_free(&kept);
    return 0;
}

static int read_figure(const struct history *h, const struct line cell[], int column, double most, double *into)
{
    char word[64];
    struct line c = cell[h->index[column]];
    if (c.count == 0 || c.count >= sizeof word) return fail(ERR_INPUT, "%s is not a number", columns[column]);
    memcpy(word, c.at, c.count);
    word[c.count] = 0;
    return text_to_double(word, 0, most, into) < 0 ? fail_prefix(ERR_INPUT, "%s: ", columns[column]) : 0;
}

static int read_link(struct dawnbench_entry *e)
{
    bool web = strncmp(e->code_url, "https://", 8) == 0 || strncmp(e->code_url, "http://", 7) == 0;
    if (*e->code_url == 0 || (web && strpbrk(e->code_url, " \"<>\\") == NULL)) return 0;
    return fail(ERR_INPUT, "link \"%.60s\" is no web address", e->code_url);
}

// The targets that the score meets.
static int find_targets(struct dawnbench_entry *e, double seconds, double score)
{
    const struct contest *contest = e->contest;
    bool lower = contest->board.lower_is_better;
    for (int t = 0; t < CONTEST_TARGETS && contest->target_micro[t] != 0; t++) {
        double goal = (double)contest->target_micro[t] / 1e6;
        if (lower ? score <= goal : score >= goal) e->seconds[t] = seconds, e->accuracy[t] = score;
    }
    return e->seconds[0] >= 0 ? 0 : fail(ERR_INPUT, "the score %g misses the target %g of %s", score,
                                         (double)contest->target_micro[0] / 1e6, contest->name);
}

static int fill_entry(struct dawnbench_entry *e, const struct history *h, const struct line cell[])
{
    const char *task;
    double seconds, score;
    TRY(read_words(e, h, cell, TASK, &task));
    e->contest = contest_find(task);
    if (!e->contest) return fail(ERR_INPUT, "there is no task \"%.60s\"", task);
    TRY(read_words(e, h, cell, DATE, &e->date));
    TRY(dawnbench_date(e->date));
    TRY(read_words(e, h, cell, AUTHOR, &e->author));
    TRY(read_words(e, h, cell, HARDWARE, &e->hardware));
    TRY(read_words(e, h, cell, MODEL, &e->model));
    TRY(read_words(e, h, cell, FRAMEWORK, &e->framework));
    TRY(read_words(e, h, cell, LINK, &e->code_url));
    TRY(read_words(e, h, cell, NOTE, &e->note));
    TRY(read_link(e));
    TRY(read_figure(h, cell, SECONDS, 1e9, &seconds));
    TRY(read_figure(h, cell, SCORE, 1e6, &score));
    if (!(seconds > 0)) return fail(ERR_INPUT, "seconds must be above 0");
    e->devices = dawnbench_devices(e->hardware);
    e->points = arena_alloc(&e->arena, sizeof *e->points);
    e->points[0] = (struct dawnbench_point){0, seconds / 3600, score}, e->point_count = 1;
    return find_targets(e, seconds, score);
}

static int read_row(const struct history *h, struct line line, struct dawnbench_entry **into)
{
    struct line cell[CELLS] = {{0}};
    int count = split_cells(line, cell);
    if (count > h->cells) return fail(ERR_INPUT, "has %d cells, and there are %d columns", count, h->cells);
    struct dawnbench_entry *e = dawnbench_new();
    e->training = e->history = true;
    int rc = fill_entry(e, h, cell);
    if (rc < 0) {
        dawnbench_free(e);
        return rc;
    }
    struct text kept = {0};
    dawnbench_drop_mail(line.at, line.count, &kept);
    e->tsv = arena_text(&e->arena, "%.*s\n%s\n", (int)h->header.count, h->header.at, kept.at ? kept.at : "");
    text_free(&kept);
    *into = e;
    return 0;
}

static void name_entry(struct dawnbench_entry *e, const char *stem)
{
    e->stem = arena_text(&e->arena, "%s", stem);
    e->source = arena_text(&e->arena, "%s/history/%s", e->contest->title, stem);
}

// NAME-DATE, with a number from the second row of a task and a day on.
static void number_entry(const char *name, struct dawnbench_entry *e, const struct dawnbench_archive *before)
{
    struct arena arena = {0};
    int same = 1;
    for (int i = 0; i < before->count; i++)
        same += before->at[i]->contest == e->contest && strcmp(before->at[i]->date, e->date) == 0;
    name_entry(e, same == 1 ? arena_text(&arena, "%s-%s", name, e->date) : arena_text(&arena, "%s-%s-%d", name, e->date, same));
    arena_free(&arena);
}

static int read_all(struct history *h, const char *bytes, size_t count, struct dawnbench_archive *archive)
{
    struct line line;
    const char *at = bytes, *end = bytes + count;
    bool named = false;
    for (int number = 1; next_line(&at, end, &line); number++) {
        struct dawnbench_entry *e = NULL;
        if (line.count == 0 || *line.at == '#') continue;
        if (archive->count == HISTORY_ROWS) return fail(ERR_INPUT, "%s has more than %d rows", h->name, (int)HISTORY_ROWS);
        if ((named ? read_row(h, line, &e) : read_names(h, line)) < 0)
            return fail_prefix(ERR_INPUT, "%s, line %d: ", h->name, number);
        if (e) {
            number_entry(h->name, e, archive);
            archive->at = grow(archive->at, (size_t)(archive->count + 1) * sizeof(struct dawnbench_entry *));
            archive->at[archive->count++] = e;
        }
        named = true;
    }
    return archive->count > 0 ? 0 : fail(ERR_INPUT, "%s has no row", h->name);
}

int history_read(const char *name, const char *bytes, size_t count, struct dawnbench_archive *archive)
{
    struct history h = {.name = name};
    json_t *valid = memchr(bytes, 0, count) == NULL ? json_stringn(bytes, count) : NULL;
    json_decref(valid);
    *archive = (struct dawnbench_archive){0};
    if (!dawnbench_stem(name))
        return fail(ERR_INPUT, "the name \"%.80s\" is not letters, digits, \".\", \"_\", \"+\" and \"-\"", name);
    int rc = valid ? read_all(&h, bytes, count, archive) : fail(ERR_INPUT, "%s is not text in UTF-8", name);
    if (rc == 0) return 0;
    dawnbench_archive_free(archive);
    return rc;
}

int history_row(const char *stem, const char *tsv, struct dawnbench_entry **into)
{
    struct dawnbench_archive one;
    TRY(history_read(stem, tsv, strlen(tsv), &one));
    *into = one.at[0];
    one.at[0] = NULL;
    name_entry(*into, stem);
    dawnbench_archive_free(&one);
    return 0;
}
