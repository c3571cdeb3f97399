// SPDX-License-Identifier: Apache-2.0
// Opens and closes the record, reads the server's key, and makes copies.
#include "scoreboard/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "runtime/common/base/whole.h"
#include "scoreboard/store/store_inside.h"

enum { KEY_FILE_MAX = 16384 };

int store_writable(struct store *s)
{
    const int64_t least = 4 << 20;  // some statements of the largest size, with their rows and the log
    struct statvfs disk;
    if (statvfs(s->path, &disk) == 0 && disk.f_blocks > 0 && (int64_t)disk.f_bavail * (int64_t)disk.f_frsize < least)
        return fail(ERR_DATABASE, "cannot write the record: no space left on the disk of %s", s->path);
    if (!atomic_load(&s->failed)) return 0;
    pthread_mutex_lock(&s->mutex);
    int rc = store_begin(s);
    if (rc == 0) rc = store_end(s, 0);
    pthread_mutex_unlock(&s->mutex);
    if (rc == 0) rc = store_publish_newest(s);
    atomic_store(&s->failed, rc < 0);
    return rc;
}

// ---- the server's key
static int write_new_key(const char *path, struct sshkey_secret *secret)
{
    sshkey_new(secret, "dawn-scoreboard");
    char *text = sshkey_write_secret(secret);
    size_t length = strlen(text);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc = 0;
    if (file < 0) rc = fail_errno(ERR_IO, errno, "cannot create the server's key %s", path);
    else if (write(file, text, length) != (ssize_t)length || fsync(file) != 0) {
        rc = fail_errno(ERR_IO, errno, "cannot write the server's key %s", path);
        unlink(path);
    }
    if (file >= 0) close(file);
    if (rc == 0) whole_sync_folder(path);  // before the record names the key: a record without its key cannot be opened
    sshkey_wipe(text, length);
    free(text);
    return rc;
}

static int read_key(const char *path, struct sshkey_secret *secret)
{
    char *bytes;
    size_t count;
    struct stat info;
    if (stat(path, &info) == 0 && (info.st_mode & 077) != 0)
        return fail(ERR_IO, "others may read the server's key %s; restrict it with chmod 600", path);
    TRY(file_read(path, KEY_FILE_MAX, &bytes, &count));
    int rc = sshkey_read_secret(bytes, count, secret);
    sshkey_wipe(bytes, count);
    free(bytes);
    return rc < 0 ? fail_prefix(rc, "the server's key %s: ", path) : 0;
}

// A key without its record has signed receipts that a new record would contradict. The record was lost, or a disk is missing.
static int refuse_lost_record(const struct store *s)
{
    size_t capacity = strlen(s->path) + 8;
    char *path = zalloc(capacity);
    snprintf(path, capacity, "%s.key", s->path);
    int rc = 0;
    if (file_exists(path))
        rc = fail(ERR_MISSING, "the key %s is there, but its record %s is missing or empty: put a backup back, or begin a new "
                  "record under the old key with --new (as after a first start that was interrupted)", path, s->path);
    free(path);
    return rc;
}

// A record remembers its key, so a lost or exchanged file is noticed before another key signs a receipt.
static int open_key(struct store *s, const char *known)
{
    size_t capacity = strlen(s->path) + 8;
    char *path = zalloc(capacity);
    snprintf(path, capacity, "%s.key", s->path);
    int rc = 0;
    if (!file_exists(path)) {
        if (*known != 0) rc = fail(ERR_MISSING, "the server's key %s is missing; receipts are signed with it: put it back", path);
        else rc = write_new_key(path, &s->secret);
    }
    if (rc == 0) rc = read_key(path, &s->secret);
    if (rc == 0) s->lock = open(path, O_RDONLY | O_CLOEXEC);
    if (rc == 0 && s->lock < 0) rc = fail_errno(ERR_IO, errno, "cannot open the server's key %s", path);
    if (rc == 0) {
        char line[SSHKEY_TEXT];
        s->key = s->secret.key;
        s->key.comment[0] = 0;
        if (*known != 0 && strcmp(sshkey_line(&s->key, line), known) != 0)
            rc = fail(ERR_DATABASE, "%s is not the key that signed the receipts in %s", path, s->path);
    }
    free(path);
    return rc;
}

