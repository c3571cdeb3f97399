// SPDX-License-Identifier: Apache-2.0
// Objections to runs of other people. The operator decides about them (type_audit.c). Cost: some lookups by index.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/types/types.h"

// A key costs nothing, and a withdrawn run has been taken back.
int type_object_stands(struct sql *sql, const char *handle, bool *stands)
{
    int64_t found;
    TRY(sql_int(sql, &found, 0, "SELECT EXISTS (SELECT 1 FROM statements s LEFT JOIN runs r USING (sequence) LEFT JOIN benches b "
                "USING (sequence) WHERE s.handle = ? AND ((r.withdrawn = 0 AND r.superseded = 0) OR b.withdrawn = 0))", "t",
                handle));
    *stands = found != 0;
    return 0;
}

static int check_objection(struct store *s, const struct incoming *in, struct ruling *out)
{
    const char *handle = in->handle;
    bool stands;
    TRY(type_object_stands(&s->sql, handle, &stands));
    if (!stands)
        return problem_rule(out, PROBLEM_STANDING, "\"%s\" has no run and no measurement here that still counts, and who objects "
                            "has one", handle);
    const char *digest = canonical_text(in->statement->json, "statement");
    int64_t earlier;
    sqlite3_stmt *row;
    char nonce[64] = "";
    TRY(sql_start(&s->sql, &row, "SELECT handle, withdrawn, superseded, nonce FROM runs WHERE digest = ?", "t", digest));
    int rc = sql_next(&s->sql, row);
    if (rc == 0) problem_rule(out, PROBLEM_NOT_FOUND, "there is no run %s here to object to", digest);
    else if (rc > 0 && strcmp(sql_text(row, 0), handle) == 0)
        problem_rule(out, PROBLEM_CONFLICT, "statement %s is your own; withdraw it instead", digest);
    else if (rc > 0 && sql_column(row, 1) != 0) problem_rule(out, PROBLEM_CONFLICT, "statement %s has been withdrawn already",
                                                             digest);
    else if (rc > 0 && sql_column(row, 2) != 0)
        problem_rule(out, PROBLEM_CONFLICT, "statement %s has been superseded by statement %lld", digest,
                     (long long)sql_column(row, 2));
    else if (rc > 0) snprintf(nonce, sizeof nonce, "%s", sql_text(row, 3));
    sql_end(row);
    if (rc < 0 || out->problem != PROBLEM_NONE) return rc < 0 ? rc : RULED;
    TRY(sql_int(&s->sql, &earlier, 0, "SELECT sequence FROM objections WHERE nonce = ? AND handle = ?", "tt", nonce, handle));
    if (earlier == 0) return 0;
    return problem_rule(out, PROBLEM_CONFLICT, "\"%s\" has objected to this run with statement %lld", handle, (long long)earlier);
}

static int apply_objection(struct store *s, const struct incoming *in)
{
    return sql_do(&s->sql, "INSERT INTO objections (sequence, nonce, run, handle) SELECT ?, nonce, sequence, ? FROM runs "
                  "WHERE digest = ?", "itt", in->sequence, in->handle, canonical_text(in->statement->json, "statement"));
}

const struct store_type type_object = {.quarters = {4, 4}, .check = check_objection, .apply = apply_objection};

// ---- reading
int type_object_flags(struct sql *sql, const char *nonce, int64_t *count)
{
    return sql_int(sql, count, 0, "SELECT count(*) FROM objections WHERE nonce = ? AND upheld = 1", "t", nonce);
}

int type_object_findings(struct sql *sql, int64_t run, struct findings *into)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(sql, &row, "SELECT sequence, handle, decision FROM objections WHERE upheld = 1 AND nonce = (SELECT nonce "
                  "FROM runs WHERE sequence = ?) ORDER BY sequence", "i", run));
    while ((rc = sql_next(sql, row)) > 0)
        finding_add(into, CHECK_OBJECTION, "statement %lld upheld the objection %lld of %s", (long long)sql_column(row, 2),
                    (long long)sql_column(row, 0), sql_text(row, 1));
    sql_end(row);
    return rc;
}

// Copies members of a statement's payload into the arena.
static int take_words(sqlite3_stmt *row, int column, const char *const names[2], struct arena *arena, const char **words[2])
{
    struct statement s;
    if (sqlite3_column_bytes(row, column) == 0) return 0;
    TRY(statement_read(sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column), &s));
    for (int i = 0; i < 2; i++) *words[i] = arena_text(arena, "%s", canonical_text(s.json, names[i]));
    statement_free(&s);
    return 0;
}

static int take_objection(sqlite3_stmt *row, struct arena *arena, struct objection *o)
{
    *o = (struct objection){.sequence = sql_column(row, 0), .accepted_ms = sql_column(row, 1), .handle = sql_keep(row, 2, arena),
                            .reason = "", .url = "", .decision = sql_column(row, 4), .decided_ms = sql_column(row, 5),
                            .upheld = sql_column(row, 6) != 0, .by = "", .why = ""};
    TRY(take_words(row, 3, (const char *const[]){"reason", "url"}, arena, (const char **[]){&o->reason, &o->url}));
    return take_words(row, 7, (const char *const[]){"by", "reason"}, arena, (const char **[]){&o->by, &o->why});
}

int store_objections(struct reader *r, int64_t run, int64_t skip, struct arena *arena, struct objections *out)
{
    sqlite3_stmt *row;
    int rc;
    *out = (struct objections){.at = arena_alloc(arena, OBJECTIONS_MOST * sizeof *out->at)};
    TRY(sql_int(&r->sql, &out->total, 0, "SELECT count(*) FROM objections WHERE nonce = (SELECT nonce FROM runs "
                "WHERE sequence = ?)", "i", run));
    TRY(sql_start(&r->sql, &row, "SELECT o.sequence, s.accepted_ms, o.handle, s.payload, o.decision, "
                  "coalesce(d.accepted_ms, 0), o.upheld, coalesce(d.payload, x'') FROM objections o "
                  "JOIN statements s ON s.sequence = o.sequence LEFT JOIN statements d ON d.sequence = o.decision "
                  "WHERE o.nonce = (SELECT nonce FROM runs WHERE sequence = ?) ORDER BY o.upheld DESC, "
                  "EXISTS (SELECT 1 FROM runs f WHERE f.handle = o.handle AND f.finished = 1 AND f.withdrawn = 0) DESC, "
                  "o.sequence LIMIT ? OFFSET ?", "iii", run, (int64_t)OBJECTIONS_MOST, skip));
    while ((rc = sql_next(&r->sql, row)) > 0)
        if ((rc = take_objection(row, arena, &out->at[out->count++])) < 0) break;
    sql_end(row);
    return rc;
}
