// SPDX-License-Identifier: Apache-2.0
// Chooses runs and builds their statements. Invariant: the same record, board and texts always give the same bytes, also after
// an interrupted upload. The receipts decide if a statement replaces an earlier one and which texts it keeps. Workload: 1 to
// some hundred runs. Cost: one to three readings of each run.
#include "submit/submission.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/client/client.h"
#include "submit/results/commitments.h"

struct list {
    int64_t *at;
    int count;
};

static void list_add(struct list *l, int64_t value)
{
    for (int i = 0; i < l->count; i++)
        if (l->at[i] == value) return;
    l->at = grow(l->at, (size_t)(l->count + 1) * sizeof *l->at);
    l->at[l->count++] = value;
}

static bool list_has(const struct list *l, int64_t value)
{
    for (int i = 0; i < l->count; i++)
        if (l->at[i] == value) return true;
    return false;
}

static bool is_running(const json_t *row)
{
    return strcmp(record_text(row, "status"), "running") == 0;
}

// Groups that have not ended. Half a group would have to be submitted again.
static int open_groups(struct results *r, struct list *groups, struct text *notes)
{
    json_t *rows, *row;
    size_t i;
    TRY(record_rows(r, "SELECT id, status, owner FROM groups ORDER BY id", 0, &rows));
    json_array_foreach(rows, i, row)
    {
        if (!is_running(row)) continue;
        long long id = (long long)record_int(row, "id");
        list_add(groups, id);
        text_add(notes, "group %lld is still running and is left out; --group %lld submits its runs so far\n", id, id);
    }
    json_decref(rows);
    return 0;
}

// Skips a run with a receipt, and mentions it if it has newer measurements.
static int mention_news(struct results *r, int64_t run, const json_t *last, struct text *notes)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT max(measured_ms) AS newest FROM latencies WHERE run = ?", run, &rows));
    bool news = record_int(json_array_get(rows, 0), "newest") > record_int(last, "accepted_ms");
    json_decref(rows);
    if (news)
        text_add(notes, "run %lld has latencies that are newer than its entry #%lld; --run %lld submits them\n", (long long)run,
                 (long long)record_int(last, "sequence"), (long long)run);
    return 0;
}

// A single run that failed or was interrupted never ranks, and one that missed its target may be an experiment. In a group each
// counts as what it is.
static bool left_out(const json_t *row, struct text *notes)
{
    const char *status = record_text(row, "status");
    bool failed = strcmp(status, "failed") == 0, missed = strcmp(status, "missed") == 0;
    if (record_has(row, "group_id") || (!failed && !missed && strcmp(status, "interrupted") != 0)) return false;
    long long id = (long long)record_int(row, "id");
    text_add(notes, "run %lld %s and is left out; --run %lld submits it anyway\n", id,
             failed ? "failed" : missed ? "missed its target" : "was interrupted", id);
    return true;
}

// A committed run is sent by dawn submit --competition alone, so that it stays unseen until the deadline.
static int note_commitment(struct results *r, int64_t run, const char *key, bool named, struct text *notes, bool *committed)
{
    json_t *row;
    TRY(commitments_of_run(r, run, key, &row));
    *committed = row != NULL;
    if (row == NULL) return 0;
    struct text name = {0};
    client_tame(&name, record_text(row, "name"), 39);
    if (named)
        text_add(notes, "run %lld is committed to the competition %s: sent without --competition, it can no longer enter\n",
                 (long long)run, name.at);
    else
        text_add(notes, "run %lld is committed to the competition %s and is left out; --competition %s sends it\n",
                 (long long)run, name.at, name.at);
    text_free(&name);
    json_decref(row);
    return 0;
}

// The board: its name, and its key if known.
struct recipient {
    const char *board, *key;
};

