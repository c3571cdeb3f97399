// SPDX-License-Identifier: Apache-2.0
// Reads rows of boards. A reader keeps all rows in memory (shelf.h) and catches up by the stamp of each change, in one short
// transaction. Workload and cost: see shelf.h. Without a change, one cached pragma, about 2 us.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/boards/entry_columns.h"
#include "scoreboard/store/boards/shelf.h"
#include "scoreboard/store/boards/store_boards.h"

int store_reader(struct store *s, struct reader **out)
{
    struct sql sql;
    *out = NULL;
    TRY(sql_open(s->path, SQL_READ, &sql));
    struct reader *r = *out = zalloc(sizeof *r);
    *r = (struct reader){.sql = sql, .data_version = -1, .library = zalloc(sizeof *r->library)};
    return 0;
}

void store_reader_close(struct reader *r)
{
    if (r == NULL) return;
    sql_close(&r->sql);
    library_free(r->library);
    free(r->library);
    arena_free(&r->index);
    free(r);
}

int store_version(struct reader *r, int64_t *version)
{
    int64_t now;
    TRY(sql_int(&r->sql, &now, 0, "PRAGMA data_version", ""));
    if (now != r->data_version) {
        TRY(sql_int(&r->sql, &r->version, 0, "SELECT version FROM meta", ""));
        r->data_version = now;
    }
    *version = r->version;
    return 0;
}

// Upheld objections to the run of a row, or to the runs of its group. Each is a flag of the row.
#define UPHELD(runs)                                                                                                   \
    "(SELECT count(*) FROM runs r JOIN objections o ON o.nonce = r.nonce WHERE " runs " AND r.superseded = 0 AND o.upheld = 1) "
#define ENTRY_UPHELD                                                                                                   \
    "CASE WHEN flags = 0 THEN 0 WHEN rank = 1 THEN " UPHELD("r.group_nonce = entries.group_nonce")                            \
    "ELSE " UPHELD("r.sequence = entries.sequence") "END"
_Static_assert(RANK_GROUP == 1, "the rank of groups in ENTRY_UPHELD");

// The log's draws of the run of a row, or of the runs of its group, and their results.
#define DRAWN(what, runs)                                                                                              \
    "(SELECT coalesce(" what ", 0) FROM runs r JOIN drawn d ON d.run = r.first JOIN statements c ON "                  \
    "c.sequence = d.checkpoint WHERE " runs " AND r.superseded = 0) "
#define ENTRY_DRAWN(what)                                                                                              \
    "CASE WHEN board > 1 OR trust = 0 THEN 0 WHEN rank = 1 THEN " DRAWN(what, "r.group_nonce = entries.group_nonce")   \
    "ELSE " DRAWN(what, "r.sequence = entries.sequence") "END"
_Static_assert(BOARD_TRAINING_TIME == 0 && BOARD_TRAINING_COST == 1, "the boards that a repetition is about, in ENTRY_DRAWN");
#define ENTRY_WAITS ENTRY_DRAWN("min(CASE WHEN d.verdict = 0 AND r.trust < 4 THEN c.accepted_ms END)")
#define ENTRY_REPEATED ENTRY_DRAWN("min(CASE WHEN d.verdict = 1 AND r.trust >= 4 THEN d.epoch_micro END)")
#define ENTRY_DIFFERS ENTRY_DRAWN("sum(d.verdict = 2)")

#define SELECT_ENTRIES                                                                                                 \
    "SELECT id, contest, board, rank, target_micro, alive, " ENTRY_UPHELD ", " ENTRY_WAITS ", " ENTRY_REPEATED ", "    \
    ENTRY_DIFFERS ENTRY_COLUMNS(SQL_NAME) " FROM entries "

// Adds one row of a query that SELECT_ENTRIES begins. Enumerations are checked, because the file may have been altered.
static void take_entry(struct reader *r, sqlite3_stmt *row)
{
    const struct contest *contest = contest_find(sql_text(row, 1));
    const int64_t board = sql_column(row, 2), rank = sql_column(row, 3);
    if (contest == NULL || board < 0 || board >= BOARDS || rank < 0 || rank >= RANKS) return;
    struct entry entry = {.id = sql_column(row, 0), .contest = contest->name, .board = (enum board)board,
                          .order = (enum rank)rank, .upheld = sql_column(row, 6), .waits_ms = sql_column(row, 7),
                          .repeated_micro = sql_column(row, 8), .differs = sql_column(row, 9)}, *e = &entry;
    int at = 10;
    ENTRY_COLUMNS(SQL_TAKE)
    if ((unsigned)e->trust >= TRUSTS) return;
    library_put(r->library, contest, sql_column(row, 4), sql_column(row, 5) != 0, e);
}

