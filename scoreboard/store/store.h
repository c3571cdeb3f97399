// SPDX-License-Identifier: Apache-2.0
// The scoreboard's storage behind one header, so that another database can replace SQLite.
//
// The statements, with their exact bytes and a sequence number each, are the truth; rows of the boards are derived
// (ranking.h) and can be rebuilt from them. One connection does all writes and checkpoints, under a mutex; readers have
// a read-only connection each, one per thread. WAL, synchronous=FULL: acknowledged writes survive a power cut. Every statement is
// an entry of a Merkle tree, whose signed checkpoints are stored next to the record (store_tree.c).
// Workload: thousands of reads per second, some hundred statements per second at most, 10,000s of rows.
#pragma once

#include "scoreboard/rank/board.h"
#include "scoreboard/store/problem.h"
#include "scoreboard/store/store_competition.h"
#include "scoreboard/store/store_drawn.h"
#include "scoreboard/store/store_objection.h"
#include "scoreboard/store/store_ticket.h"
#include "submit/log/note.h"
#include "submit/log/tile.h"

struct store;   // the writer; thread-safe
struct reader;  // one thread's

enum store_mode {
    STORE_WRITE,  // creates the file, the server's key (FILE.key, 0600) and the log's checkpoint (FILE.checkpoint) if they are
                  // missing. ERR_DATABASE if the record is older than that checkpoint, or contradicts it
    STORE_READ,   // the file must exist
};
struct store_settings {
    const char *path, *origin;       // origin: the board's name, kept in the file; NULL: the file's, else one of its key
    int64_t submissions_per_hour;    // and person, of each type; 0: no limit; withdrawals and revocations have none
    bool new_log;                       // a log may begin under an existing key: of an empty record, or without a checkpoint
};
int store_open(const struct store_settings *, enum store_mode, struct store **) MUST_CHECK;
void store_close(struct store *);
const char *store_origin(const struct store *);
const struct sshkey *store_key(const struct store *);  // the server's, public
// Where the checkpoint of a lost record was moved, because a new one began in its place (`new_log`); NULL: there was none.
const char *store_set_aside(const struct store *);

// ---- writing
struct acceptance {
    enum problem problem;        // NONE: accepted
    bool again;                  // the same bytes were stored before: same receipt, nothing written
    char detail[ERROR_TEXT_MAX];
    struct findings findings;    // CHECKS: what failed; accepted: the flags
    int64_t sequence;
    int retry_after;             // seconds, for RATE
    char *receipt;               // canonical bytes; free() it
    char receipt_signature[SSHSIG_MAX];
};
// Decides about a well-formed, well-signed envelope: board, key, handle, checks, group, conflicts, ranking, receipt, in one
// durable transaction, then signs the checkpoint. Negative only if storage failed: then nothing was written, or, if only the
// checkpoint failed, the statement is stored without an answer, and the same bytes get its receipt later.
int store_accept(struct store *, const struct envelope *, int64_t now_ms, struct acceptance *) MUST_CHECK;
// The server itself revokes a key: a revoke statement signed by the server's key.
int store_revoke(struct store *, const char *key_id, const char *reason, int64_t now_ms, struct acceptance *) MUST_CHECK;

// A person's decision: an audit statement signed by the server's key.
struct decision {
    const char *verdict;     // of a run: "confirmed", or "withdrawn" if that no longer holds; of one that was drawn: "equal" or
                             // "differs"; of an objection: "upheld" or "dismissed"; of a competition: "cancelled"
    const char *about;       // digest of the statement; of a competition, its name will do
    const char *by, *reason;
    json_t *repeated;        // of equal and differs: the compared epochs; else NULL
};
int store_decide(struct store *, const struct decision *, int64_t now_ms, struct acceptance *) MUST_CHECK;

// Makes the request to a witness about the newest checkpoint (c2sp.org/tlog-witness): the entries that it cosigned before (`old`;
// negative: from its last answer here), the proof that the log has only grown since, and the checkpoint.
int store_witness_ask(struct store *, const struct note_witness *, int64_t old, struct text *request) MUST_CHECK;
// Reads its answer to such a request. A valid cosignature is then shown with that checkpoint and replaces the witness's earlier
// one.
int store_witness_take(struct store *, const struct note_witness *, const struct text *request, const struct text *answer,
                       struct checkpoint *, int64_t *unix_seconds) MUST_CHECK;

