// SPDX-License-Identifier: Apache-2.0
// Competitions. Invariant: what a statement does to a competition follows from the statements before it and from its own moment
// of acceptance, so store_check can repeat each decision. Cost: some lookups by index a statement; a list parses each payload,
// some KB.
#include "scoreboard/store/store_competition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"

#define STEP(call) \
    do { \
        int step_rc_ = (call); \
        if (step_rc_ != 0) return step_rc_; \
    } while (0)

struct opened {
    struct statement statement;  // the texts of `about` are its own
    struct competition about;
    int64_t sequence, cancelled;
};

static int find_open(struct sql *sql, const char *digest, struct ruling *out, struct opened *o)
{
    sqlite3_stmt *row;
    *o = (struct opened){0};
    TRY(sql_start(sql, &row, "SELECT sequence, c.cancelled, s.payload FROM competitions c JOIN statements s USING (sequence) "
                  "WHERE c.digest = ?", "t", digest));
    int rc = sql_next(sql, row);
    if (rc == 0) rc = problem_rule(out, PROBLEM_NOT_FOUND, "there is no competition %s here", digest);
    else if (rc > 0) {
        o->sequence = sql_column(row, 0);
        o->cancelled = sql_column(row, 1);
        rc = statement_read(sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2), &o->statement);
    }
    sql_end(row);
    if (rc == 0 && competition_take(o->statement.json, &o->about) < 0) o->about.contest = NULL;  // check_phase
    return rc;
}

static int check_phase(const struct opened *o, int64_t at_ms, enum competition_phase wanted, struct ruling *out)
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

// ---- opening and cancelling
static int rule_competition(struct sql *sql, const json_t *json, int64_t at_ms, struct ruling *out)
{
    struct competition c;
    int64_t taken;
    if (competition_take(json, &c) < 0) return problem_rule(out, PROBLEM_MALFORMED, "%s", error_text());
    TRY(sql_int(sql, &taken, 0, "SELECT count(*) FROM competitions WHERE name = ? COLLATE NOCASE", "t", c.name));
    if (taken != 0) return problem_rule(out, PROBLEM_CONFLICT, "there is a competition \"%s\" here; names are not given twice",
                                        c.name);
    if (competition_phase(&c, at_ms) > COMPETITION_COMMITS)
        return problem_rule(out, PROBLEM_COMPETITION, "the time for its commitments is over already");
    return 0;
}

static int rule_cancel(struct sql *sql, const json_t *json, struct ruling *out)
{
    struct opened o;
    int rc = find_open(sql, canonical_text(json, "statement"), out, &o);
    if (rc == 0 && o.cancelled != 0)
        rc = problem_rule(out, PROBLEM_CONFLICT, "the competition %s was cancelled by statement %lld", o.about.name,
                          (long long)o.cancelled);
    statement_free(&o.statement);
    return rc;
}

// ---- commitments
// Refuses a digest that is public or that another person committed: anybody could have copied it.
static int check_digest(struct sql *sql, const char *digest, struct ruling *out)
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

static int check_size(const struct competition *c, size_t count, struct ruling *out)
{
    if (c->rank == RANK_CLASSIC && count != 1)
        return problem_rule(out, PROBLEM_COMPETITION, "an entry of the competition %s is one run; the commitment has %zu",
                            c->name, count);
    if (c->rank == RANK_GROUP && count < GROUP_MINIMUM)
        return problem_rule(out, PROBLEM_COMPETITION, "an entry of the competition %s is a group of at least %d runs; the "
                            "commitment has %zu", c->name, GROUP_MINIMUM, count);
    return 0;
}

static int check_commit(struct sql *sql, const struct opened *o, const json_t *json, const char *handle, int64_t at_ms,
                        struct ruling *out)
{
    const json_t *runs = json_object_get(json, "runs");
    int64_t earlier;
    STEP(check_phase(o, at_ms, COMPETITION_COMMITS, out));
    TRY(sql_int(sql, &earlier, 0, "SELECT sequence FROM commitments WHERE competition = ? AND handle = ?", "it", o->sequence,
                handle));
    if (earlier != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "\"%s\" has committed to the competition %s with statement %lld; a "
                            "commitment is final", handle, o->about.name, (long long)earlier);
    STEP(check_size(&o->about, json_array_size(runs), out));
    const char *last = "";
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const char *digest = canonical_text(json_array_get(runs, i), "statement");
        if (strcmp(last, digest) >= 0)
            return problem_rule(out, PROBLEM_MALFORMED, "the digests of a commitment ascend, and none comes twice");
        STEP(check_digest(sql, digest, out));
        last = digest;
    }
    return 0;
}

static int rule_commit(struct sql *sql, const json_t *json, const char *handle, int64_t at_ms, struct ruling *out)
{
    struct opened o;
    int rc = find_open(sql, canonical_text(json, "competition"), out, &o);
    if (rc == 0) rc = check_commit(sql, &o, json, handle, at_ms, out);
    statement_free(&o.statement);
    return rc;
}

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

