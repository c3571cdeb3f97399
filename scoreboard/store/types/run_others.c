// SPDX-License-Identifier: Apache-2.0
// The checks of a run against other runs of the record: its group, and runs with its curve or its pace.
// Workload: each run once when it is accepted; others are read before the mutex is taken, and in the transaction only those that
// came meanwhile. Cost: a brief for each run of the group, and whole payloads, a few milliseconds each, of at most MATES + ALIKE
// of them and of twice RUN_LIKELY others.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/types/types.h"
#include "submit/format/score/curve.h"

// Payloads that are read: of the first mates, and of further ones whose last points nearly agree. A person who makes up as many
// similar runs to hide a copy behind them could also make up the copy.
enum { MATES = 64, ALIKE = 64 };

int run_others_terms(const json_t *run, char hex[DIGEST_HEX])
{
    hex[0] = 0;
    if (canonical_at(run, "group") == NULL) return 0;
    json_t *terms = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "task", canonical_text(run, "task_digest"), "model",
                              canonical_text(run, "model.name"), "recipe", canonical_text(run, "recipe.digest"), "target",
                              (json_int_t)canonical_int(run, "target_micro"), "planned",
                              (json_int_t)canonical_int(run, "group.planned"), "announced_ms",
                              (json_int_t)canonical_int(run, "group.announced_ms"), "synthetic",
                              (json_int_t)canonical_int(run, "synthetic"));
    return canonical_digest(terms, hex);
}

// Only a run that the harness evaluated can be reproduced; without an evaluation there is nothing to compare.
int run_others_curve(const struct statement *statement, char hex[DIGEST_HEX])
{
    const struct run_metric board = curve_board(statement->json);
    hex[0] = 0;
    if (strcmp(canonical_text(statement->json, "evaluated_by"), "harness") != 0) return 0;
    return curve_last(statement->json, &board) != RUN_SCORE_NONE ? ranking_curve(statement, hex) : 0;
}

struct against {
    struct sql *sql;
    const struct statement *run;
    int64_t superseded;  // the statement that this one replaces; 0: none
    struct findings *findings;
    int mates, alike;  // alike: mates after the first whose last points nearly agree
    double sum;  // of their last scores
    bool foreign, terms_differ, taken;
};

// ---- runs of anybody

static int check_copies_of(struct against *a, const struct run_likely *likely)
{
    int rc = 0;
    for (int i = 0; i < likely->count && rc == 0; i++) {
        struct statement other = {0};
        rc = store_payload(a->sql, likely->at[i], &other);
        if (rc == 0) check_copied(a->run, other.json, likely->at[i], a->findings);
        statement_free(&other);
    }
    return rc;
}

// Only older runs: an owner who signs a run again is not hindered by a copy of it.
static int check_copies(struct against *a, int64_t after)
{
    struct run_likely found = {0};
    char curve[DIGEST_HEX];
    int rc;
    sqlite3_stmt *row;
    TRY(run_others_curve(a->run, curve));
    TRY(sql_start(a->sql, &row, "SELECT sequence FROM runs WHERE curve = ?1 AND curve <> '' AND superseded = 0 AND nonce <> ?2 "
                  "AND (?3 = 0 OR first < (SELECT first FROM runs WHERE sequence = ?3)) AND sequence > ?5 "
                  "ORDER BY first LIMIT ?4", "ttiii", curve, canonical_text(a->run->json, "nonce"), a->superseded,
                  (int64_t)RUN_LIKELY, after));
    while ((rc = sql_next(a->sql, row)) > 0) found.at[found.count++] = sql_column(row, 0);
    sql_end(row);
    TRY(rc);
    TRY(check_copies_of(a, &found));
    TRY(run_pace_find(a->sql, a->run->json, a->superseded, after, &found));
    return check_copies_of(a, &found);
}

// ---- the group

// The last score of a brief counts for the group's mean.
static int check_mate(struct against *a, int64_t sequence, const char *brief)
{
    struct statement whole = {0};
    json_t *other = json_loads(brief, JSON_REJECT_DUPLICATES, NULL);
    if (other == NULL) return fail(ERR_INPUT, "the record's copy of another run of the group cannot be read");
    const struct run_metric board = curve_board(other);
    int64_t score = curve_last(other, &board);
    a->sum += score != RUN_SCORE_NONE ? run_metric_value(&board, score) : 0;
    bool read = a->mates <= MATES;
    if (!read && a->alike < ALIKE && check_alike(a->run->json, other)) a->alike++, read = true;
    int rc = read ? store_payload(a->sql, sequence, &whole) : 0;
    if (rc == 0) check_group_mate(a->run, whole.json != NULL ? whole.json : other, a->findings);
    statement_free(&whole);
    json_decref(other);
    return rc;
}

