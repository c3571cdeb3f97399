// SPDX-License-Identifier: Apache-2.0
// The part of the storage's interface (store.h) for tickets (docs/decisions/tickets.md). A ticket is a statement; this file adds
// the beats that arrived during its run, and whether the run was reported.
#pragma once

#include "scoreboard/store/problem.h"
#include "submit/format/score/ticket.h"
#include "submit/format/statement.h"

struct arena;
struct store;
struct reader;

// A ticket without a run after so long counts as a failed run.
#define STORE_TICKET_MS ((int64_t)30 * 24 * 3600 * 1000)

struct beating {
    struct ruling ruling;  // NONE: stamped, now or before
    bool again;            // the same state came before
    int64_t stamped_ms;
};
// Stamps a state of the run that was announced by the ticket of that digest. Durable after 0.
int store_beat(struct store *, const char *digest, const struct ticket_beat *, int64_t now_ms, struct beating *) MUST_CHECK;
// After a run was accepted: if it has a ticket of this board and its clock agrees with the board's, the board says so with a
// statement of its own, once.
int store_vouch(struct store *, const struct statement *run, int64_t now_ms) MUST_CHECK;

struct ticket_stored {
    int64_t sequence, issued_ms;
    int64_t run;        // sequence of the newest statement of its run; 0: none
    int64_t vouched;    // sequence of the board's word; 0: none
    bool failed;        // no run in time: as of the newest statement of the record
    struct ticket_stamp *stamps;
    int stamp_count;
};
// ERR_MISSING if there is no such ticket.
int store_ticket(struct reader *, const char *digest, struct arena *, struct ticket_stored *) MUST_CHECK;
// The ticket of a group's run: its sequence, 0 if there is none.
int store_ticket_of_group(struct reader *, const char *nonce, int64_t index, int64_t *sequence) MUST_CHECK;
struct ticket_counts {
    int64_t announced;
    int64_t finished, failed, withdrawn;  // reported; failed: it did not come to its end, or that was not evaluated
    int64_t open, missing;                // without a run, not for long, and for longer than STORE_TICKET_MS
};
int store_tickets_by(struct reader *, const char *handle, struct ticket_counts *) MUST_CHECK;
// Finds for a run the sequence of its ticket, and of the statement in which the board says that the clocks agreed; 0: there is
// none.
int store_vouched_by(struct reader *, int64_t sequence, int64_t *ticket, int64_t *by) MUST_CHECK;
