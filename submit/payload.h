// SPDX-License-Identifier: Apache-2.0
// Builds the statement of a run in results.db. Pure: the same record and words give the same bytes at any time on any machine, so
// that an interrupted submission can be repeated and is recognised. A record may come from a stranger: bad input is an error.
#pragma once

#include "submit/format/statement.h"
#include "submit/results/receipts.h"

// Texts that the submitter adds. NULL or "": none.
struct payload_words {
    const char *board;          // name of the scoreboard it is meant for
    const char *board_key;      // fingerprint of its key; NULL: unknown, and the board refuses the statement
    const char *handle;
    const char *team, *note, *code_url;
    const char *const *tags;    // in any order
    int tag_count;
    const char *supersedes;     // digest of the submitter's statement that this one replaces
    bool open;                  // the open division; runs of outside programs are always in it
    const char *competition, *salt;  // digest of the competition that the run enters, and 32 hex digits; NULL: none
};
int payload_check_words(const struct payload_words *) MUST_CHECK;  // ERR_USAGE names every text that cannot be published
int payload_run(struct results *, int64_t run, const struct payload_words *, struct statement *) MUST_CHECK;
// The tags in the order of statements: sorted, each once.
json_t *payload_tags(const char *const *tags, int count);
