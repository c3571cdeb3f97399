// SPDX-License-Identifier: Apache-2.0
// The log's tree: its hashes in the record, and the checkpoints that are signed of it. Invariant: the record is first, the
// checkpoint after it. A statement, its entry and its hashes are one transaction; when that is durable, the checkpoint is signed
// and made durable; only then is the receipt answered. So every signed tree is a prefix of the record, and a record of
// which that is not true is not served.
//
// Several threads write one checkpoint: the first one writes the newest there is, and those whose statements it has find
// nothing left to do.
// Workload: some hundred statements a second. Cost: a row and a few hashes in the statement's transaction, then one fdatasync.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/file.h"
#include "scoreboard/store/tree/store_tree.h"

static void receipt_of(const struct store *s, const struct incoming *in, struct receipt *r)
{
    *r = (struct receipt){.sequence = in->sequence, .accepted_ms = in->accepted_ms};
    if (s->origin != NULL) snprintf(r->board, sizeof r->board, "%s", s->origin);
    memcpy(r->payload, in->statement->digest, DIGEST_HEX);
    memcpy(r->signer, in->key, SSHKEY_ID);
}

// ---- hashes out of the record
static int fetch_hashes(void *context, const struct tile *t, unsigned char bytes[TILE_BYTES])
{
    struct sql *sql = context;
    sqlite3_stmt *row;
    int count = 0, rc;
    TRY(sql_start(sql, &row, "SELECT hash FROM hashes WHERE level = ? AND number >= ? ORDER BY number LIMIT ?", "iii",
                  (int64_t)t->level, t->number * TILE_WIDTH, (int64_t)t->width));
    while ((rc = sql_next(sql, row)) > 0 && sqlite3_column_bytes(row, 0) == TREE_HASH)
        memcpy(bytes + (size_t)count++ * TREE_HASH, sqlite3_column_blob(row, 0), TREE_HASH);
    sql_end(row);
    if (rc < 0) return rc;
    return count == t->width ? 0 : fail(ERR_DATABASE, "%s has been altered: hashes of its log are missing", sql->path);
}

static int count_leaves(struct sql *sql, int64_t *size)
{
    TRY(sql_int(sql, size, 0, "SELECT max(number) + 1 FROM hashes WHERE level = 0", ""));
    if (*size >= 0 && *size <= TREE_MOST) return 0;
    return fail(ERR_DATABASE, "%s has been altered: its log cannot have %lld entries", sql->path, (long long)*size);
}

static int root_at(struct sql *sql, int64_t size, struct tree_hash *root)
{
    struct tile_reader tiles = {.size = size, .fetch = fetch_hashes, .context = sql};
    const struct tree_source source = tile_source(&tiles);
    int rc = tree_root_at(&source, size, root);
    tile_reader_free(&tiles);
    return rc;
}

static int load_tree(struct store *s)
{
    int64_t size;
    TRY(count_leaves(&s->sql, &size));
    struct tile_reader tiles = {.size = size, .fetch = fetch_hashes, .context = &s->sql};
    const struct tree_source source = tile_source(&tiles);
    int rc = tree_load(&source, size, &s->tree);
    tile_reader_free(&tiles);
    return rc;
}

// ---- within a transaction
int store_tree_ready(struct store *s)
{
    if (s->tree_version == s->stamp - 1) return 0;  // nothing was written since
    s->tree_version = -1;
    TRY(load_tree(s));
    s->tree_version = s->stamp - 1;
    return 0;
}

int store_tree_prove(struct store *s, struct receipt *r)
{
    if (s->tree.size != r->sequence - 1)
        return fail(ERR_DATABASE, "%s has been altered: its log has %lld entries, and the next statement is %lld", s->path,
                    (long long)s->tree.size, (long long)r->sequence);
    proof_fill(r, &s->tree, &s->secret);
    return 0;
}

int store_tree_add(struct store *s, const struct incoming *in)
{
    struct receipt receipt;
    struct tree_hash leaf, tops[TREE_TOPS];
    receipt_of(s, in, &receipt);
    proof_leaf(&receipt, &leaf);
    const int count = tree_add(&s->tree, &leaf, tops);
    for (int level = 0; level < count; level++)
        TRY(sql_do(&s->sql, "INSERT INTO hashes (level, number, hash) VALUES (?, ?, ?)", "iib", (int64_t)level,
                   (s->tree.size >> (8 * level)) - 1, (struct sql_bytes){tops[level].at, TREE_HASH}));
    return 0;
}

static void take_newest(struct store *s)
{
    pthread_mutex_lock(&s->newest_lock);
    note_origin(s->origin, s->newest.origin);
    s->newest.size = s->tree.size;
    tree_root(&s->tree, &s->newest.root);
    pthread_mutex_unlock(&s->newest_lock);
}

