// SPDX-License-Identifier: Apache-2.0
// The writer's lock and its transactions. Invariant: no two processes write or checkpoint at the same time, because each holds a
// lock on the key's file meanwhile (readers need none).
#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "runtime/common/base/clock.h"
#include "scoreboard/store/file/store_state.h"

enum { LOCK_TRIES = 1000, LOCK_WAIT_NS = 5000000 };

int store_enter(struct store *s)
{
    const struct timespec until = {.tv_sec = clock_unix_ms() / 1000 + STORE_WAIT_SECONDS};
    if (pthread_mutex_timedlock(&s->mutex, &until) == 0) return 0;
    return fail(ERR_DATABASE, "other statements have kept the record busy for %d s: send it again", STORE_WAIT_SECONDS);
}

int store_lock(struct store *s)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(s->lock, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno(ERR_DATABASE, errno, "cannot lock %s.key", s->path);
        nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
    return fail(ERR_DATABASE, "cannot write the record: %s is locked by another program", s->path);
}

void store_unlock(struct store *s)
{
    flock(s->lock, LOCK_UN);
}

int store_begin(struct store *s)
{
    TRY(store_lock(s));
    int rc = sql_do(&s->sql, "BEGIN IMMEDIATE", "");
    if (rc == 0) rc = sql_int(&s->sql, &s->stamp, 0, "SELECT version + 1 FROM meta", "");
    if (rc < 0) return store_end(s, rc);
    return 0;
}

int store_end(struct store *s, int rc)
{
    if (rc == 0) rc = sql_do(&s->sql, "UPDATE meta SET version = ?", "i", s->stamp);
    if (rc == 0) rc = sql_do(&s->sql, "COMMIT", "");  // may checkpoint, still under the lock
    if (rc != 0 && sqlite3_get_autocommit(s->sql.db) == 0) sqlite3_exec(s->sql.db, "ROLLBACK", NULL, NULL, NULL);
    store_unlock(s);
    return rc;
}
