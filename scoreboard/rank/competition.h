// SPDX-License-Identifier: Apache-2.0
// Competitions: what a competition's statement says, the operator's file that it is made of, and the order of the entries. Pure
// functions; the server's clock is an argument (docs/decisions/competitions.md).
#pragma once

#include <jansson.h>

#include "scoreboard/rank/board.h"

struct competition {
    const char *name, *title, *rules, *url;  // of the statement's JSON; url: "" if it names none
    const char *task, *ranked_by;            // as the statement says it
    const struct contest *contest;           // NULL: this program does not have its board
    enum board board;
    enum rank rank;
    int64_t target_micro;
    bool closed;         // runs of the closed division alone
    enum trust least;    // that gets a place
    int64_t begins_ms, commits_until_ms, reveals_until_ms;
};
// Takes the members of a statement whose shape is checked. ERR_INPUT if they do not fit each other or the boards of this program.
// Everything but the contest and the board is there even then.
int competition_take(const json_t *statement, struct competition *) MUST_CHECK;

// The times of the competition: each phase holds its first moment and not its last.
enum competition_phase { COMPETITION_AHEAD, COMPETITION_COMMITS, COMPETITION_REVEALS, COMPETITION_OVER };
enum competition_phase competition_phase(const struct competition *, int64_t now_ms);

// The pure, fuzzed parser of the operator's file: JSON of at most COMPETITION_FILE bytes with the members of the statement, times
// as "2026-12-01T12:00:00Z", "trust" (checked), "target_micro" (the board's own) and "url" may be absent. Gives those members of
// the statement; json_decref ends them. ERR_INPUT names the member.
enum { COMPETITION_FILE = 16 << 10 };
int competition_read(const char *bytes, size_t count, json_t **members) MUST_CHECK;

// A commitment, and what became of it.
struct contender {
    int64_t sequence, accepted_ms;  // of the commitment
    const char *handle;
    int runs, revealed, withdrawn;  // statements of the commitment; of them sent, and withdrawn since
    int64_t run;                    // sequence of a run that was sent; 0: none
    const char *group;              // nonce of its group, or ""
    int undecided, upheld;          // objections to its runs
    bool listed;                    // it has a row on the competition's board:
    struct entry entry;
    int64_t place;                  // 1 for the best; 0: none, and competition_mark says why
};
// Why a contender has no place, as far as the record says; "" if nothing does.
const char *competition_mark(const struct competition *, const struct contender *);
// Orders them: those with a place by value, equal values by the order of the commitments; then those without a place.
void competition_rank(const struct competition *, struct contender *, int count);