void store_tree_done(struct store *s, int rc)
{
    if (rc < 0) s->tree_version = -1;
    if (rc != 0) return;
    s->tree_version = s->stamp;
    take_newest(s);
}

// ---- checkpoints
// What was signed must be a prefix of the record.
static int check_signed(struct store *s, const struct checkpoint *head)
{
    char origin[NOTE_NAME];
    struct tree_hash root;
    int64_t size;
    TRY(count_leaves(&s->sql, &size));
    if (strcmp(head->origin, note_origin(s->origin, origin)) != 0)
        return fail(ERR_DATABASE, "%s is of the log %s, not of %s", s->head.path, head->origin, origin);
    if (head->size > size)
        return fail(ERR_DATABASE, "the record %s is older than the last checkpoint that its board signed (%s): it has %lld "
                    "statements, the checkpoint has %lld; a log never gets shorter: put the newer record back", s->path,
                    s->head.path, (long long)size, (long long)head->size);
    TRY(root_at(&s->sql, head->size, &root));
    if (tree_same(&root, &head->root)) return 0;
    return fail(ERR_DATABASE, "the record %s contradicts the last checkpoint that its board signed (%s): its first %lld "
                              "statements differ; put the right record back", s->path, s->head.path, (long long)head->size);
}

static int write_head(struct store *s, const struct checkpoint *newest)
{
    char signature[NOTE_SIGNATURE];
    struct text note = {0};
    note_write(newest, note_sign(newest, &s->secret, signature), &note);
    int rc = store_head_write(&s->head, note.at);
    text_free(&note);
    return rc;
}

// Another process (an audit, a revocation) may have signed one in between; it is in the same record then.
static int publish_locked(struct store *s, const struct checkpoint *newest)
{
    struct checkpoint head;
    TRY(store_head_read(&s->head, &s->key, &head, NULL));
    if (head.size != s->published) {
        pthread_mutex_lock(&s->mutex);
        int rc = check_signed(s, &head);
        pthread_mutex_unlock(&s->mutex);
        TRY(rc);
    }
    if (head.size < newest->size) TRY(write_head(s, newest));
    s->published = head.size < newest->size ? newest->size : head.size;
    return 0;
}

static int publish_newest(struct store *s)
{
    pthread_mutex_lock(&s->newest_lock);
    const struct checkpoint newest = s->newest;
    pthread_mutex_unlock(&s->newest_lock);
    TRY(store_head_lock(&s->head));
    int rc = publish_locked(s, &newest);
    store_head_unlock(&s->head);
    return rc;
}

int store_publish(struct store *s, int64_t sequence)
{
    pthread_mutex_lock(&s->publishing);
    int rc = s->published >= sequence ? 0 : publish_newest(s);
    pthread_mutex_unlock(&s->publishing);
    return rc;
}

int store_publish_newest(struct store *s)
{
    pthread_mutex_lock(&s->newest_lock);
    const int64_t size = s->newest.size;
    pthread_mutex_unlock(&s->newest_lock);
    return store_publish(s, size);
}

// ---- at the start
static int make_head(struct store *s)
{
    char signature[NOTE_SIGNATURE];
    struct text note = {0};
    take_newest(s);
    note_write(&s->newest, note_sign(&s->newest, &s->secret, signature), &note);
    int rc = store_head_make(s->path, note.at);
    text_free(&note);
    s->published = s->newest.size;
    return rc == 0 ? store_head_open(s->path, true, &s->head) : rc;
}

// What was signed of a lost record stays as proof, and is never written over.
static int set_aside(struct store *s)
{
    struct text aside = {0};
    text_add(&aside, "%s.old", s->head.path);
    int rc = 0;
    if (file_exists(aside.at))
        rc = fail(ERR_IO, "%s is there already, of an earlier loss: move it elsewhere, so that %s can take its name", aside.at,
                  s->head.path);
    else if (rename(s->head.path, aside.at) != 0)
        rc = fail_errno(ERR_IO, errno, "cannot rename %s to %s", s->head.path, aside.at);
    else s->set_aside = copy_text(aside.at);
    text_free(&aside);
    return rc;
}

// An empty log needs no checkpoint yet.
static int open_head(struct store *s, bool new_log)
{
    struct checkpoint head;
    int rc = store_head_open(s->path, true, &s->head);
    if (rc == ERR_MISSING) {
        if (s->tree.size == 0 || new_log) return make_head(s);
        return fail(ERR_MISSING, "the checkpoint %s.checkpoint is missing: it says what this board has signed; put it back "
                    "(or, if it is lost and this record is the newest there is, start once with --new)", s->path);
    }
    TRY(rc);
    TRY(store_head_read(&s->head, &s->key, &head, NULL));
    if (new_log && s->tree.size == 0) {  // the old record is lost, and a new one was requested
        if (head.size > 0) TRY(set_aside(s));
        store_head_close(&s->head);
        return make_head(s);
    }
    TRY(check_signed(s, &head));
    s->published = head.size;
    take_newest(s);
    return 0;
}

