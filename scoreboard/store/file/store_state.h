// SPDX-License-Identifier: Apache-2.0
// What all files of the storage share: the writer, a reader, a statement that is being accepted.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "scoreboard/store/file/sql.h"
#include "scoreboard/store/store.h"
#include "scoreboard/store/file/store_head.h"
#include "submit/log/proof.h"

struct store {
    struct sql sql;
    pthread_mutex_t mutex;
    char *path, *origin;
    int64_t submissions_per_hour;
    bool writes;
    int lock;                     // descriptor of the key file: held while this process writes
    struct sshkey_secret secret;  // zero for readers
    struct sshkey key;
    char key_id[SSHKEY_ID];
    int64_t stamp;                // meta.version that the open transaction will leave
    atomic_bool failed;           // the last write failed
    struct tree tree;             // of the log, as of the record's version `tree_version`
    int64_t tree_version;         // -1: not known
    pthread_mutex_t newest_lock;  // the next
    struct checkpoint newest;     // of the durable part
    pthread_mutex_t publishing;   // the next two; taken before `mutex`, never after it
    struct store_head head;
    int64_t published;            // size of the last checkpoint that was signed and is durable
    char *set_aside;              // the checkpoint of a lost record, when a new one began in its place; NULL
};
struct reader {
    struct sql sql;
    struct library *library;        // shelf.h
    int64_t data_version, version;  // SQLite's, and ours at that moment
    int64_t loaded;                 // the library holds everything up to this version
    struct machine_index *machines; // store_machine.c, in the next; NULL: not needed so far
    struct arena index;
};

// A transaction that excludes writes and checkpoints of other processes; the caller holds the mutex. store_end commits if `rc`
// is 0, else rolls back; it returns `rc` or its own error.
int store_enter(struct store *) MUST_CHECK;  // takes the mutex; ERR_DATABASE after STORE_WAIT_SECONDS, before clients give up
enum { STORE_WAIT_SECONDS = 4 };
int store_lock(struct store *) MUST_CHECK;  // without a transaction
void store_unlock(struct store *);
int store_begin(struct store *) MUST_CHECK;
int store_end(struct store *, int rc) MUST_CHECK;

// A statement that is being accepted, or that store_check repeats.
struct incoming {
    const struct statement *statement;
    const char *signature, *countersignature;  // "" when there is none
    char key[SSHKEY_ID], next_key[SSHKEY_ID];  // fingerprints; the latter of a rotation
    char key_line[SSHKEY_TEXT], next_line[SSHKEY_TEXT];
    char handle[64];                           // present or future owner of the key
    bool new_key;
    bool own;                                  // signed with the key of the board
    int64_t sequence, accepted_ms;
    struct findings *findings;                 // flags; checks add to them
    const char *receipt, *receipt_signature;
    const struct run_compared *compared;       // found before the mutex was locked; NULL: nothing
};
