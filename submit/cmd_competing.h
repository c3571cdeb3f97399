// SPDX-License-Identifier: Apache-2.0
// dawn submit --competition: commits to runs before a deadline, and sends exactly those after it. Unlike libraries, it prints.
#pragma once

#include "submit/cmd_sending.h"
#include "submit/submission.h"

struct competing {
    struct statement statement;  // of the competition, signed by the board's key
    const char *name;            // within it, as the next
    bool group;                  // an entry is a group
    int64_t commits_until_ms, reveals_until_ms;
    char salt[33];               // for a commitment that is made now
    json_t *rows;                // what the record has of an earlier one (commitments.h)
};
// Asks the board for the competition and checks that the board signed it. competing_close ends it, also after an error.
int competing_open(struct sending *, struct results *, const char *name, struct competing *) MUST_CHECK;
void competing_close(struct competing *);
bool competing_has_rows(const struct competing *);
// Checks that the runs may enter: they are not public, and they are not too old at the last deadline.
int competing_check(const struct competing *, const struct submissions *, const char *board) MUST_CHECK;
// Keeps the statements in the record, then sends the commitment. The second function continues an earlier one: it sends the
// commitment again if the board's answer never came, else the runs.
int competing_commit(struct sending *, struct results *, struct competing *, const struct submissions *, const char *handle)
    MUST_CHECK;
int competing_go_on(struct sending *, struct results *, struct competing *) MUST_CHECK;
// Adds a line for each competition that takes commitments to such runs now: sending them publishes them, and a published run
// enters none. One request; a board that does not answer it adds nothing.
void competing_warn(struct client *, const struct submissions *, struct text *);
void competing_describe(const struct competing *);  // in a few lines what the next step is
