// SPDX-License-Identifier: Apache-2.0
// The submission that `dawn submit` prepares: its runs, their statements and findings, and the text shown to the person who
// is asked. Nothing here touches the network or a key.
#pragma once

#include "submit/format/check/check.h"
#include "submit/payload.h"

struct submission {
    int64_t run;       // of a measurement or a scaling its sweep
    bool bench;        // a measurement
    bool scaling;      // and that over processes
    int64_t group;     // in the record; 0: none
    char *refusal;     // why the run cannot be submitted, so that there is no statement; NULL: it can
    int refusal_code;
    struct statement statement;
    struct findings findings;
    json_t *last;      // row of the newest receipt for this board, or NULL
    json_t *withdrawn;  // row of the receipt for its withdrawal, or NULL; then there is no statement
    bool nothing_new;  // the board has exactly these bytes, or had them and the run was withdrawn
};
struct submissions {
    struct submission *at;
    int count;
};
struct submission_choice {
    const char *server_key;  // fingerprint of the board's key, whose receipts count; NULL: any key of a board of that name
    const int64_t *runs;  // requested by number; without runs and group, all new ones
    int run_count;
    int64_t group;        // 0: none
    const char *const *benches, *const *scalings;  // measurements instead of runs: numbers, or "all"
    int bench_count, scaling_count;
    // Asks the board for the statement with that digest and accepts no other. NULL: there is no board, so texts that are not
    // given again are lost.
    int (*fetch)(void *context, const char *digest, struct statement *);
    void *context;
};
// Chooses the runs, builds their statements and checks them. By default every run that has ended and has no receipt from
// this board, groups whole: one that still runs is left out, and so is a single run that missed its target, failed or was
// interrupted. `notes` gets a line about each run left out. A run that no statement can hold is
// among them with its refusal, so that all refusals are shown at once.
int submissions_build(struct results *, const struct submission_choice *, const struct payload_words *, int64_t now_ms,
                      struct submissions *, struct text *notes) MUST_CHECK;
// Rebuilds one of them after the record has received a receipt for its run.
int submission_again(struct results *, const struct submission_choice *, const struct payload_words *,
                     struct submission *) MUST_CHECK;
void submission_clear(struct submission *);
void submissions_free(struct submissions *);
// Keeps the fault of the run or measurement itself, so that the others are examined, too. False for other failures, which
// end the command.
bool submission_refuse(struct submission *, int rc);
// The same for measurements (submission_bench.c): each whole command of `dawn bench` that one of the words names.
int submission_bench_build(struct results *, const struct submission_choice *, const struct payload_words *, int64_t now_ms,
                           struct submissions *) MUST_CHECK;

// The texts of the entry whose receipt is `last`: team, note, code_url, tags, division. Texts that are not given again stay.
enum { ENTRY_TAGS = 8 };
struct entry_words {
    json_t *first, *now;  // in the statement, and after its amendments
};
int entry_words_read(struct results *, const json_t *last, const struct submission_choice *, struct entry_words *) MUST_CHECK;
void entry_words_free(struct entry_words *);  // also after an error
void entry_words_keep(const json_t *words, struct payload_words *said, const char *tags[ENTRY_TAGS]);

const char *submission_noun(const struct submission *);    // "run", "measurement", "scaling"
const char *submission_option(const struct submission *);  // "run", "bench", "scaling"
int64_t submission_row(const struct submission *);         // under which its receipts are kept (receipts.h)
// The text shown: each run in two to four lines; the findings of one; every text that would become public, once, with its
// runs. Long texts are cut unless `whole`. submission_texts returns the number of texts; NULL: they are only counted.
void submission_describe(const struct submission *, struct text *);
void submission_findings(const struct submission *, struct text *);
void submissions_findings(const struct submissions *, struct text *);  // of all; one that several share is shown once
int submission_texts(const struct submissions *, bool whole, struct text *);
// For programs: a row for each, with its state ("new", "known", "withdrawn" or "refused") and its findings.
json_t *submissions_json(const struct submissions *);
