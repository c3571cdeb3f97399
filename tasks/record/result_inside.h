// SPDX-License-Identifier: Apache-2.0
// The inside of an open results.db, for result*.c, record.c and export.c: the connection, and one way to run a statement.
#ifndef DAWN_TASKS_RESULT_INSIDE_H
#define DAWN_TASKS_RESULT_INSIDE_H

#include <sqlite3.h>

#include "tasks/record/result.h"

enum { RESULT_FORMAT = 2, RESULT_APPLICATION_ID = 0x4441574e /* "DAWN" */ };

struct results {
    sqlite3 *db;
    char *path;
    int64_t format;    // of the file: a reader meets old ones as they are, a writer has brought them to RESULT_FORMAT
    bool writes;
    int64_t started_ns, patience_ns;  // the statement that runs, and how long one may
    char owner[128];  // this process: boot, process number and its start, so that a later process can tell it has gone
};

// "Cannot WHAT in PATH: why", the reason taken from the connection.
int result_fail(struct results *, const char *what);

// Prepares and runs one statement. `types` has a letter a parameter: i int64_t, t text (NULL: SQL NULL),
// p int64_t that is SQL NULL unless positive.
int result_do(struct results *, const char *what, const char *sql, const char *types, ...) MUST_CHECK;
int result_begin_transaction(struct results *) MUST_CHECK;
// Commits when `rc` is 0, else rolls back and keeps the error already there; returns what came of it.
int result_end_transaction(struct results *, int rc) MUST_CHECK;

// Whether the process that wrote `owner` still runs, as far as this machine can tell.
bool result_owner_lives(const char *owner);

#endif