// ---- opening
// A board without a given name gets a unique one, so that its statements are valid for no other board.
static const char *own_origin(const struct store *s, char into[32])
{
    char hex[DIGEST_HEX];
    digest_bytes(s->key.at, sizeof s->key.at, hex);
    snprintf(into, 32, "board-%.12s", hex);
    return into;
}

static int add_meta(struct store *s, const char *origin)
{
    char line[SSHKEY_TEXT], id[SSHKEY_ID], own[32];
    TRY(open_key(s, ""));
    if (origin == NULL) origin = own_origin(s, own);
    sshkey_line(&s->key, line);
    TRY(store_lock(s));
    int64_t rows;
    int rc = sql_do(&s->sql, "BEGIN IMMEDIATE", "");
    if (rc == 0) rc = sql_int(&s->sql, &rows, 0, "SELECT count(*) FROM meta", "");
    if (rc == 0 && rows == 0)
        rc = sql_do(&s->sql, "INSERT INTO meta (id, origin, server_key, version) VALUES (1, ?, ?, 1)", "tt", origin, line);
    if (rc == 0 && rows == 0)
        rc = sql_do(&s->sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, '', 0)", "tt", sshkey_id(&s->key, id),
                    line);
    if (rc == 0) rc = sql_do(&s->sql, "COMMIT", "");
    if (rc < 0 && sqlite3_get_autocommit(s->sql.db) == 0) sqlite3_exec(s->sql.db, "ROLLBACK", NULL, NULL, NULL);
    store_unlock(s);
    return rc;
}

static bool origin_is_plain(const char *origin)
{
    size_t length = strlen(origin);
    return length >= 1 && length <= 63 &&
           strspn(origin, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") == length;
}

static int read_meta(struct store *s, const char *wanted)
{
    sqlite3_stmt *row;
    char line[SSHKEY_TEXT] = "";
    TRY(sql_start(&s->sql, &row, "SELECT origin, server_key FROM meta", ""));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) {
        s->origin = copy_text(sql_text(row, 0));
        snprintf(line, sizeof line, "%s", sql_text(row, 1));
    }
    sql_end(row);
    TRY(rc);
    if (rc == 0) return fail(ERR_DATABASE, "%s has been altered: it does not name its board", s->path);
    if (wanted != NULL && strcmp(wanted, s->origin) != 0)
        return fail(ERR_DATABASE, "%s is the record of the board \"%s\", not of \"%s\"", s->path, s->origin, wanted);
    TRY(sshkey_read_line(line, strlen(line), &s->key));
    sshkey_id(&s->key, s->key_id);
    return s->writes && s->lock < 0 ? open_key(s, line) : 0;
}

// Asks SQLite if the file is damaged. `check` is quick_check(1), or integrity_check(1), which also compares the indexes with
// their tables. Cost: 0.15 s and 0.4 s for 11,000 runs (120 MB).
static int find_damage(struct sql *sql, const char *check, const char *path, const char *so)
{
    sqlite3_stmt *row;
    TRY(sql_start(sql, &row, check, ""));
    int rc = sql_next(sql, row);
    bool damaged = rc > 0 ? strcmp(sql_text(row, 0), "ok") != 0 : (sqlite3_errcode(sql->db) & 0xff) == SQLITE_CORRUPT;
    sql_end(row);
    if (damaged) return fail(ERR_DATABASE, "the record %s is damaged%s", path, so);
    return rc < 0 ? rc : 0;
}

static int open_tree(struct store *s, bool new_log)
{
    enum { UNCHANGED = 1 };
    TRY(store_begin(s));
    int rc = store_tree_open(s, new_log);
    rc = store_end(s, rc == 0 ? UNCHANGED : rc);
    return rc < 0 ? rc : store_publish(s, s->tree.size);
}

static int open_inside(struct store *s, const struct store_settings *settings)
{
    const char *origin = settings->origin;
    int64_t rows;
    if (origin != NULL && !origin_is_plain(origin))
        return fail(ERR_USAGE, "a board's name has 1 to 63 letters, digits or . _ + -; got \"%.80s\"", origin);
    TRY(sql_open(s->path, s->writes ? SQL_WRITE : SQL_READ, &s->sql));
    if (s->writes)  // additions to a damaged file may be lost
        TRY(find_damage(&s->sql, "PRAGMA quick_check(1)", s->path,
                        ": put a backup in its place (\"dawn-scoreboard check\" names the faults)"));
    TRY(sql_int(&s->sql, &rows, 0, "SELECT count(*) FROM meta", ""));
    if (rows == 0 && !s->writes) return fail(ERR_DATABASE, "%s is empty: no server has been started with it", s->path);
    if (rows == 0 && !settings->new_log) TRY(refuse_lost_record(s));
    if (rows == 0) TRY(add_meta(s, origin));
    TRY(read_meta(s, origin));
    return s->writes ? open_tree(s, settings->new_log) : 0;
}

