// SPDX-License-Identifier: Apache-2.0
// The operator's decisions. Their verdict says what they are about: a run is confirmed or no longer so, a run that was drawn came
// to equal figures or to others, an objection is upheld or dismissed, a competition is cancelled.
#include <string.h>

#include "scoreboard/store/types/types.h"

// ---- about a run
// Only its author measured a self-evaluated run, so a person has nothing to confirm.
static int check_confirmation(struct store *s, const struct incoming *in, struct ruling *out)
{
    const char *digest = canonical_text(in->statement->json, "statement");
    bool confirms = strcmp(canonical_text(in->statement->json, "verdict"), "confirmed") == 0;
    int64_t trust, self;
    STEP(about_run_check(s, in, out));
    TRY(sql_int(&s->sql, &trust, 0, "SELECT trust FROM runs WHERE digest = ?", "t", digest));
    TRY(sql_int(&s->sql, &self, 0,
                "SELECT count(*) FROM statements WHERE digest = ? AND instr(payload, CAST(? AS BLOB)) > 0", "tt", digest,
                "\"evaluated_by\":\"self\""));
    if (confirms && self != 0)
        return problem_rule(out, PROBLEM_CONFLICT, "statement %s is self-evaluated; such a run is never audited", digest);
    if (confirms && trust == TRUST_AUDITED)
        return problem_rule(out, PROBLEM_CONFLICT, "statement %s has been audited already", digest);
    if (!confirms && trust != TRUST_AUDITED)
        return problem_rule(out, PROBLEM_CONFLICT, "statement %s has not been audited, so nothing can be withdrawn", digest);
    return 0;
}

static int apply_confirmation(struct store *s, const struct incoming *in)
{
    const bool confirms = strcmp(canonical_text(in->statement->json, "verdict"), "confirmed") == 0;
    struct about_run run;
    TRY(about_run_find(s, canonical_text(in->statement->json, "statement"), &run));
    if (!confirms) return about_run_unaudit(s, &run);
    TRY(sql_do(&s->sql, "UPDATE runs SET trust = ? WHERE sequence = ?", "ii", (int64_t)TRUST_AUDITED, run.sequence));
    return about_run_rank(s, &run, false);
}

// ---- about a run that was drawn and trained again
static bool says_equal(const json_t *audit)
{
    return strcmp(canonical_text(audit, "verdict"), "equal") == 0;
}

static int check_repetition(struct store *s, const struct incoming *in, struct ruling *out)
{
    const json_t *audit = in->statement->json;
    const int64_t points = canonical_int(audit, "repeated.points"), equal = canonical_int(audit, "repeated.equal");
    int64_t there;
    STEP(about_run_check(s, in, out));
    TRY(sql_int(&s->sql, &there, 0, "SELECT count(*) FROM drawn d JOIN runs r ON r.first = d.run WHERE r.digest = ?", "t",
                canonical_text(audit, "statement")));
    if (there == 0)
        return problem_rule(out, PROBLEM_CONFLICT, "statement %s was not drawn", canonical_text(audit, "statement"));
    if (equal <= points && (equal == points || !says_equal(audit))) return 0;  // weights may differ where no point does
    return problem_rule(out, PROBLEM_MALFORMED, "%lld of %lld points are equal, which the verdict does not say", (long long)equal,
                        (long long)points);
}

// The newest outcome counts: a fault of the operator's machine can be corrected. Another outcome ends the decision of a person.
static int apply_repetition(struct store *s, const struct incoming *in)
{
    const json_t *audit = in->statement->json;
    const enum drawn_verdict verdict = says_equal(audit) ? DRAWN_EQUAL : DRAWN_DIFFERS;
    struct about_run run;
    int64_t first, old;
    TRY(about_run_find(s, canonical_text(audit, "statement"), &run));
    TRY(sql_int(&s->sql, &first, 0, "SELECT first FROM runs WHERE sequence = ?", "i", run.sequence));
    TRY(sql_int(&s->sql, &old, 0, "SELECT verdict FROM drawn WHERE run = ?", "i", first));
    TRY(sql_do(&s->sql, "UPDATE drawn SET audit = ?, verdict = ?, epoch_micro = ? WHERE run = ?", "iiii", in->sequence,
               (int64_t)verdict, canonical_int(audit, "repeated.epoch_micro"), first));
    TRY(sql_do(&s->sql, "UPDATE runs SET flags = flags + ? WHERE sequence = ?", "ii",
               (int64_t)(verdict == DRAWN_DIFFERS) - (old == DRAWN_DIFFERS), run.sequence));
    if (verdict == DRAWN_DIFFERS)
        TRY(sql_do(&s->sql, "UPDATE runs SET trust = ?, reproduced_by = 0 WHERE sequence = ?", "ii", (int64_t)TRUST_SIGNED,
                   run.sequence));
    return about_run_rank(s, &run, true);
}