static int choose_row(struct results *r, const json_t *row, const struct recipient *recipient, const struct list *open,
                      struct list *runs, struct text *notes)
{
    int64_t id = record_int(row, "id");
    if (is_running(row)) {
        if (!list_has(open, record_int(row, "group_id")))
            text_add(notes, "run %lld is still running and is left out\n", (long long)id);
        return 0;
    }
    if (list_has(open, record_int(row, "group_id"))) return 0;
    json_t *last, *withdrawn;
    TRY(receipts_last(r, id, "run", recipient->board, recipient->key, &last));
    int rc = receipts_last(r, id, "withdraw", recipient->board, recipient->key, &withdrawn);
    if (rc == 0 && last != NULL && withdrawn == NULL) rc = mention_news(r, id, last, notes);
    bool committed = false;
    const bool fresh = last == NULL && withdrawn == NULL;
    if (rc == 0 && fresh) rc = note_commitment(r, id, recipient->key, false, notes, &committed);
    if (rc == 0 && fresh && !committed && !left_out(row, notes)) list_add(runs, id);
    json_decref(last);
    json_decref(withdrawn);
    return rc;
}

static int choose_new(struct results *r, const struct recipient *recipient, struct list *runs, struct text *notes)
{
    struct list open = {0};
    json_t *rows = NULL, *row;
    size_t i;
    int rc = open_groups(r, &open, notes);
    if (rc == 0) rc = record_list(r, &rows);
    json_array_foreach(rows, i, row)
    {
        if (rc == 0) rc = choose_row(r, row, recipient, &open, runs, notes);
    }
    json_decref(rows);
    free(open.at);
    return rc;
}

static int choose_group(struct results *r, int64_t group, struct list *runs)
{
    json_t *rows, *row;
    size_t i;
    TRY(record_rows(r, "SELECT id FROM runs WHERE group_id = ? ORDER BY group_index", group, &rows));
    json_array_foreach(rows, i, row) list_add(runs, record_int(row, "id"));
    bool none = json_array_size(rows) == 0;
    json_decref(rows);
    return none ? fail(ERR_USAGE, "there is no group %lld with a run in the record", (long long)group) : 0;
}

static int choose(struct results *r, const struct submission_choice *c, const struct recipient *recipient, struct list *runs,
                  struct text *notes)
{
    if (c->run_count == 0 && c->group == 0) return choose_new(r, recipient, runs, notes);
    if (c->group != 0) TRY(choose_group(r, c->group, runs));
    for (int i = 0; i < c->run_count; i++) list_add(runs, c->runs[i]);
    return 0;
}

// Runs that were chosen by their numbers are sent, but not without a word.
static int note_commitments(struct results *r, const struct submission_choice *c, const struct list *runs, struct text *notes)
{
    bool committed;
    if (c->run_count == 0 && c->group == 0) return 0;
    for (int i = 0; i < runs->count; i++) TRY(note_commitment(r, runs->at[i], c->server_key, true, notes, &committed));
    return 0;
}

// The note and the tags that the run was given when it began, as words of an entry.
static int read_labels(struct results *r, int64_t run, json_t **words)
{
    json_t *rows, *tags = json_array();
    TRY(record_rows(r, "SELECT note, tags FROM labels WHERE run = ?", run, &rows));
    const json_t *row = json_array_get(rows, 0);
    for (const char *at = record_text(row, "tags"); *at != 0; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        json_array_append_new(tags, json_stringn(at, length));
        at += length;
    }
    *words = json_pack("{sO* so}", "note", json_object_get(row, "note"), "tags", tags);
    json_decref(rows);
    return 0;
}

// An entry that the board has keeps its own texts (`kept`); a first one takes the record's.
static int build_as(struct results *r, struct submission *s, const json_t *kept, const struct payload_words *words,
                    const char *supersedes)
{
    const char *tags[ENTRY_TAGS];
    struct payload_words own = *words;
    json_t *labels = NULL;
    statement_free(&s->statement);
    if (kept == NULL) TRY(read_labels(r, s->run, &labels));
    entry_words_keep(kept != NULL ? kept : labels, &own, tags);
    own.supersedes = supersedes;
    int rc = payload_run(r, s->run, &own, &s->statement);
    json_decref(labels);
    return rc;
}

// True if the statement, built like the last accepted one, has the same bytes.
static int build_as_last(struct results *r, struct submission *s, const json_t *kept, const struct payload_words *words)
{
    const char *supersedes = record_has(s->last, "supersedes") ? record_text(s->last, "supersedes") : NULL;
    TRY(build_as(r, s, kept, words, supersedes));
    s->nothing_new = strcmp(s->statement.digest, record_text(s->last, "statement")) == 0;
    return 0;
}

