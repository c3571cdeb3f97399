// SPDX-License-Identifier: Apache-2.0
// The rows of all boards in one reader's memory, in every possible order. SQLite holds the truth. A shelf holds one board at one
// target and catches up row by row. So a page costs no sort and no query, a filter over 10,000 rows reads a few small numbers
// per row, and the position of a row in the whole board is known. Workload: 10,000s of rows, thousands of pages a second, some
// hundred changes a second. Cost: about 0.6 KB per row, some 50 us for a page of a board of 10,000 rows. Only one thread uses a
// library.
#pragma once

#include "scoreboard/rank/board.h"

// Columns of text that filters compare, each with a dictionary of its own.
enum { SHELF_ARCHIVE = 1 };  // before the name of an author of the archive, in the dictionary alone
enum shelf_column { SHELF_HARDWARE, SHELF_FRAMEWORK, SHELF_AUTHOR, SHELF_MODEL, SHELF_PRECISION, SHELF_DIVISION, SHELF_COLUMNS };
struct shelf_names {
    char **at;  // in lower case, numbered in order of arrival
    int *slots; // open addressing, -1: free
    int count, capacity;
};
struct shelf_row {
    int name[SHELF_COLUMNS];
    int day;  // 20260131; 0: not known
    bool alive, imported;
    unsigned char trust;
    int64_t id, devices, views, accepted_ms;
    struct shelf_block *block;  // the entry and its texts
};
struct shelf_order {
    int *at;  // numbers of rows; NULL: not needed so far
};
struct shelf {
    const struct contest *contest;
    enum board board;
    enum rank rank;
    int64_t target_micro, newest_id;
    struct shelf_row *rows;
    int count, capacity;
    struct shelf_order orders[SORTS][2];  // ascending, descending; unknown values last in both
    int *places, *checked;                // of each row among the living; among the checked living ones, 0: not checked
    bool placed;
};
struct library {
    struct shelf *shelves;
    int count;
    struct shelf_names names[SHELF_COLUMNS];
};
void library_free(struct library *);
// A new row or a newer form of one, on the entry's board in its order; the entry's texts are copied.
void library_put(struct library *, const struct contest *, int64_t target_micro, bool alive, const struct entry *);

// NULL: no such row ever existed.
struct shelf *shelf_find(struct library *, const struct contest *, enum board, enum rank, int64_t target_micro);
const int *shelf_in_order(struct shelf *, enum sort, bool descending);
void shelf_ready(struct shelf *);  // works out the board's own order and places now, instead of when they are first needed
const struct entry *shelf_entry(const struct shelf_row *);
// A copy in the arena with its position among the checked rows if it has one, else among all rows.
void shelf_copy(struct shelf *, int row, bool among_all, struct arena *, struct entry *into);
int shelf_row_of(const struct shelf *, int64_t id);  // -1: none
// The number of a text in a column's dictionary; -1: no row ever had it.
int shelf_name(const struct library *, enum shelf_column, const char *text);

// A filter made ready: `free` it with shelf_wanted_free.
struct shelf_wanted {
    bool *names[SHELF_COLUMNS];  // NULL: any
    int only[SHELF_COLUMNS];     // else this one; -1: any; -2: nothing matches
    const struct filter *filter;
    int since, until;
    int source;                  // 0: any, 1: dawn, 2: dawnbench
};
void shelf_want(const struct library *, const struct filter *, struct shelf_wanted *);
bool shelf_matches(const struct shelf_wanted *, const struct shelf_row *);  // at any level of trust
void shelf_wanted_free(struct shelf_wanted *);