static int load_changes(struct reader *r)
{
    int64_t version;
    sqlite3_stmt *row;
    TRY(sql_int(&r->sql, &version, 0, "SELECT version FROM meta", ""));
    TRY(sql_start(&r->sql, &row, SELECT_ENTRIES "WHERE stamp > ? ORDER BY id", "i", r->loaded));
    int rc;
    while ((rc = sql_next(&r->sql, row)) > 0) take_entry(r, row);
    sql_end(row);
    if (rc == 0) r->loaded = version;
    return rc;
}

int store_catch_up(struct reader *r)
{
    int64_t version;
    TRY(store_version(r, &version));
    if (version == r->loaded) return 0;
    const bool held = sqlite3_get_autocommit(r->sql.db) == 0;  // by store_hold, to one moment already
    if (!held) TRY(sql_do(&r->sql, "BEGIN", ""));
    int rc = load_changes(r);
    if (rc < 0) library_free(r->library), r->machines = NULL, r->loaded = 0;  // drops a half-read change
    int ended = held ? 0 : sql_do(&r->sql, "COMMIT", "");
    return rc < 0 ? rc : ended;
}

int store_ready(struct reader *r)
{
    TRY(store_catch_up(r));
    for (int i = 0; i < r->library->count; i++) shelf_ready(&r->library->shelves[i]);
    return 0;
}

static int64_t target_of(const struct filter *f)
{
    return f->target_micro > 0 ? f->target_micro : f->contest->target_micro[0];
}

static int check_target(const struct filter *f)
{
    BUG_IF(f->contest == NULL || (unsigned)f->board >= BOARDS || (unsigned)f->rank >= RANKS || (unsigned)f->sort >= SORTS);
    for (int i = 0; i < CONTEST_TARGETS; i++)
        if (f->contest->target_micro[i] == target_of(f)) return 0;
    return fail(ERR_INPUT, "%s has no board for a target of %g", f->contest->title, (double)f->target_micro / 1e6);
}

// The shelf of a filter; NULL: it never had a row.
static int find_shelf(struct reader *r, const struct filter *f, struct shelf **shelf)
{
    TRY(check_target(f));
    TRY(store_catch_up(r));
    *shelf = shelf_find(r->library, f->contest, f->board, f->rank, target_of(f));
    return 0;
}

static int find_cursor(const struct shelf *s, const struct filter *f, int *row)
{
    int64_t id = 0;
    *row = -1;
    if (f->cursor[0] == 0) return 0;
    if (text_to_int(f->cursor, 1, INT64_MAX, &id) == 0 && s != NULL) *row = shelf_row_of(s, id);
    return *row >= 0 ? 0 : fail(ERR_INPUT, "the cursor belongs to another board");
}

int store_entries(struct reader *r, const struct filter *f, struct arena *arena, struct entries *out)
{
    *out = (struct entries){0};
    struct shelf *s;
    int cursor, limit = f->limit > 0 ? f->limit : 50, last = -1;
    TRY(find_shelf(r, f, &s));
    TRY(find_cursor(s, f, &cursor));
    if (s == NULL) return 0;
    const int *order = shelf_in_order(s, f->sort, f->descending);
    bool passed = cursor < 0, among_all = f->trust < TRUST_CHECKED;
    struct shelf_wanted wanted;
    shelf_want(r->library, f, &wanted);
    if (limit > s->count) limit = s->count;
    out->at = arena_alloc(arena, (size_t)(limit + 1) * sizeof *out->at);
    for (int i = 0; i < s->count; i++) {
        int row = order[i];
        bool matches = shelf_matches(&wanted, &s->rows[row]), trusted = s->rows[row].trust >= f->trust;
        out->below += matches && !trusted;
        if (matches && trusted) {
            out->total++;
            out->before += !passed;
            if (passed && out->count == limit && out->next == NULL)
                out->next = arena_text(arena, "%lld", (long long)s->rows[last].id);
            if (passed && out->count < limit) shelf_copy(s, last = row, among_all, arena, &out->at[out->count++]);
        }
        passed = passed || row == cursor;
    }
    shelf_wanted_free(&wanted);
    return 0;
}

