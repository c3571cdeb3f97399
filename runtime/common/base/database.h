// SPDX-License-Identifier: Apache-2.0
// What every database of both programs needs: SQLite's errors as sentences, and tables that follow from a format number.
#ifndef DAWN_BASE_DATABASE_H
#define DAWN_BASE_DATABASE_H

#include "runtime/common/base/error.h"

#include <sqlite3.h>

// "cannot WHAT: PATH is locked by another program": ERR_DATABASE with the last error of `db` as a sentence.
int database_fail(sqlite3 *db, const char *path, const char *what);

// The tables of a kind of database. `sql` gives the statements that turn format n - 1 into format n; format 0 is empty.
struct database_kind {
    const char *name;  // "a results.db"
    int application_id, newest;
    const char *(*sql)(int64_t format);
};
// Fails unless the schema is, to the letter, that of the format: a stranger may have altered the file.
int database_check_schema(sqlite3 *db, const char *path, const struct database_kind *, int64_t format) MUST_CHECK;
// Converts the tables from `format` to the newest. The caller opens a transaction before and ends it after. `what` is for
// database_fail.
int database_add_formats(sqlite3 *db, const char *path, const struct database_kind *, int64_t format,
                         const char *what) MUST_CHECK;

#endif
