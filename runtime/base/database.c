// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    return fail(ERR_DATABASE, "cannot %s: %s, or a file beside it, cannot be opened", what, path);
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