// ---- lists in other orders than a board's
struct found {
    struct shelf *shelf;
    int row;
    int64_t accepted_ms, id;
    double value;
};
struct found_list {
    struct found *at;
    int count, capacity;
};

static void found_add(struct found_list *list, struct shelf *s, int row)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? list->capacity * 2 : 64;
        list->at = grow(list->at, (size_t)list->capacity * sizeof *list->at);
    }
    const struct shelf_row *at = &s->rows[row];
    list->at[list->count++] = (struct found){s, row, at->accepted_ms, at->id, shelf_entry(at)->value};
}

static int compare_newest_rows(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->accepted_ms != y->accepted_ms) return x->accepted_ms > y->accepted_ms ? -1 : 1;
    return (x->id < y->id) - (x->id > y->id);
}

static void give_entries(struct found_list *list, int limit, struct arena *arena, struct entries *out)
{
    *out = (struct entries){.total = list->count, .count = list->count < limit ? list->count : limit};
    out->at = arena_alloc(arena, (size_t)(out->count + 1) * sizeof *out->at);
    for (int i = 0; i < out->count; i++) shelf_copy(list->at[i].shelf, list->at[i].row, false, arena, &out->at[i]);
    free(list->at);
}

// A row was a record if it was accepted before all better rows.
int store_history(struct reader *r, const struct filter *f, struct arena *arena, struct entries *out)
{
    *out = (struct entries){0};
    struct shelf *s;
    struct found_list list = {0};
    struct shelf_wanted wanted;
    int64_t oldest = INT64_MAX;
    TRY(find_shelf(r, f, &s));
    if (s == NULL) return 0;
    const int *order = shelf_in_order(s, SORT_VALUE, false);
    shelf_want(r->library, f, &wanted);
    for (int i = 0; i < s->count; i++) {
        const struct shelf_row *row = &s->rows[order[i]];
        if (row->accepted_ms >= oldest || row->trust < f->trust || !shelf_matches(&wanted, row)) continue;
        found_add(&list, s, order[i]);
        oldest = row->accepted_ms;
    }
    shelf_wanted_free(&wanted);
    for (int i = 0; i < list.count / 2; i++) {
        struct found one = list.at[i];
        list.at[i] = list.at[list.count - 1 - i], list.at[list.count - 1 - i] = one;
    }
    give_entries(&list, list.count, arena, out);
    return 0;
}

// By source and board, the highest target first.
static int compare_places(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int sign = strcmp(shelf_entry(&x->shelf->rows[x->row])->source, shelf_entry(&y->shelf->rows[y->row])->source);
    if (sign == 0) sign = strcmp(x->shelf->contest->name, y->shelf->contest->name);
    if (sign == 0) sign = (int)x->shelf->board - (int)y->shelf->board;
    if (sign == 0) sign = (int)x->shelf->rank - (int)y->shelf->rank;
    return sign;
}

static int compare_targets(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int sign = compare_places(a, b);
    const int64_t p = x->shelf->target_micro, q = y->shelf->target_micro;
    return sign != 0 ? sign : (p < q) - (p > q);
}

// A row at a lesser target repeats the row at a higher one.
static void say_once(struct found_list *list)
{
    int kept = 0;
    if (list->count > 0) qsort(list->at, (size_t)list->count, sizeof *list->at, compare_targets);
    for (int i = 0; i < list->count; i++)
        if (kept == 0 || compare_places(&list->at[kept - 1], &list->at[i]) != 0) list->at[kept++] = list->at[i];
    list->count = kept;
}

// An upload: a group with its runs, or one statement.
static const char *upload_of(const struct found *f)
{
    const struct entry *e = shelf_entry(&f->shelf->rows[f->row]);
    return *e->group != 0 ? e->group : e->source;
}

// Sorts by upload; in each the newest rows first, then the group before its runs, then by board.
static int compare_uploads(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int sign = strcmp(upload_of(x), upload_of(y));
    if (sign == 0 && x->accepted_ms != y->accepted_ms) sign = x->accepted_ms > y->accepted_ms ? -1 : 1;
    if (sign == 0) sign = (int)y->shelf->rank - (int)x->shelf->rank;
    if (sign == 0) sign = (int)x->shelf->board - (int)y->shelf->board;
    return sign != 0 ? sign : compare_newest_rows(a, b);
}