int store_open(const struct store_settings *settings, enum store_mode mode, struct store **out)
{
    *out = NULL;
    if (sodium_init() < 0) BUG("libsodium finds no random numbers");
    struct store *s = zalloc(sizeof *s);
    s->path = copy_text(settings->path);
    s->writes = mode == STORE_WRITE;
    s->submissions_per_hour = settings->submissions_per_hour;
    s->lock = s->head.file = -1;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_mutex_init(&s->newest_lock, NULL);
    pthread_mutex_init(&s->publishing, NULL);
    int rc = open_inside(s, settings);
    if (rc < 0) {
        store_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void store_close(struct store *s)
{
    if (s == NULL) return;
    bool locked = s->lock >= 0 && store_lock(s) == 0;  // closing the last connection checkpoints
    if (s->sql.db != NULL) sql_close(&s->sql);
    if (locked) store_unlock(s);
    if (s->lock >= 0) close(s->lock);
    store_head_close(&s->head);
    pthread_mutex_destroy(&s->mutex);
    pthread_mutex_destroy(&s->newest_lock);
    pthread_mutex_destroy(&s->publishing);
    sshkey_wipe(&s->secret, sizeof s->secret);
    free(s->set_aside);
    free(s->origin);
    free(s->path);
    free(s);
}

const char *store_origin(const struct store *s)
{
    return s->origin;
}

const struct sshkey *store_key(const struct store *s)
{
    return &s->key;
}

const char *store_set_aside(const struct store *s)
{
    return s->set_aside;
}

// ---- a copy
static int copy_pages(const char *path, sqlite3 *to)
{
    struct sql from;
    TRY(sql_open(path, SQL_READ, &from));
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from.db, "main");
    int rc = 0;
    if (backup == NULL || sqlite3_backup_step(backup, -1) != SQLITE_DONE)  // one step: one consistent moment
        rc = fail(ERR_DATABASE, "cannot copy the record %s: %s", path, sqlite3_errmsg(to));
    if (backup != NULL && sqlite3_backup_finish(backup) != SQLITE_OK && rc == 0)
        rc = fail(ERR_DATABASE, "cannot copy the record %s: %s", path, sqlite3_errmsg(to));
    // A finished copy is one file, without the two others of WAL.
    if (rc == 0 && sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
        rc = fail(ERR_DATABASE, "cannot copy the record %s: %s", path, sqlite3_errmsg(to));
    sql_close(&from);
    return rc;
}

// SQLite copies damaged pages, too; they must not replace the last good backup.
static int check_copy(const char *path, const char *of)
{
    struct sql copy;
    TRY(sql_open(path, SQL_READ, &copy));
    int rc = find_damage(&copy, "PRAGMA integrity_check(1)", of, "; no copy was kept");
    sql_close(&copy);
    return rc;
}

static int sync_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (file < 0 || fsync(file) != 0) rc = fail_errno(ERR_IO, errno, "cannot write %s", path);
    if (file >= 0) close(file);
    return rc;
}

int store_backup(struct store *s, const char *to)
{
    if (file_exists(to)) return fail(ERR_IO, "%s is there already; a backup never overwrites a file", to);
    size_t capacity = strlen(to) + 16;
    char *part = zalloc(capacity);
    snprintf(part, capacity, "%s.%ld.part", to, (long)getpid());
    sqlite3 *copy = NULL;
    int rc = 0;
    if (sqlite3_open_v2(part, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE, NULL) != SQLITE_OK)
        rc = fail(ERR_IO, "cannot write %s: %s", part, sqlite3_errmsg(copy));
    if (rc == 0) rc = copy_pages(s->path, copy);
    sqlite3_close(copy);
    if (rc == 0) rc = check_copy(part, s->path);
    if (rc == 0) rc = sync_file(part);
    if (rc == 0 && link(part, to) != 0)  // unlike rename, never replaces a file that appeared meanwhile
        rc = fail_errno(ERR_IO, errno, "cannot write %s", to);
    unlink(part);
    if (rc == 0) whole_sync_folder(to);
    free(part);
    return rc;
}