static int check_entry(struct sql *sql, const struct opened *o, const struct statement *run, const char *handle, int64_t at_ms,
                       struct ruling *out)
{
    const struct contest *contest = ranking_contest(run->json);
    int64_t commitment;
    STEP(check_phase(o, at_ms, COMPETITION_REVEALS, out));
    TRY(sql_int(sql, &commitment, 0, "SELECT c.sequence FROM committed d JOIN commitments c ON c.sequence = d.commitment "
                "WHERE d.digest = ? AND c.competition = ? AND c.handle = ?", "tit", run->digest, o->sequence, handle));
    if (commitment == 0)
        return problem_rule(out, PROBLEM_COMPETITION, "\"%s\" did not commit to this statement in the competition %s", handle,
                            o->about.name);
    if (contest != o->about.contest)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s is for the boards of %s", o->about.name,
                            o->about.contest->title);
    if (o->about.closed && strcmp(canonical_text(run->json, "division"), "closed") != 0)
        return problem_rule(out, PROBLEM_COMPETITION, "the competition %s is for the closed division", o->about.name);
    return o->about.rank == RANK_GROUP ? check_committed_group(sql, commitment, run->json, out) : 0;
}

static int rule_entry(struct sql *sql, const struct statement *run, const char *handle, int64_t at_ms, struct ruling *out)
{
    struct opened o;
    int rc = find_open(sql, canonical_text(run->json, "competition.statement"), out, &o);
    if (rc == 0) rc = check_entry(sql, &o, run, handle, at_ms, out);
    statement_free(&o.statement);
    return rc;
}

static bool cancels(const struct statement *s)
{
    return s->type == STATEMENT_AUDIT && strcmp(canonical_text(s->json, "verdict"), "cancelled") == 0;
}

bool store_competition_decides(const struct statement *s)
{
    return cancels(s);
}

int store_competition_rule(struct sql *sql, const struct statement *s, const char *handle, int64_t at_ms, struct ruling *out)
{
    int rc = 0;
    *out = (struct ruling){.problem = PROBLEM_NONE};
    if (s->type == STATEMENT_COMPETITION) rc = rule_competition(sql, s->json, at_ms, out);
    else if (s->type == STATEMENT_COMMIT) rc = rule_commit(sql, s->json, handle, at_ms, out);
    else if (s->type == STATEMENT_RUN && canonical_at(s->json, "competition") != NULL)
        rc = rule_entry(sql, s, handle, at_ms, out);
    else if (cancels(s)) rc = rule_cancel(sql, s->json, out);
    return rc < 0 ? rc : 0;
}

// ---- the tables
static int apply_commit(struct store *s, const struct incoming *in)
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

int store_competition_apply(struct store *s, const struct incoming *in)
{
    const struct statement *statement = in->statement;
    if (statement->type == STATEMENT_COMMIT) return apply_commit(s, in);
    if (statement->type == STATEMENT_COMPETITION)
        return sql_do(&s->sql, "INSERT INTO competitions (sequence, digest, name) VALUES (?, ?, ?)", "itt", in->sequence,
                      statement->digest, canonical_text(statement->json, "name"));
    if (statement->type == STATEMENT_RUN && canonical_at(statement->json, "competition") != NULL)
        return sql_do(&s->sql, "UPDATE committed SET run = ? WHERE digest = ?", "it", in->sequence, statement->digest);
    if (cancels(statement))
        return sql_do(&s->sql, "UPDATE competitions SET cancelled = ? WHERE digest = ?", "it", in->sequence,
                      canonical_text(statement->json, "statement"));
    return 0;
}

// ---- reading
#define COMPETITION_COLUMNS \
    "SELECT c.sequence, s.accepted_ms, c.cancelled, c.digest, s.payload, " \
    "(SELECT count(*) FROM commitments m WHERE m.competition = c.sequence), " \
    "(SELECT count(*) FROM commitments m WHERE m.competition = c.sequence AND NOT EXISTS " \
    "(SELECT 1 FROM committed d WHERE d.commitment = m.sequence AND d.run = 0)) " \
    "FROM competitions c JOIN statements s ON s.sequence = c.sequence "

static int take_competition(sqlite3_stmt *row, struct arena *arena, struct competition_stored *out)
{
    struct statement statement;
    *out = (struct competition_stored){.sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 1),
                                       .cancelled = sql_column(row, 2), .digest = sql_keep(row, 3, arena),
                                       .contenders = sql_column(row, 5), .entered = sql_column(row, 6)};
    TRY(statement_read(sqlite3_column_blob(row, 4), (size_t)sqlite3_column_bytes(row, 4), &statement));
    struct competition *c = &out->about;
    const char **texts[] = {&c->name, &c->title, &c->rules, &c->url, &c->task, &c->ranked_by};
    if (competition_take(statement.json, c) < 0) c->contest = NULL;  // a later program may drop a board: others are listed still
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = arena_text(arena, "%s", *texts[i]);
    statement_free(&statement);
    return 0;
}