int store_tree_open(struct store *s, bool new_log)
{
    int64_t statements;
    s->tree_version = -1;
    TRY(sql_int(&s->sql, &statements, 0, "SELECT max(sequence) FROM statements", ""));
    TRY(load_tree(s));
    if (s->tree.size != statements)
        return fail(ERR_DATABASE, "%s has been altered: it has %lld statements, and its log %lld entries", s->path,
                    (long long)statements, (long long)s->tree.size);
    return open_head(s, new_log);
}

// ---- reading
int store_signed_note(const struct store *s, struct text *note, struct checkpoint *head)
{
    struct store_head file;
    TRY(store_head_open(s->path, false, &file));
    int rc = store_head_read(&file, &s->key, head, note);
    store_head_close(&file);
    return rc;
}

int store_tree_growth(struct store *s, int64_t old, int64_t size, struct tree_hash proof[TREE_PROOF], int *count)
{
    struct tile_reader tiles = {.size = size, .fetch = fetch_hashes, .context = &s->sql};
    const struct tree_source source = tile_source(&tiles);
    int rc = tree_prove_growth(&source, old, size, proof, count);
    tile_reader_free(&tiles);
    return rc;
}

int store_tree_head(struct reader *r, struct checkpoint *head)
{
    TRY(count_leaves(&r->sql, &head->size));
    return root_at(&r->sql, head->size, &head->root);
}

static int read_entries(struct reader *r, const struct tile *t, struct text *into)
{
    sqlite3_stmt *row;
    struct text entry = {0};
    int rc;
    TRY(sql_start(&r->sql, &row, "SELECT sequence, accepted_ms, digest, key FROM statements WHERE sequence > ? ORDER BY sequence "
                  "LIMIT ?", "ii", t->number * TILE_WIDTH, (int64_t)t->width));
    while ((rc = sql_next(&r->sql, row)) > 0) {
        struct receipt receipt = {.sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 1)};
        unsigned char head[2];
        snprintf(receipt.payload, sizeof receipt.payload, "%s", sql_text(row, 2));
        snprintf(receipt.signer, sizeof receipt.signer, "%s", sql_text(row, 3));
        entry.length = 0;
        proof_entry(&receipt, &entry);
        BUG_IF(!tile_entry_head(entry.length, head));
        text_bytes(into, head, sizeof head);
        text_bytes(into, entry.at, entry.length);
    }
    sql_end(row);
    text_free(&entry);
    return rc;
}

int store_tile(struct reader *r, const struct tile *t, struct text *into)
{
    unsigned char bytes[TILE_BYTES];
    char path[TILE_PATH];
    int64_t size;
    TRY(count_leaves(&r->sql, &size));
    if (!tile_exists(t, size)) return fail(ERR_MISSING, "the log does not have %s yet", tile_write_path(t, path));
    if (t->level == TILE_ENTRIES) return read_entries(r, t, into);
    TRY(fetch_hashes(&r->sql, t, bytes));
    text_bytes(into, bytes, (size_t)t->width * TREE_HASH);
    return 0;
}

// A statement becomes readable a moment before its checkpoint is signed.
static int hold_once(struct store *s, struct reader *r, struct text *note, struct checkpoint *head, bool *same)
{
    int64_t size;
    note->length = 0;
    TRY(store_signed_note(s, note, head));
    TRY(sql_do(&r->sql, "BEGIN", ""));
    int rc = count_leaves(&r->sql, &size);
    *same = rc == 0 && size == head->size;
    if (!*same) sqlite3_exec(r->sql.db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int store_tree_hold(struct store *s, struct reader *r, struct text *note, struct checkpoint *head)
{
    enum { TRIES = 500, WAIT_NS = 2000000 };
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) {
        if (i > 0) nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
        TRY(hold_once(s, r, note, head, &same));
    }
    if (same) return 0;
    return fail(ERR_DATABASE, "the record %s and its checkpoint are of different moments: \"dawn-scoreboard serve\" signs one",
                s->path);
}

int store_tree_holds(struct sql *sql, const struct checkpoint *head, bool *holds)
{
    struct tree_hash root;
    int64_t size;
    TRY(count_leaves(sql, &size));
    *holds = head->size <= size;
    if (!*holds) return 0;
    TRY(root_at(sql, head->size, &root));
    *holds = tree_same(&root, &head->root);
    return 0;
}
