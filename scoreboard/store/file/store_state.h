// SPDX-License-Identifier: Apache-2.0
// What all files of the storage share: the writer, a reader, a statement that is being accepted.
#ifndef DAWN_SCOREBOARD_STORE_STATE_H
#define DAWN_SCOREBOARD_STORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "scoreboard/rank/ranking.h"
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
    struct checkpoint newest;     // of what is durable
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
int store_begin(struct store *) MUST_CHECK;
int store_end(struct store *, int rc) MUST_CHECK;

// ---- store_apply.c: applies an accepted statement to the tables; the same code rebuilds them (store_check.c)
struct incoming {
    const struct statement *statement;
    const char *signature, *countersignature;  // "" when there is none
    char key[SSHKEY_ID], next_key[SSHKEY_ID];  // fingerprints; the latter of a rotation
    char key_line[SSHKEY_TEXT], next_line[SSHKEY_TEXT];
    char handle[64];                           // present or future owner of the key
    bool new_key;
    int64_t sequence, accepted_ms;
    const struct findings *findings;           // flags
    const char *receipt, *receipt_signature;
};
int store_apply(struct store *, const struct incoming *) MUST_CHECK;
// Digest of the terms that all runs of a group must share; "" outside groups.
int store_group_terms(const struct statement *, char hex[DIGEST_HEX]) MUST_CHECK;
const char *store_chain_head(const struct statement *);
// Digest of what a reproduction of the run repeats; "" for what cannot be reproduced.
int store_curve(const struct statement *, char hex[DIGEST_HEX]) MUST_CHECK;
// The first member that must not differ from the superseded statement but does; NULL: none.
const char *store_said_anew(const json_t *old, const json_t *run);
// Adds the findings of a statement's acceptance to `into`. Codes that this program does not know are left out.
int store_findings(struct sql *, int64_t sequence, struct findings *into) MUST_CHECK;

// ---- store_others.c: the checks of a run against earlier runs. `superseded`: the statement that this one replaces, or 0;
// `*foreign`: its group belongs to another person, and nothing else of the group has been checked.
int store_check_others(struct sql *, const struct statement *, const char *handle, int64_t superseded, int64_t accepted_ms,
                       struct findings *, bool *foreign) MUST_CHECK;
// ---- store_competition.c: what a competition takes. `at_ms` is the moment of acceptance. Statements that concern no competition
// pass. The statement is not in the record yet.
int store_competition_rule(struct sql *, const struct statement *, const char *handle, int64_t at_ms, struct ruling *) MUST_CHECK;
int store_competition_apply(struct store *, const struct incoming *) MUST_CHECK;
bool store_competition_decides(const struct statement *);  // a decision about a competition, not about a run
// store_entries.c: the row of a source on a competition's board. ERR_MISSING if it has none.
int store_entry_at(struct reader *, const char *source, const struct competition *, struct arena *, struct entry *) MUST_CHECK;

// ---- store_objection.c: the same of objections and of what was decided about them
int store_objection_rule(struct sql *, const struct statement *, const char *handle, int64_t at_ms, struct ruling *) MUST_CHECK;
// True if the person has a run or a measurement that was neither withdrawn nor replaced.
int store_stands(struct sql *, const char *handle, bool *stands) MUST_CHECK;
int store_objection_apply(struct store *, const struct incoming *) MUST_CHECK;
bool store_objection_decides(const struct statement *);
// Objections that were upheld against a run, whichever of its statements they name. Each counts as a flag.
int store_objection_flags(struct sql *, const char *nonce, int64_t *count) MUST_CHECK;
// Adds a finding for each of them to `into`. Later decisions change it, so it is no finding of the acceptance.
int store_objection_findings(struct sql *, int64_t run, struct findings *into) MUST_CHECK;

