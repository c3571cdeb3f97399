// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/embed.h"
#include "runtime/common/base/text.h"

// Says why the system refuses to open a file for reading and writing. SQLite does not keep the reason.
static int fail_to_open(const char *path, const char *what)
{
    struct stat info;
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL) snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &info) != 0 && errno == ENOENT)
        return fail(ERR_DATABASE, "cannot %s: there is no folder %s for %s", what, folder, path);
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return fail(ERR_DATABASE, "cannot %s: %s is a folder", what, path);
        if (access(path, R_OK) != 0) return fail_errno(ERR_DATABASE, errno, "cannot %s: %s", what, path);
    } else if (errno != ENOENT) {
        return fail_errno(ERR_DATABASE, errno, "cannot %s: %s", what, path);
    }
    if (access(folder, W_OK | X_OK) != 0) return fail_errno(ERR_DATABASE, errno, "cannot %s: folder %s", what, folder);
    return fail(ERR_DATABASE, "cannot %s: %s, or a file next to it, cannot be opened", what, path);
}

int database_fail(sqlite3 *db, const char *path, const char *what)
{
    struct stat info;
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail(ERR_DATABASE, "cannot %s: %s is locked by another program", what, path);
    case SQLITE_FULL:
        return fail(ERR_DATABASE, "cannot %s: no space left on the disk of %s", what, path);
    case SQLITE_READONLY:
        return fail(ERR_DATABASE, "cannot %s: %s, or its folder, is read-only", what, path);
    case SQLITE_NOTADB:
        return fail(ERR_DATABASE, "cannot %s: %s is not a database", what, path);
    case SQLITE_CORRUPT:
        return fail(ERR_DATABASE, "cannot %s: %s is damaged", what, path);
    case SQLITE_CANTOPEN:
        return fail_to_open(path, what);
    case SQLITE_IOERR:
        if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
            return fail(ERR_DATABASE, "cannot %s: %s is not a regular file", what, path);
        return fail(ERR_DATABASE, "cannot %s: the disk of %s reports an error", what, path);
    case SQLITE_INTERRUPT:
        return fail(ERR_DATABASE, "cannot %s: %s keeps SQLite busy for too long", what, path);
    default:
        return fail(ERR_DATABASE, "cannot %s in %s: %s", what, path, sqlite3_errmsg(db));
    }
}

// All rows of sqlite_schema as comparable text.
static int schema_text(sqlite3 *db, struct text *into)
{
    sqlite3_stmt *statement;
    const char *sql = "SELECT type || '|' || name || '|' || tbl_name || '|' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1";
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc != SQLITE_OK) return rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *row = (const char *)sqlite3_column_text(statement, 0);
        if (row == NULL) break;  // no memory for it
        text_add(into, "%s\n", row);
    }
    sqlite3_finalize(statement);
    return rc;
}

static const char *sql_of(const struct database_kind *kind)
{
    const struct embedded *file = embedded_find(kind->tables);
    if (file == NULL) BUG(kind->tables);
    return file->at;
}

// The schema that a file of this kind has.
static int pattern_text(const char *path, const struct database_kind *kind, struct text *into)
{
    sqlite3 *pattern;
    int rc = sqlite3_open(":memory:", &pattern);
    if (rc == SQLITE_OK) rc = sqlite3_exec(pattern, sql_of(kind), NULL, NULL, NULL);
    BUG_IF(rc == SQLITE_ERROR);  // the SQL is wrong
    if (rc == SQLITE_OK) rc = schema_text(pattern, into);
    sqlite3_close(pattern);
    return rc == SQLITE_DONE ? 0 : fail(ERR_DATABASE, "cannot check the schema of %s: %s", path, sqlite3_errstr(rc));
}

int database_check_schema(sqlite3 *db, const char *path, const struct database_kind *kind)
{
    struct text ours = {0}, theirs = {0};
    int rc = pattern_text(path, kind, &ours);
    if (rc < 0) (void)0;
    else if (schema_text(db, &theirs) != SQLITE_DONE) rc = database_fail(db, path, "read the schema");
    else if (theirs.at == NULL || strcmp(ours.at, theirs.at) != 0)
        rc = fail(ERR_DATABASE, "%s has been altered: its tables differ from %s of format %d", path, kind->name, kind->format);
    text_free(&ours);
    text_free(&theirs);
    return rc;
}

static int user_version(void *context, int columns, char **value, char **name)
{
    (void)columns, (void)name;
    *(int *)context = atoi(value[0]);
    return 0;
}

int database_make_tables(sqlite3 *db, const char *path, const struct database_kind *kind)
{
    char pragmas[96];
    int format = 0;
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d", kind->application_id, kind->format);
    bool bad = sqlite3_exec(db, "PRAGMA user_version", user_version, &format, NULL) != SQLITE_OK;
    if (!bad && format == 0)
        bad = sqlite3_exec(db, sql_of(kind), NULL, NULL, NULL) != SQLITE_OK ||
              sqlite3_exec(db, pragmas, NULL, NULL, NULL) != SQLITE_OK;
    return bad ? database_fail(db, path, "create the tables") : 0;
}