// The run that completes a group gives it a mean, which must not be better than reference runs make believable.
static void check_mean(struct against *a)
{
    const json_t *run = a->run->json;
    const struct run_metric board = curve_board(run);
    int64_t score = curve_last(run, &board);
    if (a->mates + 1 < canonical_int(run, "group.planned") || score == RUN_SCORE_NONE) return;
    check_group_mean(run, (a->sum + run_metric_value(&board, score)) / (a->mates + 1), a->mates + 1, a->findings);
}

// A withdrawn run keeps its number and its seed, so nobody can leave out bad runs. `after` and `last`: their sequences.
static int check_mates(struct against *a, const char *handle, int64_t after, int64_t last)
{
    char terms[DIGEST_HEX];
    const char *nonce = canonical_text(a->run->json, "group.nonce");
    int64_t index = canonical_int(a->run->json, "group.index");
    sqlite3_stmt *row;
    int rc = 0;
    TRY(run_others_terms(a->run->json, terms));
    TRY(sql_start(a->sql, &row, "SELECT handle, group_terms, group_index, brief, sequence FROM runs WHERE group_nonce = ? "
                  "AND group_nonce <> '' AND superseded = 0 AND nonce <> ? AND sequence > ? AND sequence <= ? "
                  "ORDER BY sequence", "ttii", nonce, canonical_text(a->run->json, "nonce"), after, last));
    while (!a->foreign && (rc = sql_next(a->sql, row)) != 0) {
        if (rc > 0 && strcmp(sql_text(row, 0), handle) != 0) a->foreign = true;
        else if (rc > 0) {
            a->terms_differ = a->terms_differ || strcmp(sql_text(row, 1), terms) != 0;
            a->taken = a->taken || sql_column(row, 2) == index;
            a->mates++;
            rc = check_mate(a, sql_column(row, 4), sql_text(row, 3));
        }
        if (rc < 0) break;
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

struct run_compared {
    int64_t last;  // sequence of the newest statement that was there
    struct against found;
    struct findings findings;
};

static int compare_all(struct sql *sql, const char *handle, struct run_compared *c)
{
    TRY(sql_int(sql, &c->last, 0, "SELECT coalesce(max(sequence), 0) FROM statements", ""));
    TRY(sql_int(sql, &c->found.superseded, 0, "SELECT sequence FROM runs WHERE digest = ?", "t",
                canonical_text(c->found.run->json, "supersedes")));
    c->found.sql = sql;
    TRY(check_copies(&c->found, INT64_MIN));
    return check_mates(&c->found, handle, INT64_MIN, c->last);
}

struct run_compared *run_others_compare(struct sql *sql, const struct statement *run, const char *handle)
{
    struct run_compared *c = zalloc(sizeof *c);
    c->found.run = run;
    c->found.findings = &c->findings;
    int rc = compare_all(sql, handle, c);
    if (rc == 0 && c->findings.count <= FINDINGS_MAX) return c;
    free(c);
    return NULL;
}

// Uses the results, unless one of these runs was replaced meanwhile.
static int take_compared(const struct run_compared *c, struct against *a, int64_t *last)
{
    int64_t replaced;
    *last = INT64_MIN;
    if (c == NULL) return 0;
    TRY(sql_int(a->sql, &replaced, 0, "SELECT count(*) FROM runs WHERE group_nonce = ? AND group_nonce <> '' AND sequence <= ? "
                "AND superseded > ?", "tii", canonical_text(a->run->json, "group.nonce"), c->last, c->last));
    if (replaced > 0) return 0;
    *last = c->last;
    const struct against here = *a;
    *a = c->found;
    a->sql = here.sql, a->superseded = here.superseded, a->findings = here.findings;
    for (int i = 0; i < c->findings.count; i++)
        finding_add(a->findings, c->findings.at[i].check, "%s", c->findings.at[i].text);
    return 0;
}

// A run that is refused anyway is compared with nothing: refusals are not limited, and other writers wait meanwhile.
int run_others_check(struct store *s, const struct incoming *in, int64_t superseded, struct ruling *out)
{
    const json_t *run = in->statement->json;
    const char *nonce = canonical_text(run, "group.nonce");
    struct against a = {.sql = &s->sql, .run = in->statement, .superseded = superseded, .findings = in->findings};
    int64_t last;
    if (in->findings->rejects > 0) return 0;
    TRY(take_compared(in->compared, &a, &last));
    TRY(check_copies(&a, last));
    if (*nonce == 0) return 0;
    TRY(check_mates(&a, in->handle, last, INT64_MAX));
    if (a.foreign) return problem_rule(out, PROBLEM_CONFLICT, "the group %s belongs to another person", nonce);
    if (a.terms_differ)
        finding_add(in->findings, CHECK_GROUP, "the runs of group %s do not agree in task, model, recipe, target, number or "
                    "announcement", nonce);
    if (a.taken)
        finding_add(in->findings, CHECK_GROUP, "run %lld of group %s is there already",
                    (long long)canonical_int(run, "group.index"), nonce);
    check_mean(&a);
    return 0;
}
