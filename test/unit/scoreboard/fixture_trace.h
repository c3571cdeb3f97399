// SPDX-License-Identifier: Apache-2.0
// Counts how often SQL with a certain text is run, on every connection that is opened between trace_begin and trace_end.
#pragma once

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

enum { TRACED = 2 };
static const char *traced_text[TRACED];
static atomic_int traced[TRACED];

static inline int trace_count(unsigned event, void *to, void *statement, void *text)
{
    (void)event, (void)to, (void)text;
    const char *sql = sqlite3_sql(statement);
    for (int i = 0; i < TRACED; i++) traced[i] += traced_text[i] != NULL && strstr(sql, traced_text[i]) != NULL;
    return 0;
}

static inline int trace_connection(sqlite3 *db, char **message, const void *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, trace_count, NULL);
}

static inline void trace_reset(void)
{
    for (int i = 0; i < TRACED; i++) traced[i] = 0;
}

static inline void trace_begin(const char *text, const char *other)
{
    traced_text[0] = text, traced_text[1] = other;
    trace_reset();
    sqlite3_auto_extension((void (*)(void))trace_connection);
}

static inline void trace_end(void)
{
    sqlite3_reset_auto_extension();
}