int store_competitions(struct reader *r, struct arena *arena, struct competition_stored **list, int *count)
{
    sqlite3_stmt *row;
    int rc;
    *count = 0;
    *list = arena_alloc(arena, COMPETITIONS_MOST * sizeof **list);
    TRY(sql_start(&r->sql, &row, COMPETITION_COLUMNS "ORDER BY c.sequence DESC LIMIT ?", "i", (int64_t)COMPETITIONS_MOST));
    while ((rc = sql_next(&r->sql, row)) > 0)
        if ((rc = take_competition(row, arena, &(*list)[(*count)++])) < 0) break;
    sql_end(row);
    return rc;
}

int store_competition(struct reader *r, const char *name, struct arena *arena, struct competition_stored *out)
{
    sqlite3_stmt *row;
    TRY(sql_start(&r->sql, &row, COMPETITION_COLUMNS "WHERE c.name = ? COLLATE NOCASE OR c.digest = ? LIMIT 1", "tt", name,
                  name));
    int rc = sql_next(&r->sql, row);
    int taken = rc > 0 ? take_competition(row, arena, out) : 0;
    sql_end(row);
    TRY(taken);
    return rc == 0 ? fail(ERR_MISSING, "there is no competition \"%.80s\" here", name) : rc < 0 ? rc : 0;
}

static void take_contender(sqlite3_stmt *row, struct arena *arena, struct contender *out)
{
    *out = (struct contender){.sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 1),
                              .handle = sql_keep(row, 2, arena), .runs = (int)sql_column(row, 3),
                              .revealed = (int)sql_column(row, 4), .withdrawn = (int)sql_column(row, 5),
                              .run = sql_column(row, 6), .group = sql_keep(row, 7, arena)};
}

static int count_objections(struct reader *r, struct contender *one)
{
    int64_t undecided, upheld;
    if (one->revealed == 0) return 0;
    TRY(sql_int(&r->sql, &undecided, 0, "SELECT count(*) FROM objections o JOIN committed d ON d.run = o.run "
                "WHERE d.commitment = ? AND o.decision = 0", "i", one->sequence));
    TRY(sql_int(&r->sql, &upheld, 0, "SELECT count(*) FROM objections o JOIN committed d ON d.run = o.run "
                "WHERE d.commitment = ? AND o.upheld = 1", "i", one->sequence));
    one->undecided = (int)undecided;
    one->upheld = (int)upheld;
    return 0;
}

// Those who sent runs come first, so that people who only commit cannot crowd them out.
static int read_contenders(struct reader *r, int64_t competition, struct arena *arena, struct contender *at, int *count)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&r->sql, &row,
                  "SELECT c.sequence, s.accepted_ms, c.handle, count(d.digest), sum(d.run > 0), "
                  "sum(coalesce(w.withdrawn, 0) > 0), max(d.run), coalesce(max(w.group_nonce), '') FROM commitments c "
                  "JOIN statements s ON s.sequence = c.sequence JOIN committed d ON d.commitment = c.sequence "
                  "LEFT JOIN runs w ON w.sequence = d.run WHERE c.competition = ? GROUP BY c.sequence "
                  "ORDER BY max(d.run) > 0 DESC, c.sequence LIMIT ?", "ii", competition, (int64_t)CONTENDERS_MOST));
    while ((rc = sql_next(&r->sql, row)) > 0) take_contender(row, arena, &at[(*count)++]);
    sql_end(row);
    return rc;
}

static int find_row(struct reader *r, const struct competition *c, struct arena *arena, struct contender *one)
{
    const char *source = c->rank == RANK_GROUP ? arena_text(arena, "group %s", one->group)
                                               : arena_text(arena, "#%lld", (long long)one->run);
    if (one->revealed < one->runs || c->contest == NULL) return 0;
    int rc = store_entry_at(r, source, c, arena, &one->entry);
    one->listed = rc == 0;
    return rc == ERR_MISSING ? 0 : rc;
}

int store_contenders(struct reader *r, const struct competition_stored *c, struct arena *arena, struct contender **list,
                     int *count)
{
    *count = 0;
    *list = arena_alloc(arena, CONTENDERS_MOST * sizeof **list);
    TRY(read_contenders(r, c->sequence, arena, *list, count));
    for (int i = 0; i < *count; i++) {
        TRY(find_row(r, &c->about, arena, &(*list)[i]));
        TRY(count_objections(r, &(*list)[i]));
    }
    competition_rank(&c->about, *list, *count);
    return 0;
}
