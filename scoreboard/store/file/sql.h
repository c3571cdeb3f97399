// SPDX-License-Identifier: Apache-2.0
// One hardened connection to the scoreboard's SQLite file, with its prepared statements. Only store*.c use it. The file
// may have been altered by a stranger: its schema must be exactly ours before anything else is read.
// Workload: about a hundred statements, repeated; each is prepared once per connection.
#pragma once

#include <sqlite3.h>
#include <stdarg.h>

#include "runtime/common/base/arena.h"

enum { SQL_FORMAT = 1, SQL_APPLICATION_ID = 0x44415742 /* "DAWB" */, SQL_READY = 224 };
enum sql_mode {
    SQL_WRITE,   // creates
    SQL_READ,    // the file must exist; never checkpoints
    SQL_SCRATCH  // an unnamed temporary database with the same tables
};
struct sql {
    sqlite3 *db;
    char *path;
    struct {
        const char *text;
        sqlite3_stmt *statement;
    } ready[SQL_READY];
    int ready_count;
};
int sql_open(const char *path, enum sql_mode, struct sql *) MUST_CHECK;
void sql_close(struct sql *);

// "cannot WHAT in PATH: why", the reason taken from the connection.
int sql_fail(struct sql *, const char *what);

// A statement ready to step; `text` must be a literal, for its address finds the prepared statement again. `types` has a
// letter per parameter: i int64_t, d double, t const char *, b struct sql_bytes. Texts and bytes are borrowed until sql_end.
struct sql_bytes {
    const void *at;
    size_t count;
};
int sql_start(struct sql *, sqlite3_stmt **, const char *text, const char *types, ...) MUST_CHECK;
int sql_next(struct sql *, sqlite3_stmt *) MUST_CHECK;  // 1: a row; 0: no more; negative: failed
void sql_end(sqlite3_stmt *);
int sql_do(struct sql *, const char *text, const char *types, ...) MUST_CHECK;
// The first column of the first row, or `otherwise` without a row.
int sql_int(struct sql *, int64_t *into, int64_t otherwise, const char *text, const char *types, ...) MUST_CHECK;

// The columns of a table, each named once: COLUMNS(C) is a list of C(kind, column, value), with the kinds of sql_start.
// SQL_INSERT adds a row, whose first column is `sequence`.
#define SQL_NAME(kind, column, value) ", " #column
#define SQL_MARK(kind, column, value) ", ?"
#define SQL_KIND(kind, column, value) #kind
#define SQL_VALUE(kind, column, value) , (SQL_TYPE_##kind){value}
#define SQL_REPLACE(kind, column, value) ", " #column " = excluded." #column  // in ON CONFLICT
#define SQL_TAKE(kind, column, value) value = SQL_TAKE_##kind(row, at++);     // of a row that was selected; texts as sql_text
#define SQL_TYPE_i int64_t
#define SQL_TYPE_d double
#define SQL_TYPE_t const char *
#define SQL_TYPE_b struct sql_bytes
#define SQL_TAKE_i sql_column
#define SQL_TAKE_d sqlite3_column_double
#define SQL_TAKE_t sql_text
#define SQL_INSERT(sql, table, sequence, COLUMNS)                                                                      \
    sql_do(sql, "INSERT INTO " table " (sequence" COLUMNS(SQL_NAME) ") VALUES (?" COLUMNS(SQL_MARK) ")",               \
           "i" COLUMNS(SQL_KIND), (int64_t){sequence} COLUMNS(SQL_VALUE))

int64_t sql_column(sqlite3_stmt *, int column);
const char *sql_text(sqlite3_stmt *, int column);                            // "" for NULL; until the next step
const char *sql_keep(sqlite3_stmt *, int column, struct arena *);            // a copy
