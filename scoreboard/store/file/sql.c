// SPDX-License-Identifier: Apache-2.0
// Opens the record and runs statements on it. WAL with synchronous=FULL. A reader is read-only and never checkpoints: SQLite
// 3.40.1 can lose a commit if one connection checkpoints while another writes (store.c excludes that between processes). Cost:
// some milliseconds to open, microseconds per statement.
#include "scoreboard/store/file/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/database.h"

int sql_fail(struct sql *s, const char *what)
{
    return database_fail(s->db, s->path, what);
}

static int prepare_statement(struct sql *s, const char *text, sqlite3_stmt **out)
{
    for (int i = 0; i < s->ready_count; i++) {
        if (s->ready[i].text != text) continue;
        *out = s->ready[i].statement;
        return 0;
    }
    BUG_IF(s->ready_count == SQL_READY);
    if (sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
        return sql_fail(s, "read the record");
    s->ready[s->ready_count].text = text;
    s->ready[s->ready_count++].statement = *out;
    return 0;
}

static int start_with(struct sql *s, sqlite3_stmt **out, const char *text, const char *types, va_list values)
{
    TRY(prepare_statement(s, text, out));
    BUG_IF((size_t)sqlite3_bind_parameter_count(*out) != strlen(types));
    BUG_IF(sqlite3_stmt_busy(*out));
    for (int i = 1; types[i - 1] != 0; i++) {
        struct sql_bytes bytes;
        switch (types[i - 1]) {
        case 'i': sqlite3_bind_int64(*out, i, va_arg(values, int64_t)); break;
        case 'd': sqlite3_bind_double(*out, i, va_arg(values, double)); break;
        case 't': sqlite3_bind_text(*out, i, va_arg(values, const char *), -1, SQLITE_STATIC); break;
        case 'b':
            bytes = va_arg(values, struct sql_bytes);
            sqlite3_bind_blob64(*out, i, bytes.at, bytes.count, SQLITE_STATIC);
            break;
        default: BUG("there is no such kind of parameter");
        }
    }
    return 0;
}

int sql_start(struct sql *s, sqlite3_stmt **out, const char *text, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int rc = start_with(s, out, text, types, values);
    va_end(values);
    return rc;
}

// SQLite counts BEGIN and COMMIT as reading, too.
static bool is_reading(struct sql *s, sqlite3_stmt *statement)
{
    const char *text = sqlite3_sql(statement);
    bool ends = strncmp(text, "BEGIN", 5) == 0 || strncmp(text, "COMMIT", 6) == 0;
    return sqlite3_stmt_readonly(statement) != 0 && (!ends || sqlite3_db_readonly(s->db, "main") == 1);
}

int sql_next(struct sql *s, sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) return 1;
    if (rc == SQLITE_DONE) return 0;
    rc = sql_fail(s, is_reading(s, statement) ? "read the record" : "write the record");
    sqlite3_reset(statement);
    return rc;
}

void sql_end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int sql_do(struct sql *s, const char *text, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int rc = start_with(s, &statement, text, types, values);
    va_end(values);
    TRY(rc);
    while ((rc = sql_next(s, statement)) > 0) continue;
    sql_end(statement);
    return rc;
}

int sql_int(struct sql *s, int64_t *into, int64_t otherwise, const char *text, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, types);
    int rc = start_with(s, &statement, text, types, values);
    va_end(values);
    TRY(rc);
    rc = sql_next(s, statement);
    *into = rc > 0 ? sqlite3_column_int64(statement, 0) : otherwise;
    sql_end(statement);
    return rc < 0 ? rc : 0;
}

int64_t sql_column(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_int64(statement, column);
}

const char *sql_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text != NULL ? text : "";
}

const char *sql_keep(sqlite3_stmt *statement, int column, struct arena *arena)
{
    const char *text = sql_text(statement, column);
    size_t count = (size_t)sqlite3_column_bytes(statement, column);
    char *kept = arena_alloc(arena, count + 1);
    memcpy(kept, text, count);
    return kept;
}

// ---- opening
static void harden_connection(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(db, 5000);
}

static const struct database_kind scoreboard_tables = {"a scoreboard", "scoreboard/store/file/schema/tables.sql",
                                                       SQL_APPLICATION_ID, SQL_FORMAT};

// Makes the tables in an empty file, all or none. Another process may have done so meanwhile.
static int add_tables(struct sql *s)
{
    TRY(sql_do(s, "BEGIN IMMEDIATE", ""));
    int rc = database_make_tables(s->db, s->path, &scoreboard_tables);
    if (rc == 0) rc = sql_do(s, "COMMIT", "");
    if (rc < 0) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static int check_file(struct sql *s, enum sql_mode mode)
{
    int64_t application, format, tables;
    TRY(sql_int(s, &tables, 0, "SELECT count(*) FROM sqlite_schema", ""));
    TRY(sql_int(s, &application, 0, "PRAGMA application_id", ""));
    TRY(sql_int(s, &format, 0, "PRAGMA user_version", ""));
    if (tables == 0 && application == 0 && format == 0 && mode != SQL_READ) {
        TRY(add_tables(s));
        application = SQL_APPLICATION_ID, format = SQL_FORMAT;
    }
    if (application != SQL_APPLICATION_ID) return fail(ERR_DATABASE, "%s is not a scoreboard's record", s->path);
    if (format != SQL_FORMAT)
        return fail(ERR_DATABASE, "%s is a scoreboard's record of format %lld; this dawn-scoreboard knows format %d alone",
                    s->path, (long long)format, SQL_FORMAT);
    return database_check_schema(s->db, s->path, &scoreboard_tables);
}

static int prepare_to_write(struct sql *s)
{
    if (sqlite3_db_readonly(s->db, "main") != 0)
        return fail(ERR_DATABASE, "%s is read-only: nothing can be written to it", s->path);
    TRY(check_file(s, SQL_WRITE));  // before any change: the file may belong to another program
    TRY(sql_do(s, "PRAGMA journal_mode=WAL", ""));
    return sql_do(s, "PRAGMA synchronous=FULL", "");
}

static int open_connection(const char *path, enum sql_mode mode, struct sql *s)
{
    if (mode == SQL_READ && access(path, F_OK) != 0)
        return fail(ERR_DATABASE, "there is no record at %s: name the file with --db, or start the server once", path);
    size_t length = strlen(path) + 3;
    s->path = zalloc(length);
    snprintf(s->path, length, "%s%s", path[0] == ':' ? "./" : "", path);  // SQLite gives ":memory:" another meaning
    int flags = mode == SQL_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return sql_fail(s, "open the record");
    harden_connection(s->db);
    if (mode == SQL_READ) sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return mode == SQL_WRITE ? prepare_to_write(s) : check_file(s, mode);
}

int sql_open(const char *path, enum sql_mode mode, struct sql *s)
{
    *s = (struct sql){0};
    int rc = open_connection(mode == SQL_SCRATCH ? "" : path, mode, s);
    if (rc < 0) sql_close(s);
    return rc;
}

void sql_close(struct sql *s)
{
    for (int i = 0; i < s->ready_count; i++) sqlite3_finalize(s->ready[i].statement);
    if (sqlite3_close(s->db) != SQLITE_OK) BUG("the record was closed with a statement left open");
    free(s->path);
    *s = (struct sql){0};
}
