// SPDX-License-Identifier: Apache-2.0
// The run that a replay repeats, from wherever it is kept: results.db, the page of a scoreboard, or a file.
#pragma once

#include <jansson.h>

#include "runtime/common/base/text.h"
#include "submit/format/score/group.h"

struct original {
    json_t *run;               // as its statement has it
    const char *head;          // last hash of its points; its text is the run's
    struct text name;          // "run 3 of results.db"
    struct group_facts group;  // its group, as far as known; finished 0: nothing
};
// `word`: a run of the record ("last", a number, or a name that no file has), the address of a run on a scoreboard, its page in
// a static copy of one, or a file: a statement, or an envelope.
// `db` NULL: the usual record. A run whose hashes or figures do not hold is refused, and so is one that cannot be repeated:
// another program trained it, it did not finish, or it has no points in steps. original_close ends it, also after an
// error.
int original_open(const char *word, const char *db, struct original *) MUST_CHECK;
void original_close(struct original *);

// The pure parser of a board's answer about a group: how many runs ended, mean and sigma of their scores.
int original_group(const char *answer, size_t count, struct group_facts *) MUST_CHECK;
