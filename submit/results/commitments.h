// SPDX-License-Identifier: Apache-2.0
// Commitments to competitions, kept in results.db before anything is sent: without these bytes a committed run could not be
// sent later. A commitment has one row for each of its runs.
#pragma once

#include "submit/results/record.h"

struct commitment {
    int64_t run;
    const char *competition, *name;  // digest of its statement, and what it is called
    const char *board, *server_key;  // name of the scoreboard, and fingerprint of its key
    const char *handle;
    const char *statement;           // digest of the payload
    const char *payload;             // canonical bytes of the run's statement
    int64_t made_ms;                 // of the commitment
};
// All of one commitment or nothing. ERR_DATABASE if a run has one to that competition already.
int commitments_add(struct results *, const struct commitment *, int count) MUST_CHECK;
// The rows of a competition by their runs, with sequence, receipt and signature once the board has accepted it.
int commitments_read(struct results *, const char *competition, json_t **rows) MUST_CHECK;
// A row of a run and a board, or NULL; json_decref ends it. `key` NULL: of any board.
int commitments_of_run(struct results *, int64_t run, const char *key, json_t **row) MUST_CHECK;
int commitments_accept(struct results *, const char *competition, int64_t sequence, const char *receipt, const char *signature)
    MUST_CHECK;
int commitments_drop(struct results *, const char *competition) MUST_CHECK;  // those that were not accepted