struct dawnbench_entry;  // dawnbench.h
// An entry of the same (task, kind, stem) is replaced.
int store_import(struct store *, const struct dawnbench_entry *const *, int count, int64_t now_ms) MUST_CHECK;

// Checks that a statement could be written now: the disk has space, and if the last write failed, a new one succeeds.
int store_writable(struct store *) MUST_CHECK;
int store_check(struct store *, int (*say)(void *, const char *sentence), void *, int *faults) MUST_CHECK;
int store_backup(struct store *, const char *to) MUST_CHECK;

// ---- reading. Texts and lists live in the arena; ERR_MISSING if there is no such thing.
int store_reader(struct store *, struct reader **) MUST_CHECK;
void store_reader_close(struct reader *);
int store_ready(struct reader *) MUST_CHECK;  // reads the rows of all boards now, instead of when they are first needed
int store_version(struct reader *, int64_t *version) MUST_CHECK;  // changes with every write; caches compare it

int store_entries(struct reader *, const struct filter *, struct arena *, struct entries *) MUST_CHECK;
// Every row that was the best of its board when it was accepted, oldest first.
int store_history(struct reader *, const struct filter *, struct arena *, struct entries *) MUST_CHECK;
// The newest uploads over all boards of a contest (NULL: of all contests but the demonstration), each by one of its rows: the
// group before its runs, training time before the other boards. Its accepted_ms is the time of the upload's last statement.
int store_newest(struct reader *, const struct contest *, enum trust least, int limit, struct arena *, struct entries *)
    MUST_CHECK;
// Rows of one statement, one group or one import (source text of the entry), on all boards.
int store_entries_of(struct reader *, const char *source, struct arena *, struct entries *) MUST_CHECK;
// The newest rows of a person, at most 100; `total` counts all.
int store_entries_by(struct reader *, const char *author, struct arena *, struct entries *) MUST_CHECK;
// The newest uploads of any contest and level whose author, team, model, hardware, framework or tags contain a text.
int store_search(struct reader *, const char *part, int limit, struct arena *, struct entries *) MUST_CHECK;

struct facet {
    const char *value;
    int64_t count;
};
struct facets {  // values in a board's entries at the filter's level of trust, most frequent first, at most 50 each
    struct facet *hardware, *framework, *precision, *author;
    int hardwares, frameworks, precisions, authors;
};
int store_facets(struct reader *, const struct filter *, struct arena *, struct facets *) MUST_CHECK;

struct stored {  // an accepted statement; in a list payload, signatures and receipt are ""
    int64_t sequence, accepted_ms;
    enum statement_type type;
    const char *digest, *payload, *signature, *countersignature;  // countersignature: "" when there is none
    size_t payload_count;
    const char *receipt, *receipt_signature;
    const char *key, *handle;          // fingerprint; whose
    const char *key_line;              // "ssh-ed25519 AAAA..."
    enum trust trust;                  // of a run
    int64_t withdrawn, superseded;     // sequence of the later statement; 0: it still counts
    const char *withdrawn_reason;
    const char *team, *note, *code_url, *tags;  // of a run, as last amended
    const char *group;                 // nonce, or ""
    struct findings *findings;         // flags of a run; NULL in a list
    int64_t reproduced_by;             // sequence of the run that did; 0
    int64_t revoked;                   // sequence of the statement that revoked its key since; 0
    const char *status;                // of a run without an end of its own: "failed" or "interrupted"; else ""
};
int store_statement(struct reader *, const char *id /* sequence or digest */, struct arena *, struct stored *) MUST_CHECK;
// The last audit of a run. ERR_MISSING if there is none.
int store_audit_of(struct reader *, const char *digest, struct arena *, struct stored *) MUST_CHECK;
// The log: statements after a sequence number, oldest first.
int store_log(struct reader *, int64_t after, int limit, struct arena *, struct stored **, int *count) MUST_CHECK;
// True if the person has a run of at least the level witnessed, which costs the time that it claims.
int store_has_standing(struct reader *, const char *handle, bool *) MUST_CHECK;
// The runs that say they repeat a run, from people with standing first, then the oldest, at most `limit`; superseded ones are
// left out. `head`: last hash of that run's points.
int store_replays(struct reader *, const char *head, int limit, struct arena *, struct stored **, int *count) MUST_CHECK;
// The run with that last hash of its points; superseded ones are left out. ERR_MISSING if there is none.
int store_run_of_head(struct reader *, const char *head, struct arena *, struct stored *) MUST_CHECK;
// The log as others check it (docs/log.md): the last checkpoint that was signed, size and root of the tree as it stands, and
// its tiles. ERR_MISSING for a tile that the tree does not have.
int store_checkpoint(struct store *, struct text *note) MUST_CHECK;
int store_tree_head(struct reader *, struct checkpoint *) MUST_CHECK;  // without its name
int store_tile(struct reader *, const struct tile *, struct text *) MUST_CHECK;
// From now on the reader sees one moment, and the checkpoint belongs to it.
int store_hold(struct store *, struct reader *, struct text *note, struct checkpoint *) MUST_CHECK;
// Runs of a group, by index; `planned` as they announced.
int store_group(struct reader *, const char *nonce, struct arena *, struct stored **, int *count, int *planned) MUST_CHECK;
// The part of a run that its group needs (ranking_brief), so that a thousand runs fit in memory. statement_free() ends it.
int store_group_run(struct reader *, int64_t sequence, struct statement *) MUST_CHECK;

