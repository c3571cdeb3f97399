// SPDX-License-Identifier: Apache-2.0
// SQLite's errors as sentences, for every database of both programs.
#ifndef DAWN_BASE_DATABASE_H
#define DAWN_BASE_DATABASE_H

#include "runtime/base/error.h"

#include <sqlite3.h>

// "cannot WHAT: PATH is locked by another program": ERR_DATABASE with the last error of `db` as a sentence.
int database_fail(sqlite3 *db, const char *path, const char *what);

#endif
