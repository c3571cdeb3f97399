// SPDX-License-Identifier: Apache-2.0
// A results.db in a folder of its own for each test, and a look into it past the record's own functions.
#pragma once

#include "test/unit/fixture_folder.h"
#include "test/unit/fixture_result.h"

#include <sqlite3.h>

static char db[96];

static inline int setup(void **state)
{
    assert_int_equal(enter(state), 0);
    snprintf(db, sizeof db, "%s/results.db", folder);
    return 0;
}

static inline struct results *open_db(enum results_mode mode)
{
    struct results *r;
    OK(results_open(db, mode, &r));
    return r;
}

// A record of one run.
static inline void make_one(void)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    fixture_run(r, &facts, (const int64_t[]){9500}, 1);
    results_close(r);
}

static inline int64_t number(struct results *r, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(result_connection(r), sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static inline void sql_from_outside(const char *sql)  // as any other program would
{
    sqlite3 *other;
    assert_int_equal(sqlite3_open(db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
}
