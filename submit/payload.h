// SPDX-License-Identifier: Apache-2.0
// From a run in results.db to the statement that is signed. Pure: the same record and the same words give the same
// bytes, whatever the moment or the machine, so that a submission that was cut off can be made again and is recognised.
// Another version of this program may differ in one thing, the division: it asks the recipes that are built in. A record
// may come from a stranger: what does not fit is a sentence.
#ifndef DAWN_SUBMIT_PAYLOAD_H
#define DAWN_SUBMIT_PAYLOAD_H

#include "submit/format/statement.h"
#include "tasks/record/receipts.h"

// What the submitter says beside the record. NULL, and an empty text: nothing.
struct payload_words {
    const char *board;          // name of the scoreboard it is meant for
    const char *handle;
    const char *team, *note, *code_url;
    const char *const *tags;    // in any order
    int tag_count;
    const char *supersedes;     // digest of the own statement this one replaces
    bool open;                  // the open division; runs of outside programs are always there
};
int payload_check_words(const struct payload_words *) MUST_CHECK;  // ERR_USAGE names what cannot be published
int payload_run(struct results *, int64_t run, const struct payload_words *, struct statement *) MUST_CHECK;
// The tags as statements have them: sorted, each once.
json_t *payload_tags(const char *const *tags, int count);

// JSON on one line: what lies between its words is left out, the words and figures stay as they were written. free()
// ends it. ERR_INPUT when it is not JSON or longer than `limit`.
int payload_one_line(const char *json, size_t limit, char **line) MUST_CHECK;

#endif
