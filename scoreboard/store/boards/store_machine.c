// SPDX-License-Identifier: Apache-2.0
// Machines by the names that statements give them. Each reader keeps an index of them: the machine of each text of hardware, the
// counts, the order. Invariant: the index belongs to one version of the record and is made again after a change, when somebody
// asks. Cost: of making it, a sort of all rows of boards and one row per measurement; of a request, the rows on its page.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/boards/shelf.h"
#include "scoreboard/store/boards/store_boards.h"

enum { BENCHES_MOST = 50, BENCHES_BYTES = 256 << 10 };  // statements of an answer, and their bytes; at least one

struct measured {
    int64_t sequence, accepted_ms;
    const char *hardware;
    int machine;
};
struct named {
    struct machine_line line;
    const char *hardware;  // the text that it was first called by
    int64_t first;         // number of that statement
};
struct machine_index {
    struct arena *arena;  // of the reader
    int64_t version;
    struct named *at;   // by word
    int count;
    int *newest;        // numbers in `at` of those that are named by a statement that counts: the last to change first
    int newest_count;
    int *of_hardware;   // machine of each number in the dictionary of hardware
    int hardware_count;
    struct measured *benches;  // those that count, by number
    int bench_count;
};

// ---- making the index
static int read_benches(struct reader *r, struct machine_index *x)
{
    sqlite3_stmt *row;
    int64_t capacity;
    int rc;
    TRY(sql_int(&r->sql, &capacity, 0, "SELECT count(*) FROM benches", ""));
    x->benches = arena_alloc(x->arena, (size_t)(capacity + 1) * sizeof *x->benches);
    TRY(sql_start(&r->sql, &row, "SELECT sequence, hardware, accepted_ms FROM benches WHERE withdrawn = 0 ORDER BY sequence",
                  ""));
    while ((rc = sql_next(&r->sql, row)) > 0 && x->bench_count < capacity)
        x->benches[x->bench_count++] = (struct measured){.sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 2),
                                                         .hardware = sql_keep(row, 1, x->arena)};
    sql_end(row);
    return rc < 0 ? rc : 0;
}

// A text of hardware, and where the number of its machine belongs.
struct spelled {
    const char *word;
    int *machine;
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(((const struct spelled *)a)->word, ((const struct spelled *)b)->word);
}

static struct spelled spell_machine(struct machine_index *x, const char *hardware, int *machine)
{
    char word[RANKING_MACHINE];
    return (struct spelled){arena_text(x->arena, "%s", ranking_machine(hardware, word)), machine};
}

static void number_machines(struct reader *r, struct machine_index *x)
{
    const struct shelf_names *names = &r->library->names[SHELF_HARDWARE];
    const int count = names->count + x->bench_count;
    struct spelled *all = zalloc((size_t)(count + 1) * sizeof *all);
    x->hardware_count = names->count;
    x->of_hardware = arena_alloc(x->arena, (size_t)(names->count + 1) * sizeof *x->of_hardware);
    for (int i = 0; i < names->count; i++) all[i] = spell_machine(x, names->at[i], &x->of_hardware[i]);
    for (int i = 0; i < x->bench_count; i++)
        all[names->count + i] = spell_machine(x, x->benches[i].hardware, &x->benches[i].machine);
    if (count > 0) qsort(all, (size_t)count, sizeof *all, compare_words);
    x->at = arena_alloc(x->arena, (size_t)(count + 1) * sizeof *x->at);
    for (int i = 0; i < count; i++) {
        if (x->count == 0 || strcmp(x->at[x->count - 1].line.word, all[i].word) != 0)
            x->at[x->count++] = (struct named){.line.word = all[i].word, .first = INT64_MAX};
        *all[i].machine = x->count - 1;
    }
    free(all);
}

// A machine is called as the first statement that names it spells it.
static void take_name(struct named *machine, const char *hardware, int64_t sequence, int64_t accepted_ms)
{
    if (accepted_ms > machine->line.newest_ms) machine->line.newest_ms = accepted_ms;
    bool first = sequence < machine->first ||
                 (sequence == machine->first && strcmp(hardware, machine->hardware) < 0);
    if (first) machine->first = sequence, machine->hardware = hardware;
}

// A row of a board: an upload has several.
struct use {
    int machine;
    const char *upload;
};

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    return x->machine != y->machine ? (x->machine > y->machine) - (x->machine < y->machine) : strcmp(x->upload, y->upload);
}

// An upload counts once on each machine: a latency may have been measured on another one than the training.
static void count_uploads(struct reader *r, struct machine_index *x)
{
    int count = 0, capacity = 0;
    for (int i = 0; i < r->library->count; i++) capacity += r->library->shelves[i].count;
    struct use *uses = zalloc((size_t)(capacity + 1) * sizeof *uses);
    for (int i = 0; i < r->library->count; i++) {
        const struct shelf *s = &r->library->shelves[i];
        for (int n = 0; n < s->count; n++) {
            const struct entry *e = shelf_entry(&s->rows[n]);
            if (!s->rows[n].alive || *e->hardware == 0) continue;
            const int machine = x->of_hardware[s->rows[n].name[SHELF_HARDWARE]];
            uses[count++] = (struct use){machine, *e->group != 0 ? e->group : e->source};
            take_name(&x->at[machine], e->hardware, e->sequence, e->accepted_ms);
        }
    }
    if (count > 0) qsort(uses, (size_t)count, sizeof *uses, compare_uses);
    for (int i = 0; i < count; i++)
        if (i == 0 || compare_uses(&uses[i - 1], &uses[i]) != 0) x->at[uses[i].machine].line.entries++;
    free(uses);
}

