// SPDX-License-Identifier: Apache-2.0
// Competitions: how the board opens them, and how they are read. Cost: some lookups by index; a list parses each payload, some
// KB.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/types/types.h"

int type_competition_find(struct sql *sql, const char *digest, struct ruling *out,
                          struct competition_opened *o)
{
    sqlite3_stmt *row;
    *o = (struct competition_opened){0};
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
    if (rc == 0 && competition_take(o->statement.json, &o->about) < 0) o->about.contest = NULL;
    return rc;
}

static int check_competition(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct competition c;
    int64_t taken;
    if (competition_take(in->statement->json, &c) < 0) return problem_rule(out, PROBLEM_MALFORMED, "%s", error_text());
    TRY(sql_int(&s->sql, &taken, 0, "SELECT count(*) FROM competitions WHERE name = ? COLLATE NOCASE", "t", c.name));
    if (taken != 0) return problem_rule(out, PROBLEM_CONFLICT, "there is a competition \"%s\" here; names are not given twice",
                                        c.name);
    if (competition_phase(&c, in->accepted_ms) > COMPETITION_COMMITS)
        return problem_rule(out, PROBLEM_COMPETITION, "the time for its commitments is over already");
    return 0;
}

static int apply_competition(struct store *s, const struct incoming *in)
{
    return sql_do(&s->sql, "INSERT INTO competitions (sequence, digest, name) VALUES (?, ?, ?)", "itt", in->sequence,
                  in->statement->digest, canonical_text(in->statement->json, "name"));
}

const struct store_type type_competition = {.own = true, .check = check_competition, .apply = apply_competition};

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
