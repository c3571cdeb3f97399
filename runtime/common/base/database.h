// SPDX-License-Identifier: Apache-2.0
// What every database of both programs needs: SQLite's errors as sentences, and tables that follow from a format number.
#pragma once

#include "runtime/common/base/error.h"

#include <sqlite3.h>

// "cannot WHAT: PATH is locked by another program": ERR_DATABASE with the last error of `db` as a sentence.
int database_fail(sqlite3 *db, const char *path, const char *what);

struct database_kind {
    const char *name;    // "a results.db"
    const char *tables;  // the embedded file with its SQL
    int application_id, format;
};
// Fails unless the schema is the kind's to the letter: a stranger may have altered the file.
int database_check_schema(sqlite3 *db, const char *path, const struct database_kind *) MUST_CHECK;
// Makes the tables in an empty file, and nothing in a file that has them. The caller opens a transaction before and ends it
// after.
int database_make_tables(sqlite3 *db, const char *path, const struct database_kind *) MUST_CHECK;
