// SPDX-License-Identifier: Apache-2.0
// Opens results.db. The file may be foreign, so nothing in it is trusted: no triggers, no views, no extensions, and the
// schema must equal ours before anything else is read. A reader cannot prepare a statement that writes. Every statement has
// a limit of time and memory. The journal is SQLite's rollback journal, which is removed after each transaction, so the
// closed record is one file. Cost: a few milliseconds.
#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/database.h"
#include "submit/results/result_inside.h"

enum { TEXT_MOST = 16 << 20, HEAP_MOST = 256 << 20, PATIENCE_MS = 30000, OPERATIONS = 10000 };

int result_fail(struct results *r, const char *what)
{
    return database_fail(r->db, r->path, what);
}

static void bind_all(sqlite3_stmt *statement, const char *types, va_list values)
{
    for (int i = 1; types[i - 1] != 0; i++) {
        if (types[i - 1] == 't') {
            sqlite3_bind_text(statement, i, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
            continue;
        }
        int64_t value = va_arg(values, int64_t);
        if (types[i - 1] == 'p' && value <= 0) sqlite3_bind_null(statement, i);
        else sqlite3_bind_int64(statement, i, value);
    }
}

int result_do(struct results *r, const char *what, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, what);
    BUG_IF((size_t)sqlite3_bind_parameter_count(statement) != strlen(types));
    va_list values;
    va_start(values, types);
    bind_all(statement, types, values);
    va_end(values);
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) continue;
    int failed = rc != SQLITE_DONE ? result_fail(r, what) : 0;
    sqlite3_finalize(statement);
    return failed;
}

int result_begin_transaction(struct results *r)
{
    return result_do(r, "begin to write", "BEGIN IMMEDIATE", "");
}

int result_end_transaction(struct results *r, int rc)
{
    if (rc >= 0) rc = result_do(r, "write the record", "COMMIT", "");
    if (rc < 0) sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);  // keeps the first error
    return rc;
}

// Boot, process number and start time (field 22 of /proc/PID/stat). The name in field 2 may hold any characters; the last
// bracket of the line ends it.
static void owner_text(const char *pid, char *into, size_t capacity)
{
    char path[64], boot[64] = "", stat[1024] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) == NULL) boot[0] = '\0';
        fclose(file);
    }
    boot[strcspn(boot, "\n")] = '\0';
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(stat, sizeof stat, file) == NULL) stat[0] = '\0';
        fclose(file);
    }
    const char *at = strrchr(stat, ')');
    unsigned long long start = 0;
    char state = '?';
    if (at != NULL) {
        state = at[1] != 0 ? at[2] : '?';
        for (int field = 2; field < 22 && at != NULL; field++) at = strchr(at + 1, ' ');
        if (at != NULL) start = strtoull(at, NULL, 10);
    }
    if (state == 'Z' || state == 'X') start = 0;  // killed, but its parent has not collected it yet
    snprintf(into, capacity, "%s/%.20s/%llu", boot, pid, start);
}

bool result_owner_lives(const char *owner)
{
    char pid[24] = "", now[128];
    const char *slash = strchr(owner, '/');
    if (slash == NULL) return false;
    size_t digits = strspn(slash + 1, "0123456789");
    if (digits == 0 || digits >= sizeof pid || slash[1 + digits] != '/') return false;
    memcpy(pid, slash + 1, digits);
    owner_text(pid, now, sizeof now);
    return strcmp(owner, now) == 0;
}

static int number_of(struct results *r, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "open the record");
    int rc = sqlite3_step(statement);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    int failed = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : result_fail(r, "open the record");
    sqlite3_finalize(statement);
    return failed;
}

static const struct database_kind record_tables = {"a results.db", "submit/results/schema/tables.sql", RESULT_APPLICATION_ID,
                                                   RESULT_FORMAT};

// Makes the tables in an empty file, all or none. Another process may have done so meanwhile.
static int add_tables(struct results *r)
{
    TRY(result_begin_transaction(r));
    return result_end_transaction(r, database_make_tables(r->db, r->path, &record_tables));
}

static int check_file(struct results *r, enum results_mode mode)
{
    int64_t application = 0, format = 0, tables = 0;
    TRY(number_of(r, "SELECT count(*) FROM sqlite_schema", &tables));
    TRY(number_of(r, "PRAGMA application_id", &application));
    TRY(number_of(r, "PRAGMA user_version", &format));
    if (tables == 0 && application == 0 && format == 0) {
        if (mode == RESULTS_READ) return fail(ERR_DATABASE, "%s is empty: no run has been recorded in it", r->path);
        TRY(add_tables(r));
        application = RESULT_APPLICATION_ID, format = RESULT_FORMAT;
    }
    if (application != RESULT_APPLICATION_ID || format < 1)
        return fail(ERR_DATABASE, "%s is the database of another program, not a results.db", r->path);
    if (format != RESULT_FORMAT)
        return fail(ERR_DATABASE, "%s is a results.db of format %lld, and this DAWN reads format %d alone", r->path,
                    (long long)format, RESULT_FORMAT);
    return database_check_schema(r->db, r->path, &record_tables);
}

static int allow(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)a, (void)b, (void)c, (void)d;
    const struct results *r = context;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_PRAGMA: return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_REINDEX: return r->writes ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static int note_start(unsigned event, void *context, void *statement, void *sql)
{
    (void)event, (void)statement, (void)sql;
    struct results *r = context;
    r->started_ns = clock_ns();
    return 0;
}

static int is_late(void *context)
{
    const struct results *r = context;
    return clock_ns() - r->started_ns > r->patience_ns;
}