struct person {
    const char *handle;
    struct person_key {
        const char *id, *line;
        int64_t since_sequence, revoked_sequence, replaced_sequence;  // 0: not
        const char *revoked_reason;
    } *keys;
    int key_count;
    struct stored *statements;  // newest first, at most 100
    int statement_count;
    int64_t next;               // those before this sequence are the next page; 0: this is the last
};
struct people {
    struct person_line {
        const char *handle;
        int64_t runs, newest;  // that still count; sequence of the newest run
    } *at;
    int count;
};
// Everybody whose handle contains a text, in any case; the last to submit first.
int store_people(struct reader *, const char *part, int limit, struct arena *, struct people *) MUST_CHECK;
int store_person(struct reader *, const char *handle, struct arena *, struct person *) MUST_CHECK;
// The same with a later page of statements: the ones before that sequence.
int store_person_before(struct reader *, const char *handle, int64_t before, struct arena *, struct person *) MUST_CHECK;
// Reads a fingerprint in an address: "SHA256:..." or its 43 digits alone. "/" may be written "%2F" (guard_target keeps those) or
// "_", and "+" may be written "-".
const char *store_key_id(const char *word, struct arena *);
int store_person_of_key(struct reader *, const char *key_id, struct arena *, struct person *) MUST_CHECK;

// Machines by their model: a GPU's or a processor's, as statements name it (ranking_machine). Nobody confirms such a name, so
// a run that states it is counted with the others.
struct machines {
    struct machine_line {
        const char *name, *word;       // "NVIDIA H200" as the first statement spells it, "nvidia-h200" in addresses
        int64_t entries, benches;      // uploads on boards, and measurements, that count
        int64_t newest_ms;
    } *at;                             // the last to change first
    int count;
    int64_t total;
    const char *next;                  // cursor of the next page; NULL: this is the last
};
// The page after a cursor, the `next` of an earlier page; NULL: the first page. A machine that changes meanwhile moves to the
// first page, and no other page shifts.
int store_machines(struct reader *, const char *before, int limit, struct arena *, struct machines *) MUST_CHECK;
// Its uploads on all boards at every level of trust, as store_newest; `total` counts all. ERR_MISSING: there is no such machine.
int store_machine(struct reader *, const char *word, int limit, struct arena *, struct machine_line *, struct entries *)
    MUST_CHECK;
struct benches {
    struct stored *at;  // with their payloads
    int count;
    int64_t next;       // those before this sequence are the next page; 0: this is the last
};
// Its measurements before a sequence number, the newest first: at most 50, and not many more bytes than 256 KiB.
int store_benches(struct reader *, const char *word, int64_t before, struct arena *, struct benches *) MUST_CHECK;

struct imported {
    const char *source, *task, *kind, *stem;  // kind: "train", "inference" or "history"
    const char *json, *tsv;                   // as they came, e-mail addresses taken out; "" where the kind has none
    const char *quirks;                       // irregularities in the source files, a line each
};
int store_imported(struct reader *, const char *source, struct arena *, struct imported *) MUST_CHECK;
// The entries of DAWNBench, for the export.
int store_imports(struct reader *, struct arena *, struct imported **, int *count) MUST_CHECK;
int imported_read(const struct imported *, const struct contest *, struct dawnbench_entry **) MUST_CHECK;  // the entry again

struct totals {
    int64_t statements, runs, groups, people, imports, newest_ms;
};
int store_totals(struct reader *, struct totals *) MUST_CHECK;