static int find_group(struct results *r, struct submission *s)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT group_id FROM runs WHERE id = ? AND group_id IS NOT NULL", s->run, &rows));
    s->group = record_int(json_array_get(rows, 0), "group_id");
    json_decref(rows);
    return 0;
}

// Builds the successor of the last accepted statement, if anything differs.
static int build(struct results *r, int64_t run, const struct submission_choice *c, const struct payload_words *words,
                 struct submission *s)
{
    struct entry_words kept = {0};
    s->run = run;
    TRY(find_group(r, s));
    TRY(receipts_last(r, run, "run", words->board, c->server_key, &s->last));
    TRY(receipts_last(r, run, "withdraw", words->board, c->server_key, &s->withdrawn));
    s->nothing_new = s->withdrawn != NULL;  // a board takes no run back
    if (s->nothing_new) return 0;
    if (s->last == NULL) return build_as(r, s, NULL, words, NULL);
    TRY(build_as_last(r, s, NULL, words));
    if (s->nothing_new) return 0;
    int rc = c->fetch != NULL ? entry_words_read(r, s->last, c, &kept) : 0;
    if (rc == 0 && c->fetch != NULL) rc = build_as_last(r, s, kept.first, words);
    if (rc == 0 && !s->nothing_new) rc = build_as(r, s, kept.now, words, record_text(s->last, "statement"));
    entry_words_free(&kept);
    return rc;
}

void submission_clear(struct submission *s)
{
    free(s->refusal);
    statement_free(&s->statement);
    json_decref(s->last);
    json_decref(s->withdrawn);
    *s = (struct submission){0};
}

int submission_again(struct results *r, const struct submission_choice *c, const struct payload_words *words,
                     struct submission *s)
{
    int64_t run = s->run;
    submission_clear(s);
    return build(r, run, c, words, s);
}

bool submission_refuse(struct submission *s, int rc)
{
    if (rc != ERR_INPUT && rc != ERR_USAGE && rc != ERR_UNSUPPORTED) return false;
    statement_free(&s->statement);
    s->refusal = copy_text(error_text());
    s->refusal_code = rc;
    return true;
}

static int build_or_refuse(struct results *r, int64_t run, const struct submission_choice *c, const struct payload_words *words,
                           struct submission *s)
{
    int rc = build(r, run, c, words, s);
    if (submission_refuse(s, rc)) return 0;
    return rc < 0 ? fail_prefix(rc, "run %lld cannot be submitted: ", (long long)run) : 0;
}

// Some faults of a group show only when its runs are compared.
static void check_mates(struct submissions *all, int index)
{
    struct submission *s = &all->at[index];
    const char *group = canonical_text(s->statement.json, "group.nonce");
    if (*group == 0) return;
    for (int i = 0; i < index; i++)
        if (strcmp(canonical_text(all->at[i].statement.json, "group.nonce"), group) == 0)
            check_group_mate(&s->statement, all->at[i].statement.json, &s->findings);
}

int submissions_build(struct results *r, const struct submission_choice *choice, const struct payload_words *words,
                      int64_t now_ms, struct submissions *all, struct text *notes)
{
    struct list runs = {0};
    *all = (struct submissions){0};
    const struct recipient recipient = {words->board, choice->server_key};
    int rc = choose(r, choice, &recipient, &runs, notes);
    if (rc == 0 && words->competition == NULL) rc = note_commitments(r, choice, &runs, notes);
    all->at = zalloc((size_t)(runs.count + 1) * sizeof *all->at);
    for (int i = 0; i < runs.count && rc == 0; i++) rc = build_or_refuse(r, runs.at[i], choice, words, &all->at[all->count++]);
    for (int i = 0; i < all->count && rc == 0; i++) {
        if (all->at[i].nothing_new || all->at[i].refusal != NULL) continue;
        check_statement(&all->at[i].statement, now_ms, &all->at[i].findings);
        check_mates(all, i);
    }
    free(runs.at);
    if (rc < 0) submissions_free(all);
    return rc;
}

void submissions_free(struct submissions *all)
{
    for (int i = 0; i < all->count; i++) submission_clear(&all->at[i]);
    free(all->at);
    *all = (struct submissions){0};
}