static void harden(struct results *r)
{
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_hard_heap_limit64(HEAP_MOST);
    sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
    sqlite3_limit(r->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(r->db, allow, r);
    r->patience_ns = PATIENCE_MS * INT64_C(1000000);
    sqlite3_trace_v2(r->db, SQLITE_TRACE_STMT, note_start, r);
    sqlite3_progress_handler(r->db, OPERATIONS, is_late, r);
    sqlite3_busy_timeout(r->db, 5000);
    sqlite3_extended_result_codes(r->db, 0);
}

// Marks runs and groups as interrupted if their process has ended without closing them (kill -9, a power cut). A process on
// another machine that shares the file seems to have ended, too. It restores its status when its run ends.
static int mark_gone(struct results *r, const char *select, const char *update)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, select, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "look for lost runs");
    int64_t *gone = NULL;
    int count = 0, rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *owner = (const char *)sqlite3_column_text(statement, 1);
        if (owner != NULL && result_owner_lives(owner)) continue;
        gone = grow(gone, (size_t)(count + 1) * sizeof *gone);
        gone[count++] = sqlite3_column_int64(statement, 0);
    }
    int failed = rc != SQLITE_DONE ? result_fail(r, "look for lost runs") : 0;
    sqlite3_finalize(statement);
    for (int i = 0; i < count && failed == 0; i++) failed = result_do(r, "mark a lost run", update, "i", gone[i]);
    free(gone);
    return failed;
}

static int prepare_to_write(struct results *r)
{
    if (sqlite3_db_readonly(r->db, "main") != 0)
        return fail(ERR_DATABASE, "%s is read-only: nothing can be written into it", r->path);
    TRY(check_file(r, RESULTS_WRITE));
    TRY(result_do(r, "set the journal", "PRAGMA journal_mode=DELETE", ""));
    TRY(result_do(r, "set the journal", "PRAGMA synchronous=FULL", ""));
    TRY(result_begin_transaction(r));  // also proves that the folder accepts a journal, before a run depends on it
    int rc = mark_gone(r, "SELECT id, owner FROM runs WHERE status = 'running'",
                       "UPDATE runs SET status = 'interrupted', message = 'the process ended unexpectedly' WHERE id = ?");
    if (rc == 0)
        rc = mark_gone(r, "SELECT id, owner FROM groups WHERE status = 'running'",
                       "UPDATE groups SET status = 'interrupted' WHERE id = ?");
    return result_end_transaction(r, rc);
}

const char *results_path(const char *path)
{
    if (path == NULL) path = getenv("DAWN_RESULTS");
    return path != NULL && *path != 0 ? path : "results.db";
}

int results_open(const char *path, enum results_mode mode, struct results **out)
{
    bool usual = path == NULL || strcmp(path, results_path(NULL)) == 0;
    path = results_path(path);
    *out = NULL;
    if (mode == RESULTS_READ && access(path, F_OK) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return fail_errno(ERR_DATABASE, errno, "cannot open the record: %s", path);
        return fail(ERR_DATABASE, "there is no record at %s: train something first, or name another file", path);
    }
    struct results *r = zalloc(sizeof *r);
    size_t length = strlen(path) + 3;
    r->path = zalloc(length);
    snprintf(r->path, length, "%s%s", path[0] == ':' ? "./" : "", path);  // SQLite would interpret ":memory:"
    if (!usual) text_add(&r->option, " --db "), text_quote(&r->option, r->path);
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    owner_text(pid, r->owner, sizeof r->owner);
    int flags = SQLITE_OPEN_READWRITE | (mode == RESULTS_WRITE ? SQLITE_OPEN_CREATE : 0);
    int rc = sqlite3_open_v2(r->path, &r->db, flags, NULL) == SQLITE_OK ? 0 : result_fail(r, "open the record");
    if (rc == 0) {
        r->writes = mode == RESULTS_WRITE;
        harden(r);
        // A reader opens the file for writing, too, because the journal of a killed process may have to be rolled back
        // first. After that it cannot change anything.
        if (mode == RESULTS_WRITE) rc = prepare_to_write(r);
        else rc = check_file(r, mode);
        if (rc == 0 && mode == RESULTS_READ) rc = result_do(r, "open the record", "PRAGMA query_only=1", "");
    }
    if (rc < 0) {
        results_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

int results_check(struct results *r)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, "PRAGMA integrity_check(1)", -1, &statement, NULL) != SQLITE_OK)
        return result_fail(r, "check the record");
    int rc = sqlite3_step(statement) == SQLITE_ROW ? 0 : result_fail(r, "check the record");
    if (rc == 0 && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        rc = fail(ERR_DATABASE, "cannot check the record: %s is damaged", r->path);
    sqlite3_finalize(statement);
    return rc;
}

void results_close(struct results *r)
{
    if (r == NULL) return;
    if (sqlite3_close(r->db) != SQLITE_OK) BUG("results.db closed with a statement left open");
    free(r->path);
    text_free(&r->option);
    free(r);
}

sqlite3 *result_connection(struct results *r)
{
    return r->db;
}

const char *result_file(const struct results *r)
{
    return r->path;
}

const char *result_option(const struct results *r)
{
    return r->option.at != NULL ? r->option.at : "";
}

const char *result_operand(const struct results *r)
{
    return r->option.at != NULL ? r->option.at + strlen(" --db") : "";
}

void result_nonce(char hex[33])
{
    unsigned char bytes[16];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(hex, 33, bytes, sizeof bytes);
}