// Keeps one row per upload, and the newest `limit` of those. Returns the moment before which no row is wanted. The list has all
// rows of an upload's newest moment, so the choice among them does not depend on the limit.
static int64_t cut_uploads(struct found_list *list, int limit)
{
    int kept = 0;
    if (list->count > 0) qsort(list->at, (size_t)list->count, sizeof *list->at, compare_uploads);
    for (int i = 0; i < list->count; i++)
        if (kept == 0 || strcmp(upload_of(&list->at[kept - 1]), upload_of(&list->at[i])) != 0) list->at[kept++] = list->at[i];
    list->count = kept;
    if (kept > 0) qsort(list->at, (size_t)kept, sizeof *list->at, compare_newest_rows);
    if (kept < limit || limit < 1) return INT64_MIN;
    list->count = limit;
    return list->at[limit - 1].accepted_ms;
}

struct newest {
    struct found_list list;
    int64_t oldest;
    int limit;
};

static void take_new(struct newest *n, struct shelf *s, int row)
{
    if (s->rows[row].accepted_ms < n->oldest) return;
    found_add(&n->list, s, row);
    if (n->list.count >= 4 * n->limit + 256) n->oldest = cut_uploads(&n->list, n->limit);
}

int store_newest(struct reader *r, const struct contest *contest, enum trust least, int limit, struct arena *arena,
                 struct entries *out)
{
    *out = (struct entries){0};
    struct newest newest = {.oldest = INT64_MIN, .limit = limit};
    TRY(store_catch_up(r));
    for (int i = 0; i < r->library->count; i++) {
        struct shelf *s = &r->library->shelves[i];
        if (contest != NULL ? s->contest != contest : s->contest->synthetic) continue;
        if (s->target_micro != s->contest->target_micro[0]) continue;
        for (int n = s->count - 1; n >= 0; n--)  // the newest are mostly last: the rest costs one comparison per row
            if (s->rows[n].alive && s->rows[n].trust >= least) take_new(&newest, s, n);
    }
    cut_uploads(&newest.list, limit);
    give_entries(&newest.list, limit, arena, out);
    return 0;
}

void store_uploads_on(struct reader *r, const int *machines, int machine, int limit, struct arena *arena, struct entries *out)
{
    struct newest newest = {.oldest = INT64_MIN, .limit = limit};
    for (int i = 0; i < r->library->count; i++) {
        struct shelf *s = &r->library->shelves[i];
        for (int n = s->count - 1; n >= 0; n--)
            if (s->rows[n].alive && machines[s->rows[n].name[SHELF_HARDWARE]] == machine) take_new(&newest, s, n);
    }
    cut_uploads(&newest.list, limit);
    give_entries(&newest.list, limit, arena, out);
}

static bool entry_contains(const struct entry *e, const char *part)
{
    const char *const texts[] = {e->author, e->team, e->model, e->hardware, e->framework, e->tags};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcasestr(texts[i], part) != NULL) return true;
    return false;
}

int store_search(struct reader *r, const char *part, int limit, struct arena *arena, struct entries *out)
{
    *out = (struct entries){0};
    struct found_list list = {0};
    int64_t total;
    TRY(store_catch_up(r));
    for (int i = 0; i < r->library->count; i++) {
        struct shelf *s = &r->library->shelves[i];
        for (int n = 0; n < s->count; n++)
            if (s->rows[n].alive && entry_contains(shelf_entry(&s->rows[n]), part)) found_add(&list, s, n);
    }
    cut_uploads(&list, INT_MAX);
    total = list.count;
    give_entries(&list, limit, arena, out);
    out->total = total;
    return 0;
}

static int entries_of(struct reader *r, const char *source, struct found_list *list)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&r->sql, &row, "SELECT contest, board, rank, target_micro, id FROM entries WHERE source = ? AND alive = 1 "
                  "ORDER BY rank, board, target_micro DESC", "t", source));
    while ((rc = sql_next(&r->sql, row)) > 0) {
        const struct contest *contest = contest_find(sql_text(row, 0));
        struct shelf *s = contest == NULL ? NULL : shelf_find(r->library, contest, (enum board)sql_column(row, 1),
                                                              (enum rank)sql_column(row, 2), sql_column(row, 3));
        int at = s != NULL ? shelf_row_of(s, sql_column(row, 4)) : -1;
        const struct found *last = list->count > 0 ? &list->at[list->count - 1] : NULL;
        if (at < 0 || (last != NULL && last->shelf->board == s->board && last->shelf->rank == s->rank)) continue;
        found_add(list, s, at);
    }
    sql_end(row);
    return rc;
}