// ---- store_tree.c: the log's tree. In a transaction: ready, prove, then add (by store_apply); after its end, done.
int store_tree_ready(struct store *) MUST_CHECK;
int store_tree_prove(struct store *, struct receipt *) MUST_CHECK;  // of the statement that comes next
int store_tree_add(struct store *, const struct incoming *) MUST_CHECK;
void store_tree_done(struct store *, int rc);
// At the start, in a transaction: holds the record against the checkpoint.
int store_tree_open(struct store *, bool anew) MUST_CHECK;
// Returns when a checkpoint that has this statement is signed and durable. Not in a transaction.
int store_publish(struct store *, int64_t sequence) MUST_CHECK;
int store_publish_newest(struct store *) MUST_CHECK;
// The checkpoint beside a record, to be read before the record; ERR_MISSING: a copy has none. Whether it is a prefix of it.
int store_tree_signed(const struct store *, struct checkpoint *) MUST_CHECK;
int store_tree_holds(struct sql *, const struct checkpoint *, bool *holds) MUST_CHECK;

// The newest checkpoint as the board's key signed it, and the proof that the tree of `size` begins with that of `old`.
int store_signed_note(struct store *, struct text *note, struct checkpoint *) MUST_CHECK;
int store_tree_growth(struct store *, int64_t old, int64_t size, struct tree_hash proof[TREE_PROOF], int *count) MUST_CHECK;
int store_tree_hold(struct store *, struct reader *, struct text *note, struct checkpoint *) MUST_CHECK;  // as store_hold

// ---- store_entries.c: a reader's rows of boards
int store_catch_up(struct reader *) MUST_CHECK;
// The newest uploads with a row on a machine. `machines`: the machine of each number in the dictionary of hardware.
void store_uploads_on(struct reader *, const int *machines, int machine, int limit, struct arena *, struct entries *);

// ---- store_bench.c: measurements
int store_put_bench(struct store *, const struct incoming *) MUST_CHECK;
int store_withdraw_bench(struct store *, const struct incoming *) MUST_CHECK;  // does nothing if it is about another statement
int store_bench_figures(const struct statement *, char hex[DIGEST_HEX]) MUST_CHECK;
// Adds to statements of type bench what their own table says of them.
int store_bench_state(struct sql *, struct stored *, int count, struct arena *) MUST_CHECK;

// ---- store_ticket.c: the same of tickets
int store_ticket_rule(struct sql *, const char *board_key, const struct statement *, const char *handle, int64_t at_ms,
                      struct ruling *) MUST_CHECK;
int store_ticket_apply(struct store *, const struct incoming *) MUST_CHECK;
int store_ticket_read(struct sql *, const char *digest, struct arena *, struct ticket_stored *) MUST_CHECK;

// ---- store_own.c: a statement of the server itself. Takes over the reference. NULL: a text was not UTF-8.
int store_accept_own(struct store *, json_t *value, int64_t now_ms, struct acceptance *) MUST_CHECK;

// ---- store_rank.c: derived rows
int store_rank_run(struct store *, int64_t sequence) MUST_CHECK;
int store_rank_group(struct store *, const char *nonce) MUST_CHECK;
int store_rank_curve(struct store *, const char *curve) MUST_CHECK;
// Ranks anew the runs whose level this run may have changed: the one that it says it repeats, and those of its own group whose
// replays the group decides about. The caller ranks that group afterwards.
int store_rank_repeated(struct store *, int64_t sequence, const char *group) MUST_CHECK;
// What a run is to an earlier one whose curve it has, or which it says it repeats.
enum pair_verdict {
    PAIR_COPY,   // a copy, which repeats nothing
    PAIR_OTHER,  // it came to other figures
    PAIR_EXACT,
    PAIR_SCORE   // the group of the earlier run decides about its score
};
struct pair_judged {
    enum pair_verdict verdict;
    double score;  // 0 unless PAIR_SCORE
};
int store_judge_pair(struct sql *, int64_t sequence, int64_t by, struct pair_judged *) MUST_CHECK;  // reads both payloads
int store_payload(struct sql *, int64_t sequence, struct statement *) MUST_CHECK;  // of a statement of the record
int store_take_brief(sqlite3_stmt *, int column, struct statement *) MUST_CHECK;  // a statement without a payload
int store_put_entry(struct store *, const struct ranked *, int64_t target_micro) MUST_CHECK;
int store_drop_entries(struct store *, const char *source) MUST_CHECK;
int store_put_import(struct store *, const struct dawnbench_entry *, int64_t now_ms) MUST_CHECK;  // store_import.c

#endif
