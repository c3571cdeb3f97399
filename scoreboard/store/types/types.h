// SPDX-License-Identifier: Apache-2.0
// The types of statements. Each has a file with the columns of its table, its checks, and what it changes; types.c lists them.
// Invariant: the acceptance of a statement and its effects depend only on earlier statements and on the moment of acceptance. So
// store_check can repeat both.
#pragma once

#include "scoreboard/store/boards/store_boards.h"
#include "scoreboard/store/file/store_state.h"
#include "scoreboard/store/store.h"

struct store_type {
    bool own;         // only the board's own key signs it
    bool first;       // it may be the first statement of a key
    int quarters[2];  // of the hourly limit, for people without and with a run or a measurement here; 0: no limit
    // Decides if it may count: 0, RULED, or negative. Changes only in->findings. `out` is NONE before the call.
    int (*check)(struct store *, const struct incoming *, struct ruling *out);
    // Applies its effects, after it was stored and has its sequence number.
    int (*apply)(struct store *, const struct incoming *);
};
extern const struct store_type type_run, type_withdraw, type_amend, type_rotate, type_revoke, type_audit, type_bench,
    type_competition, type_commit, type_object, type_ticket, type_vouch, type_draw;
const struct store_type *store_type(enum statement_type);
// Stores a statement, with its entry in the log, and applies it. In a transaction.
int store_append(struct store *, const struct incoming *) MUST_CHECK;

// ---- about_run.c: shared by the types that concern a run. `statement` in the payload is its digest.
struct about_run {
    int64_t sequence;  // 0: it is no run
    char group[64], curve[DIGEST_HEX];
};
int about_run_check(struct store *, const struct incoming *, struct ruling *) MUST_CHECK;
int about_run_find(struct store *, const char *digest, struct about_run *) MUST_CHECK;
// Ranks it and what its level decides about. `repeated`: the runs that it repeats, too.
int about_run_rank(struct store *, const struct about_run *, bool repeated) MUST_CHECK;
// Ends an audit and ranks the run: the level again follows from the checks, from the board's stamps and from reproductions.
int about_run_unaudit(struct store *, const struct about_run *) MUST_CHECK;

// ---- run_others.c: a run compared with earlier runs. `superseded`: the statement that it replaces, or 0.
int run_others_check(struct store *, const struct incoming *, int64_t superseded, struct ruling *) MUST_CHECK;
// Compares a run with the runs that are there now, so that writers do not wait for it: the mutex is not held. NULL: they could
// not be read. free() ends it.
struct run_compared *run_others_compare(struct sql *, const struct statement *run, const char *handle);
// Digest of the terms that all runs of a group must share; "" outside groups.
int run_others_terms(const json_t *run, char hex[DIGEST_HEX]) MUST_CHECK;
// Digest of the facts that a reproduction of the run repeats; "" if it cannot be reproduced.
int run_others_curve(const struct statement *run, char hex[DIGEST_HEX]) MUST_CHECK;

// ---- drawn.c: after a statement was applied, what its checkpoint draws and what it made the best of a board
int drawn_after(struct store *, const struct incoming *) MUST_CHECK;
int drawn_show(struct store *, int64_t first) MUST_CHECK;  // readers read the rows of that run again
// True if the operator came to other figures; each such run has a flag, by any of its statements. Like type_object.c.
int drawn_flags(struct sql *, const char *nonce, int64_t *count) MUST_CHECK;
int drawn_findings(struct sql *, int64_t run, struct findings *into) MUST_CHECK;
// ---- run_pace.c: older runs that may be the original of a copy, because some of their points follow each other alike
enum { RUN_LIKELY = 16 };
struct run_likely {
    int count;
    int64_t at[RUN_LIKELY];  // sequences, the likeliest first
};
int run_pace_put(struct sql *, int64_t sequence, const json_t *run) MUST_CHECK;
// Only later statements than `after`. With `superseded`: only runs that are older than it.
int run_pace_find(struct sql *, const json_t *run, int64_t superseded, int64_t after, struct run_likely *) MUST_CHECK;

// ---- type_run.c
void type_run_tags(const json_t *statement, struct text *into);  // its words, with blanks between them

// ---- type_bench.c
int type_bench_withdraw(struct store *, const struct incoming *) MUST_CHECK;  // changes nothing if it is about a run
// Adds the columns of their own table to statements of type bench.
int type_bench_state(struct sql *, struct stored *, int count, struct arena *) MUST_CHECK;

// ---- type_competition.c
struct competition_opened {
    struct statement statement;  // the texts of `about` are its own; statement_free() ends it
    struct competition about;    // without a contest: this program does not have its board
    int64_t sequence, cancelled;
};
int type_competition_find(struct sql *, const char *digest, struct ruling *, struct competition_opened *) MUST_CHECK;
// ---- type_commit.c: a run that names a competition
int type_commit_check_run(struct store *, const struct incoming *run, struct ruling *) MUST_CHECK;

// ---- type_object.c
// True if the person has a run or a measurement that was neither withdrawn nor replaced.
int type_object_stands(struct sql *, const char *handle, bool *stands) MUST_CHECK;
// Objections that were upheld against a run, by any of its statements. Each counts as a flag.
int type_object_flags(struct sql *, const char *nonce, int64_t *count) MUST_CHECK;
// Adds a finding for each of them to `into`. Later decisions change it, so it is no finding of the acceptance.
int type_object_findings(struct sql *, int64_t run, struct findings *into) MUST_CHECK;

// ---- type_ticket.c: a run with a ticket of this board, or without the one that was issued for it
int type_ticket_check_run(struct store *, const struct incoming *run, struct ruling *) MUST_CHECK;
int type_ticket_apply_run(struct store *, const struct incoming *run) MUST_CHECK;
int type_ticket_read(struct sql *, const char *digest, struct arena *, struct ticket_stored *) MUST_CHECK;