// ---- about an objection
static int check_decision(struct store *s, const struct incoming *in, struct ruling *out)
{
    const char *digest = canonical_text(in->statement->json, "statement");
    int64_t decision;
    TRY(sql_int(&s->sql, &decision, -1, "SELECT o.decision FROM objections o JOIN statements s USING (sequence) "
                "WHERE s.digest = ?", "t", digest));
    if (decision < 0) return problem_rule(out, PROBLEM_NOT_FOUND, "there is no objection %s here", digest);
    if (decision == 0) return 0;
    return problem_rule(out, PROBLEM_CONFLICT, "the objection was decided by statement %lld", (long long)decision);
}

// Finds the newest statement of the run that an objection is about.
static int find_objected(struct store *s, const char *objection, struct about_run *run)
{
    sqlite3_stmt *row;
    *run = (struct about_run){0};
    TRY(sql_start(&s->sql, &row, "SELECT r.digest FROM objections o JOIN statements s USING (sequence) "
                  "JOIN runs r ON r.nonce = o.nonce WHERE s.digest = ? AND r.superseded = 0", "t", objection));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) rc = about_run_find(s, sql_text(row, 0), run);
    sql_end(row);
    return rc < 0 ? rc : 0;
}

// An upheld objection is a flag of the run. An audit and a reproduction end, too: the operator may audit the run again.
static int apply_decision(struct store *s, const struct incoming *in)
{
    const char *objection = canonical_text(in->statement->json, "statement");
    const bool upheld = strcmp(canonical_text(in->statement->json, "verdict"), "upheld") == 0;
    struct about_run run;
    TRY(sql_do(&s->sql, "UPDATE objections SET decision = ?, upheld = ? WHERE sequence = (SELECT sequence FROM statements "
               "WHERE digest = ?)", "iit", in->sequence, (int64_t)upheld, objection));
    if (!upheld) return 0;
    TRY(find_objected(s, objection, &run));
    if (run.sequence == 0) return 0;
    TRY(sql_do(&s->sql, "UPDATE runs SET flags = flags + 1, trust = ?, reproduced_by = 0 WHERE sequence = ?", "ii",
               (int64_t)TRUST_SIGNED, run.sequence));
    return about_run_rank(s, &run, true);
}

// ---- about a competition
static int check_cancellation(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct competition_opened o;
    int rc = type_competition_find(&s->sql, canonical_text(in->statement->json, "statement"), out, &o);
    if (rc == 0 && o.cancelled != 0)
        rc = problem_rule(out, PROBLEM_CONFLICT, "the competition %s was cancelled by statement %lld", o.about.name,
                          (long long)o.cancelled);
    statement_free(&o.statement);
    return rc;
}

static int apply_cancellation(struct store *s, const struct incoming *in)
{
    return sql_do(&s->sql, "UPDATE competitions SET cancelled = ? WHERE digest = ?", "it", in->sequence,
                  canonical_text(in->statement->json, "statement"));
}

// ---- by verdict
static const struct verdict {
    const char *word;
    struct store_type about;
} verdicts[] = {
    {"confirmed", {.check = check_confirmation, .apply = apply_confirmation}},
    {"withdrawn", {.check = check_confirmation, .apply = apply_confirmation}},
    {"equal", {.check = check_repetition, .apply = apply_repetition}},
    {"differs", {.check = check_repetition, .apply = apply_repetition}},
    {"upheld", {.check = check_decision, .apply = apply_decision}},
    {"dismissed", {.check = check_decision, .apply = apply_decision}},
    {"cancelled", {.check = check_cancellation, .apply = apply_cancellation}},
};

static const struct store_type *verdict_of(const struct incoming *in)
{
    const char *word = canonical_text(in->statement->json, "verdict");
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(verdicts[i].word, word) == 0) return &verdicts[i].about;
    BUG("a verdict that the format does not have");
}

static int check_audit(struct store *s, const struct incoming *in, struct ruling *out)
{
    const struct store_type *about = verdict_of(in);
    if ((about->check == check_repetition) != (canonical_at(in->statement->json, "repeated") != NULL))
        return problem_rule(out, PROBLEM_MALFORMED, "the verdicts equal and differs have the member repeated, and no other does");
    return about->check(s, in, out);
}

static int apply_audit(struct store *s, const struct incoming *in)
{
    return verdict_of(in)->apply(s, in);
}

const struct store_type type_audit = {.own = true, .check = check_audit, .apply = apply_audit};