static void count_benches(struct machine_index *x)
{
    for (int i = 0; i < x->bench_count; i++) {
        const struct measured *bench = &x->benches[i];
        x->at[bench->machine].line.benches++;
        take_name(&x->at[bench->machine], bench->hardware, bench->sequence, bench->accepted_ms);
    }
}

static int compare_lines(const struct machine_line *p, const struct machine_line *q)
{
    if (p->newest_ms != q->newest_ms) return p->newest_ms > q->newest_ms ? -1 : 1;
    return strcmp(p->word, q->word);
}

static int compare_newest_machines(const void *a, const void *b, void *index)
{
    const struct machine_index *x = index;
    return compare_lines(&x->at[*(const int *)a].line, &x->at[*(const int *)b].line);
}

// Machines of withdrawn statements alone have no name and are left out.
static void put_in_order(struct machine_index *x)
{
    char name[RANKING_MACHINE_NAME];
    x->newest = arena_alloc(x->arena, (size_t)(x->count + 1) * sizeof *x->newest);
    for (int i = 0; i < x->count; i++) {
        if (x->at[i].hardware == NULL) continue;
        x->at[i].line.name = arena_text(x->arena, "%s", ranking_machine_name(x->at[i].hardware, name));
        x->newest[x->newest_count++] = i;
    }
    if (x->newest_count > 0) qsort_r(x->newest, (size_t)x->newest_count, sizeof *x->newest, compare_newest_machines, x);
}

static int make_index(struct reader *r)
{
    TRY(store_catch_up(r));
    if (r->machines != NULL && r->machines->version == r->loaded) return 0;
    r->machines = NULL;
    arena_free(&r->index);
    struct machine_index *x = arena_alloc(&r->index, sizeof *x);
    x->arena = &r->index;
    TRY(read_benches(r, x));
    number_machines(r, x);
    count_uploads(r, x);
    count_benches(x);
    put_in_order(x);
    x->version = r->loaded;
    r->machines = x;
    return 0;
}

// ---- reading it
static struct machine_line copy_line(const struct machine_line *line, struct arena *arena)
{
    struct machine_line copy = *line;
    copy.name = arena_text(arena, "%s", line->name);
    copy.word = arena_text(arena, "%s", line->word);
    return copy;
}

// A cursor is the position of a machine in the order: "MOMENT.WORD".
static int read_cursor(const char *cursor, struct machine_line *after)
{
    char moment[24];
    const char *dot = strchr(cursor, '.');
    const size_t digits = dot != NULL ? (size_t)(dot - cursor) : sizeof moment;
    snprintf(moment, sizeof moment, "%.*s", digits < sizeof moment ? (int)digits : 0, cursor);
    if (text_to_int(moment, 0, INT64_MAX, &after->newest_ms) < 0)
        return fail(ERR_INPUT, "before must be the `next` of an earlier page");
    after->word = dot + 1;
    return 0;
}

int store_machines(struct reader *r, const char *before, int limit, struct arena *arena, struct machines *out)
{
    struct machine_line after;
    int first = 0;
    *out = (struct machines){0};
    if (before != NULL) TRY(read_cursor(before, &after));
    TRY(make_index(r));
    const struct machine_index *x = r->machines;
    out->total = x->newest_count;
    out->at = arena_alloc(arena, (size_t)(limit + 1) * sizeof *out->at);
    while (before != NULL && first < x->newest_count && compare_lines(&x->at[x->newest[first]].line, &after) <= 0) first++;
    for (int i = first; i < x->newest_count && out->count < limit; i++)
        out->at[out->count++] = copy_line(&x->at[x->newest[i]].line, arena);
    if (out->count > 0 && first + out->count < x->newest_count) {
        const struct machine_line *last = &out->at[out->count - 1];
        out->next = arena_text(arena, "%lld.%s", (long long)last->newest_ms, last->word);
    }
    return 0;
}

static int compare_word(const void *word, const void *at)
{
    return strcmp(word, ((const struct named *)at)->line.word);
}

static int find_machine(const struct machine_index *x, const char *word, int *machine)
{
    const struct named *found = bsearch(word, x->at, (size_t)x->count, sizeof *x->at, compare_word);
    if (found == NULL || found->hardware == NULL)
        return fail(ERR_MISSING, "nothing here was measured on a machine \"%.80s\"", word);
    *machine = (int)(found - x->at);
    return 0;
}

int store_machine(struct reader *r, const char *word, int limit, struct arena *arena, struct machine_line *line,
                  struct entries *out)
{
    int machine;
    *out = (struct entries){0};
    TRY(make_index(r));
    const struct machine_index *x = r->machines;
    TRY(find_machine(x, word, &machine));
    *line = copy_line(&x->at[machine].line, arena);
    store_uploads_on(r, x->of_hardware, machine, limit, arena, out);
    out->total = line->entries;
    return 0;
}

int store_benches(struct reader *r, const char *word, int64_t before, struct arena *arena, struct benches *out)
{
    int machine;
    size_t bytes = 0;
    *out = (struct benches){.at = arena_alloc(arena, BENCHES_MOST * sizeof *out->at)};
    TRY(make_index(r));
    const struct machine_index *x = r->machines;
    TRY(find_machine(x, word, &machine));
    for (int i = x->bench_count - 1; i >= 0; i--) {
        const struct measured *bench = &x->benches[i];
        if (bench->machine != machine || bench->sequence >= before) continue;
        if (out->count == BENCHES_MOST || bytes > BENCHES_BYTES) {
            out->next = out->at[out->count - 1].sequence;
            break;
        }
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)bench->sequence);
        TRY(store_statement(r, number, arena, &out->at[out->count]));
        bytes += out->at[out->count++].payload_count;
    }
    return 0;
}
