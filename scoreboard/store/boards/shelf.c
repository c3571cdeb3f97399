// SPDX-License-Identifier: Apache-2.0
// Rows in memory. Invariant: every existing order holds every row, dead ones too (a cursor may point to one). All comparisons end
// with the row's id, so an order is total and a binary search finds exactly one row.
#include "scoreboard/store/boards/shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/common/base/hash.h"
#include "scoreboard/store/boards/entry_columns.h"

struct shelf_block {
    struct entry entry;
    size_t count;  // bytes of texts
    char texts[];
};

// The texts of an entry, as the list of columns has them.
#define COUNT_i
#define COUNT_d
#define COUNT_t +1
#define COUNT(kind, column, member) COUNT_##kind
#define POINT_i(member)
#define POINT_d(member)
#define POINT_t(member) &(member),
#define POINT(kind, column, member) POINT_##kind(member)
enum { TEXTS = 0 ENTRY_COLUMNS(COUNT) };

static void list_texts(struct entry *e, const char **texts[TEXTS])
{
    memcpy(texts, (const char **[]){ENTRY_COLUMNS(POINT)}, TEXTS * sizeof *texts);
}

// ---- dictionaries
static char *fold_case(const char *text)
{
    char *copy = copy_text(text);
    for (char *c = copy; *c != 0; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    return copy;
}

static int look_up(const struct shelf_names *names, const char *lower, unsigned *slot)
{
    unsigned mask = (unsigned)names->capacity * 2 - 1;
    for (*slot = hash_text32(lower) & mask; names->slots[*slot] >= 0; *slot = (*slot + 1) & mask)
        if (strcmp(names->at[names->slots[*slot]], lower) == 0) return names->slots[*slot];
    return -1;
}

static void grow_names(struct shelf_names *names)
{
    names->capacity = names->capacity > 0 ? names->capacity * 2 : 64;
    names->at = grow(names->at, (size_t)names->capacity * sizeof *names->at);
    names->slots = grow(names->slots, (size_t)names->capacity * 2 * sizeof *names->slots);
    for (int i = 0; i < names->capacity * 2; i++) names->slots[i] = -1;
    for (int i = 0; i < names->count; i++) {
        unsigned slot;
        look_up(names, names->at[i], &slot);
        names->slots[slot] = i;
    }
}

static int number_of(struct shelf_names *names, const char *text)
{
    if (names->count == names->capacity) grow_names(names);
    char *lower = fold_case(text);
    unsigned slot;
    int found = look_up(names, lower, &slot);
    if (found >= 0) {
        free(lower);
        return found;
    }
    names->slots[slot] = names->count;
    names->at[names->count] = lower;
    return names->count++;
}

int shelf_name(const struct library *library, enum shelf_column column, const char *text)
{
    const struct shelf_names *names = &library->names[column];
    if (names->count == 0) return -1;
    char *lower = fold_case(text);
    unsigned slot;
    int found = look_up(names, lower, &slot);
    free(lower);
    return found;
}

// ---- orders
const struct entry *shelf_entry(const struct shelf_row *row)
{
    return &row->block->entry;
}

static int sign_of(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_value(const struct shelf_row *a, const struct shelf_row *b)
{
    const struct entry *x = shelf_entry(a), *y = shelf_entry(b);
    int sign = sign_of(x->value, y->value);
    if (sign == 0) sign = (x->accepted_ms > y->accepted_ms) - (x->accepted_ms < y->accepted_ms);
    if (sign == 0) sign = (x->sequence > y->sequence) - (x->sequence < y->sequence);
    if (sign == 0) sign = strcmp(x->source, y->source);
    return sign != 0 ? sign : (a->id > b->id) - (a->id < b->id);
}

// What nobody but the signer computed can be made up in seconds, so it comes after the rest (docs/threats.md).
static int compare_proof(const struct shelf_row *a, const struct shelf_row *b)
{
    const bool x = a->trust >= TRUST_REPRODUCED, y = b->trust >= TRUST_REPRODUCED;
    return x != y ? y - x : compare_value(a, b);
}

// Both known: by their case-blind letters, then exactly.
static int compare_texts(const char *a, const char *b)
{
    int sign = strcasecmp(a, b);
    return sign != 0 ? sign : strcmp(a, b);
}

struct comparison {
    const struct shelf_row *rows;
    enum sort sort;
    bool descending;
};

// The sort key of a column, as two numbers or two texts; `known` is false without a value.
static int compare_column(const struct comparison *c, const struct entry *x, const struct entry *y, bool *x_known, bool *y_known)
{
    const char *a = NULL, *b = NULL;
    *x_known = *y_known = true;
    switch (c->sort) {
    case SORT_DATE: a = x->date, b = y->date; break;
    case SORT_AUTHOR: a = x->author, b = y->author; break;
    case SORT_MODEL: a = x->model, b = y->model; break;
    case SORT_HARDWARE: a = x->hardware, b = y->hardware; break;
    case SORT_FRAMEWORK: a = x->framework, b = y->framework; break;
    case SORT_COST:
        *x_known = x->cost >= 0, *y_known = y->cost >= 0;
        return sign_of(x->cost, y->cost);
    case SORT_ENERGY:
        *x_known = x->energy >= 0, *y_known = y->energy >= 0;
        return sign_of(x->energy, y->energy);
    case SORT_SCORE: return sign_of(x->accuracy, y->accuracy);  // every row has a score, because it met its target
    case SORT_TRUST: return (x->trust > y->trust) - (x->trust < y->trust);
    default: return 0;
    }
    *x_known = *a != 0, *y_known = *b != 0;
    return compare_texts(a, b);
}

static int compare_in_order(const struct comparison *c, const struct shelf_row *a, const struct shelf_row *b)
{
    if (c->sort == SORT_PROOF) return c->descending ? compare_proof(b, a) : compare_proof(a, b);
    if (c->sort == SORT_VALUE) return c->descending ? compare_value(b, a) : compare_value(a, b);
    bool a_known, b_known;
    int sign = compare_column(c, shelf_entry(a), shelf_entry(b), &a_known, &b_known);
    if (a_known != b_known) return a_known ? -1 : 1;
    if (a_known && sign != 0) return c->descending ? -sign : sign;
    return compare_value(a, b);
}

static int compare_numbers(const void *a, const void *b, void *comparison)
{
    const struct comparison *c = comparison;
    return compare_in_order(c, &c->rows[*(const int *)a], &c->rows[*(const int *)b]);
}

const int *shelf_in_order(struct shelf *s, enum sort sort, bool descending)
{
    struct shelf_order *order = &s->orders[sort][descending];
    if (order->at != NULL) return order->at;
    order->at = zalloc((size_t)(s->capacity + 1) * sizeof *order->at);
    for (int i = 0; i < s->count; i++) order->at[i] = i;
    struct comparison c = {s->rows, sort, descending};
    qsort_r(order->at, (size_t)s->count, sizeof *order->at, compare_numbers, &c);
    return order->at;
}

// The position of row `row`, present or not, among the first `count` of an order.
static int find_position(const struct shelf *s, const struct shelf_order *order, const struct comparison *c, int count, int row)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_in_order(c, &s->rows[order->at[middle]], &s->rows[row]) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Takes a row out of all orders (before it changes), or puts it in; `count` is the number of rows an order holds before.
static void reorder_row(struct shelf *s, int row, int count, bool in)
{
    for (int i = 0; i < SORTS * 2; i++) {
        struct shelf_order *order = &s->orders[i / 2][i % 2];
        struct comparison c = {s->rows, (enum sort)(i / 2), i % 2 != 0};
        if (order->at == NULL) continue;
        int at = find_position(s, order, &c, count, row);
        size_t after = (size_t)(count - at) * sizeof *order->at;
        BUG_IF(!in && (at == count || order->at[at] != row));
        if (in) memmove(order->at + at + 1, order->at + at, after);
        else memmove(order->at + at, order->at + at + 1, after - sizeof *order->at);
        if (in) order->at[at] = row;
    }
}

// ---- rows
static struct shelf_block *block_new(const struct entry *entry)
{
    size_t count = 0, used = 0, lengths[TEXTS];
    struct entry copy = *entry;
    const char **texts[TEXTS];
    list_texts(&copy, texts);
    for (int i = 0; i < TEXTS; i++) count += lengths[i] = strlen(*texts[i]) + 1;
    struct shelf_block *block = zalloc(sizeof *block + count);
    block->entry = copy;
    block->count = count;
    list_texts(&block->entry, texts);
    for (int i = 0; i < TEXTS; i++) {
        memcpy(block->texts + used, *texts[i], lengths[i]);
        *texts[i] = block->texts + used;
        used += lengths[i];
    }
    return block;
}

static int day_number(const char *date)
{
    int parts[3] = {0};
    for (int i = 0; i < 3; i++) {
        char *end;
        parts[i] = (int)strtol(date, &end, 10);
        if (end == date || parts[i] < 1 || parts[i] > 9999 || *end != (i < 2 ? '-' : 0)) return 0;
        date = end + 1;
    }
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

// An author of the archive is not the person with that name as a handle.
static const char *author_key(const struct entry *e, char into[FILTER_TEXT + 2])
{
    if (e->trust != TRUST_IMPORTED) return e->author;
    snprintf(into, FILTER_TEXT + 2, "%c%s", SHELF_ARCHIVE, e->author);
    return into;
}

static struct shelf_row row_of(struct library *library, bool alive, const struct entry *e)
{
    char author[FILTER_TEXT + 2];
    const char *const texts[SHELF_COLUMNS] = {e->hardware,  e->framework, author_key(e, author),
                                              e->model,     e->precision, e->division};
    struct shelf_row row = {
        .day = day_number(e->date), .alive = alive, .imported = e->trust == TRUST_IMPORTED, .trust = (unsigned char)e->trust,
        .id = e->id, .devices = e->devices, .views = e->views, .accepted_ms = e->accepted_ms, .block = block_new(e),
    };
    for (int i = 0; i < SHELF_COLUMNS; i++) row.name[i] = number_of(&library->names[i], texts[i]);
    return row;
}

int shelf_row_of(const struct shelf *s, int64_t id)
{
    if (id > s->newest_id) return -1;
    for (int i = 0; i < s->count; i++)
        if (s->rows[i].id == id) return i;
    return -1;
}

static void make_room_for_row(struct shelf *s)
{
    if (s->count < s->capacity) return;
    s->capacity = s->capacity > 0 ? s->capacity * 2 : 32;
    s->rows = grow(s->rows, (size_t)s->capacity * sizeof *s->rows);
    s->places = grow(s->places, (size_t)s->capacity * sizeof *s->places);
    s->checked = grow(s->checked, (size_t)s->capacity * sizeof *s->checked);
    for (int i = 0; i < SORTS * 2; i++) {
        struct shelf_order *order = &s->orders[i / 2][i % 2];
        if (order->at != NULL) order->at = grow(order->at, (size_t)(s->capacity + 1) * sizeof *order->at);
    }
}

struct shelf *shelf_find(struct library *library, const struct contest *contest, enum board board, enum rank rank, int64_t target)
{
    for (int i = 0; i < library->count; i++) {
        struct shelf *s = &library->shelves[i];
        if (s->contest == contest && s->board == board && s->rank == rank && s->target_micro == target) return s;
    }
    return NULL;
}

void library_put(struct library *library, const struct contest *contest, int64_t target_micro, bool alive,
                 const struct entry *entry)
{
    struct shelf *s = shelf_find(library, contest, entry->board, entry->order, target_micro);
    if (s == NULL) {
        library->shelves = grow(library->shelves, (size_t)(library->count + 1) * sizeof *library->shelves);
        s = &library->shelves[library->count++];
        *s = (struct shelf){.contest = contest, .board = entry->board, .rank = entry->order,
                            .target_micro = target_micro};
    }
    int row = shelf_row_of(s, entry->id);
    struct shelf_row fresh = row_of(library, alive, entry);
    if (row >= 0) {
        reorder_row(s, row, s->count, false);
        free(s->rows[row].block);
        s->rows[row] = fresh;
        reorder_row(s, row, s->count - 1, true);
    } else {
        make_room_for_row(s);
        s->rows[s->count] = fresh;
        reorder_row(s, s->count, s->count, true);
        s->count++;
        if (entry->id > s->newest_id) s->newest_id = entry->id;
    }
    s->placed = false;
}

static void place_rows(struct shelf *s)
{
    const int *order = shelf_in_order(s, SORT_PROOF, false);
    int position = 0, checked = 0;
    for (int i = 0; i < s->count; i++) {
        const struct shelf_row *row = &s->rows[order[i]];
        s->places[order[i]] = row->alive ? ++position : 0;
        s->checked[order[i]] = row->alive && row->trust >= TRUST_CHECKED ? ++checked : 0;
    }
    s->placed = true;
}

void shelf_ready(struct shelf *s)
{
    if (!s->placed) place_rows(s);
}

void shelf_copy(struct shelf *s, int row, bool among_all, struct arena *arena, struct entry *into)
{
    const struct shelf_block *block = s->rows[row].block;
    const char **texts[TEXTS];
    char *copy = arena_alloc(arena, block->count);
    memcpy(copy, block->texts, block->count);
    *into = block->entry;
    list_texts(into, texts);
    for (int i = 0; i < TEXTS; i++) *texts[i] = copy + (*texts[i] - block->texts);
    shelf_ready(s);
    into->rank = among_all || s->checked[row] == 0 ? s->places[row] : s->checked[row];
    into->board = s->board;
    into->order = s->rank;
}

void library_free(struct library *library)
{
    for (int i = 0; i < library->count; i++) {
        struct shelf *s = &library->shelves[i];
        for (int r = 0; r < s->count; r++) free(s->rows[r].block);
        for (int o = 0; o < SORTS * 2; o++) free(s->orders[o / 2][o % 2].at);
        free(s->rows);
        free(s->places);
        free(s->checked);
    }
    free(library->shelves);
    for (int i = 0; i < SHELF_COLUMNS; i++) {
        for (int n = 0; n < library->names[i].count; n++) free(library->names[i].at[n]);
        free(library->names[i].at);
        free(library->names[i].slots);
    }
    *library = (struct library){0};
}

// ---- filters
// The person of that name. Without one, or if the archive is requested, the author of the archive.
static int author_of(const struct library *library, const char *author, int source)
{
    char key[FILTER_TEXT + 2];
    snprintf(key, sizeof key, "%c%s", SHELF_ARCHIVE, author);
    int person = source == 2 ? -1 : shelf_name(library, SHELF_AUTHOR, author);
    int number = person >= 0 || source == 1 ? person : shelf_name(library, SHELF_AUTHOR, key);
    return number >= 0 ? number : -2;
}

void shelf_want(const struct library *library, const struct filter *f, struct shelf_wanted *wanted)
{
    const char *const texts[SHELF_COLUMNS] = {f->hardware, f->framework, f->author, f->model, f->precision, f->division};
    *wanted = (struct shelf_wanted){.filter = f, .since = day_number(f->since), .until = day_number(f->until),
                                    .source = f->source[0] == 0 ? 0 : strcmp(f->source, "dawn") == 0 ? 1 : 2};
    for (int i = 0; i < SHELF_COLUMNS; i++) {
        const struct shelf_names *names = &library->names[i];
        wanted->only[i] = -1;
        if (texts[i][0] == 0) continue;
        if (i == SHELF_AUTHOR) {
            wanted->only[i] = author_of(library, texts[i], wanted->source);
            continue;
        }
        if (texts[i][0] != '~') {
            int number = shelf_name(library, (enum shelf_column)i, texts[i]);
            wanted->only[i] = number >= 0 ? number : -2;
            continue;
        }
        char *part = fold_case(texts[i] + 1);
        wanted->names[i] = zalloc((size_t)(names->count + 1) * sizeof *wanted->names[i]);
        for (int n = 0; n < names->count; n++) wanted->names[i][n] = strstr(names->at[n], part) != NULL;
        free(part);
    }
}

void shelf_wanted_free(struct shelf_wanted *wanted)
{
    for (int i = 0; i < SHELF_COLUMNS; i++) free(wanted->names[i]);
}

bool shelf_matches(const struct shelf_wanted *w, const struct shelf_row *row)
{
    const struct filter *f = w->filter;
    if (!row->alive) return false;
    if (w->source != 0 && row->imported != (w->source == 2)) return false;
    if (f->devices > 0 && row->devices != f->devices) return false;
    if (f->devices_max > 0 && (row->devices > f->devices_max || row->devices == 0)) return false;
    if (f->views_max > 0 && (row->views > f->views_max || row->views == 0)) return false;
    if (f->energy_max > 0 && !(shelf_entry(row)->energy >= 0 && shelf_entry(row)->energy <= (double)f->energy_max)) return false;
    if (w->since > 0 && row->day < w->since) return false;
    if (w->until > 0 && (row->day > w->until || row->day == 0)) return false;
    for (int i = 0; i < SHELF_COLUMNS; i++) {
        if (w->only[i] != -1 && row->name[i] != w->only[i]) return false;
        if (w->names[i] != NULL && !w->names[i][row->name[i]]) return false;
    }
    return true;
}