int store_entries_of(struct reader *r, const char *source, struct arena *arena, struct entries *out)
{
    struct found_list list = {0};
    *out = (struct entries){0};
    TRY(store_catch_up(r));
    int rc = entries_of(r, source, &list);
    if (rc < 0) list.count = 0;
    give_entries(&list, list.count, arena, out);
    return rc;
}

int store_entry_at(struct reader *r, const char *source, const struct competition *c, struct arena *arena, struct entry *out)
{
    int64_t id;
    TRY(store_catch_up(r));
    TRY(sql_int(&r->sql, &id, -1, "SELECT id FROM entries WHERE source = ? AND contest = ? AND board = ? AND rank = ? "
                "AND target_micro = ? AND alive = 1", "ttiii", source, c->contest->name, (int64_t)c->board, (int64_t)c->rank,
                c->target_micro));
    struct shelf *s = id >= 0 ? shelf_find(r->library, c->contest, c->board, c->rank, c->target_micro) : NULL;
    int row = s != NULL ? shelf_row_of(s, id) : -1;
    if (row < 0) return fail(ERR_MISSING, "%.80s is not on that board", source);
    shelf_copy(s, row, true, arena, out);
    return 0;
}

enum { AUTHOR_ROWS = 100 };

int store_entries_by(struct reader *r, const char *author, struct arena *arena, struct entries *out)
{
    *out = (struct entries){0};
    struct found_list list = {0};
    TRY(store_catch_up(r));
    int name = shelf_name(r->library, SHELF_AUTHOR, author);
    for (int i = 0; i < r->library->count && name >= 0; i++) {
        struct shelf *s = &r->library->shelves[i];
        for (int n = 0; n < s->count; n++) {
            const struct shelf_row *row = &s->rows[n];
            if (row->alive && row->name[SHELF_AUTHOR] == name) found_add(&list, s, n);
        }
    }
    say_once(&list);
    if (list.count > 0) qsort(list.at, (size_t)list.count, sizeof *list.at, compare_newest_rows);
    give_entries(&list, AUTHOR_ROWS, arena, out);
    return 0;
}

// ---- facets
enum { FACETS_MAX = 50 };

static int compare_facets(const void *a, const void *b)
{
    const struct facet *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(x->value, y->value);
}

static const char *column_text(const struct entry *e, enum shelf_column column)
{
    switch (column) {
    case SHELF_HARDWARE: return e->hardware;
    case SHELF_FRAMEWORK: return e->framework;
    case SHELF_PRECISION: return e->precision;
    default: return e->author;
    }
}

static struct facet *count_column(struct reader *r, const struct shelf *s, enum trust least, enum shelf_column column,
                                  struct arena *arena, int *count)
{
    int names = r->library->names[column].count, found = 0;
    struct facet *list = zalloc((size_t)(names + 1) * sizeof *list);
    for (int i = 0; i < s->count; i++) {
        const struct shelf_row *row = &s->rows[i];
        struct facet *facet = &list[row->name[column]];
        if (!row->alive || row->trust < least) continue;
        if (facet->count++ == 0) facet->value = column_text(shelf_entry(row), column);
    }
    for (int i = 0; i < names; i++)
        if (list[i].count > 0 && list[i].value[0] != 0) list[found++] = list[i];
    if (found > 0) qsort(list, (size_t)found, sizeof *list, compare_facets);
    *count = found < FACETS_MAX ? found : FACETS_MAX;
    struct facet *kept = arena_alloc(arena, (size_t)(*count + 1) * sizeof *kept);
    for (int i = 0; i < *count; i++) kept[i] = (struct facet){arena_text(arena, "%s", list[i].value), list[i].count};
    free(list);
    return kept;
}

int store_facets(struct reader *r, const struct filter *f, struct arena *arena, struct facets *out)
{
    struct shelf *s;
    *out = (struct facets){0};
    TRY(find_shelf(r, f, &s));
    if (s == NULL) return 0;
    out->hardware = count_column(r, s, f->trust, SHELF_HARDWARE, arena, &out->hardwares);
    out->framework = count_column(r, s, f->trust, SHELF_FRAMEWORK, arena, &out->frameworks);
    out->precision = count_column(r, s, f->trust, SHELF_PRECISION, arena, &out->precisions);
    out->author = count_column(r, s, f->trust, SHELF_AUTHOR, arena, &out->authors);
    return 0;
}
