// SPDX-License-Identifier: Apache-2.0
// Commitments to competitions, and the runs that enter them. The moment of acceptance decides. Cost: some lookups by index.
#include <string.h>

#include "scoreboard/store/types/types.h"

static int check_phase(const struct competition_opened *o, int64_t at_ms, enum competition_phase wanted, struct ruling *out)
{
    const struct competition *c = &o->about;
    const char *what = wanted == COMPETITION_COMMITS ? "commitments" : "runs";
    const int64_t from = wanted == COMPETITION_COMMITS ? c->begins_ms : c->commits_until_ms;
    const int64_t until = wanted == COMPETITION_COMMITS ? c->commits_until_ms : c->reveals_until_ms;
    char now[TEXT_FIGURE], then[TEXT_FIGURE];
    text_moment(now, at_ms);
    if (o->cancelled != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s was cancelled by statement %lld", c->name,
                            (long long)o->cancelled);
    if (c->contest == NULL)
        return problem_rule(out, PROBLEM_COMPETITION, "this server does not have the board of the competition %s", c->name);
    if (competition_phase(c, at_ms) < wanted)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s takes %s from %s on; it is %s", c->name, what,
                            text_moment(then, from), now);
    if (competition_phase(c, at_ms) > wanted)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s took %s until %s; it is %s", c->name, what,
                            text_moment(then, until), now);
    return 0;
}

// Refuses a digest that is public or that another person committed: anybody could have copied it.
static int check_committed_digest(struct sql *sql, const char *digest, struct ruling *out)
{
    int64_t number;
    TRY(sql_int(sql, &number, 0, "SELECT sequence FROM statements WHERE digest = ?", "t", digest));
    if (number != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "statement %lld is public; a commitment is for runs that nobody has seen",
                    (long long)number);
    TRY(sql_int(sql, &number, 0, "SELECT commitment FROM committed WHERE digest = ?", "t", digest));
    if (number != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "a digest of this commitment was committed before, by statement %lld",
                            (long long)number);
    return 0;
}

static int check_entry_size(const struct competition *c, size_t count, struct ruling *out)
{
    if (c->rank == RANK_CLASSIC && count != 1)
        return problem_rule(out, PROBLEM_COMPETITION, "an entry of the competition %s is one run; the commitment has %zu",
                            c->name, count);
    if (c->rank == RANK_GROUP && count < GROUP_MINIMUM)
        return problem_rule(out, PROBLEM_COMPETITION, "an entry of the competition %s is a group of at least %d runs; the "
                            "commitment has %zu", c->name, GROUP_MINIMUM, count);
    return 0;
}

static int check_committed_runs(struct store *s, const struct competition_opened *o, const struct incoming *in,
                                struct ruling *out)
{
    const json_t *runs = json_object_get(in->statement->json, "runs");
    int64_t earlier;
    STEP(check_phase(o, in->accepted_ms, COMPETITION_COMMITS, out));
    TRY(sql_int(&s->sql, &earlier, 0, "SELECT sequence FROM commitments WHERE competition = ? AND handle = ?", "it", o->sequence,
                in->handle));
    if (earlier != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "\"%s\" has committed to the competition %s with statement %lld; a "
                            "commitment is final", in->handle, o->about.name, (long long)earlier);
    STEP(check_entry_size(&o->about, json_array_size(runs), out));
    const char *last = "";
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const char *digest = canonical_text(json_array_get(runs, i), "statement");
        if (strcmp(last, digest) >= 0)
            return problem_rule(out, PROBLEM_MALFORMED, "the digests of a commitment ascend, and none comes twice");
        STEP(check_committed_digest(&s->sql, digest, out));
        last = digest;
    }
    return 0;
}

static int check_commitment(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct competition_opened o;
    int rc = type_competition_find(&s->sql, canonical_text(in->statement->json, "competition"), out, &o);
    if (rc == 0) rc = check_committed_runs(s, &o, in, out);
    statement_free(&o.statement);
    return rc;
}

static int apply_commitment(struct store *s, const struct incoming *in)
{
    const json_t *json = in->statement->json, *run;
    int64_t competition;
    size_t i;
    TRY(sql_int(&s->sql, &competition, 0, "SELECT sequence FROM competitions WHERE digest = ?", "t",
                canonical_text(json, "competition")));
    TRY(sql_do(&s->sql, "INSERT INTO commitments (sequence, competition, handle) VALUES (?, ?, ?)", "iit", in->sequence,
               competition, in->handle));
    json_array_foreach(json_object_get(json, "runs"), i, run)
        TRY(sql_do(&s->sql, "INSERT INTO committed (digest, commitment) VALUES (?, ?)", "ti", canonical_text(run, "statement"),
                   in->sequence));
    return 0;
}

const struct store_type type_commit = {.first = true, .quarters = {1, 4}, .check = check_commitment, .apply = apply_commitment};

// ---- runs that enter
// All runs of a committed group belong to one group, which has no others.
static int check_committed_group(struct sql *sql, int64_t commitment, const json_t *run, struct ruling *out)
{
    const char *nonce = canonical_text(run, "group.nonce");
    int64_t count, others;
    TRY(sql_int(sql, &count, 0, "SELECT count(*) FROM committed WHERE commitment = ?", "i", commitment));
    TRY(sql_int(sql, &others, 0, "SELECT count(*) FROM committed d JOIN runs r ON r.sequence = d.run WHERE d.commitment = ? AND "
                "r.group_nonce <> ?", "it", commitment, nonce));
    if (*nonce != 0 && others == 0 && canonical_int(run, "group.planned") == count) return 0;
    return problem_rule(out, PROBLEM_COMPETITION, "the runs of statement %lld are not the %lld runs of one group",
                        (long long)commitment, (long long)count);
}

static int check_entry(struct store *s, const struct competition_opened *o, const struct incoming *in, struct ruling *out)
{
    const struct statement *run = in->statement;
    const struct contest *contest = ranking_contest(run->json);
    int64_t commitment;
    STEP(check_phase(o, in->accepted_ms, COMPETITION_REVEALS, out));
    TRY(sql_int(&s->sql, &commitment, 0, "SELECT c.sequence FROM committed d JOIN commitments c ON c.sequence = d.commitment "
                "WHERE d.digest = ? AND c.competition = ? AND c.handle = ?", "tit", run->digest, o->sequence, in->handle));
    if (commitment == 0)
        return problem_rule(out, PROBLEM_COMPETITION, "\"%s\" did not commit to this statement in the competition %s", in->handle,
                            o->about.name);
    if (contest != o->about.contest)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s is for the boards of %s", o->about.name,
                            o->about.contest->title);
    if (o->about.closed && strcmp(canonical_text(run->json, "division"), "closed") != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s is for the closed division", o->about.name);
    return o->about.rank == RANK_GROUP ? check_committed_group(&s->sql, commitment, run->json, out) : 0;
}

int type_commit_check_run(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct competition_opened o;
    if (canonical_at(in->statement->json, "competition") == NULL) return 0;
    int rc = type_competition_find(&s->sql, canonical_text(in->statement->json, "competition.statement"), out, &o);
    if (rc == 0) rc = check_entry(s, &o, in, out);
    statement_free(&o.statement);
    return rc;
}
