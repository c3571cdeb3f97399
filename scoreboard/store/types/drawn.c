// SPDX-License-Identifier: Apache-2.0
// The draw: after each statement, which runs its checkpoint draws and which became the best of a board; then what the operator's
// repetitions said. Invariant: all of it follows from the statements, their receipts among them, so store_check repeats it.
// Workload: each accepted statement. Cost: a few lookups by index; every 256th time a hash for each run that counts.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/types/types.h"

// A program can repeat a complete run that the harness evaluated. A flag keeps a run below the levels that count.
#define DRAWABLE "r.curve <> '' AND r.flags = 0 AND r.finished = 1 AND r.withdrawn = 0 AND r.superseded = 0 AND r.trust < 4 "
_Static_assert(TRUST_REPRODUCED == 4, "a run that was repeated needs no draw, in DRAWABLE");
_Static_assert(TRUST_CHECKED == 2, "the trust in the index entries_best and in read_best");
_Static_assert(BOARD_TRAINING_TIME == 0 && BOARD_TRAINING_COST == 1, "the boards that a repetition is about, in draw_best");

struct drawing {
    struct store *store;
    const struct incoming *in;
    int64_t share, again;  // in force before this statement
    char hash[DIGEST_HEX];
};

static int put_drawn(struct drawing *d, int64_t first, enum drawn_why why)
{
    struct sql *sql = &d->store->sql;
    int64_t there;
    TRY(sql_int(sql, &there, 0, "SELECT count(*) FROM drawn WHERE run = ?", "i", first));
    if (there != 0) return 0;
    TRY(sql_do(sql, "INSERT INTO drawn (run, checkpoint, why) VALUES (?, ?, ?)", "iii", first, d->in->sequence, (int64_t)why));
    return drawn_show(d->store, first);
}

int drawn_show(struct store *s, int64_t first)
{
    return sql_do(&s->sql, "UPDATE entries SET stamp = ?1 WHERE alive = 1 AND source IN (SELECT '#' || sequence FROM runs "
                  "WHERE first = ?2 AND superseded = 0 UNION ALL SELECT 'group ' || group_nonce FROM runs WHERE first = ?2 AND "
                  "superseded = 0 AND group_nonce <> '')", "ii", s->stamp, first);
}

// Rows of the query: number and digest of the first statement of a run. Draws are stored after the query has ended.
static int draw_among(struct drawing *d, sqlite3_stmt *row, int64_t share, enum drawn_why why)
{
    int64_t *found = NULL;
    int count = 0, rc;
    while ((rc = sql_next(&d->store->sql, row)) > 0) {
        if (!log_draw_has(d->hash, sql_text(row, 1), share)) continue;
        found = grow(found, (size_t)(count + 1) * sizeof *found);
        found[count++] = sql_column(row, 0);
    }
    sql_end(row);
    for (int i = 0; i < count && rc == 0; i++) rc = put_drawn(d, found[i], why);
    free(found);
    return rc;
}

// A flag that a new statement takes off would spare a run the draw otherwise: one of a latency, for instance.
static int draw_new(struct drawing *d)
{
    sqlite3_stmt *row;
    if (d->in->statement->type != STATEMENT_RUN) return 0;
    TRY(sql_start(&d->store->sql, &row, "SELECT r.first, r.digest FROM runs r WHERE r.sequence = ? AND (r.first = r.sequence OR "
                  "EXISTS (SELECT 1 FROM runs o WHERE o.nonce = r.nonce AND o.superseded = r.sequence AND o.flags > 0)) AND "
                  DRAWABLE, "i", d->in->sequence));
    return draw_among(d, row, d->share, DRAWN_NEW);
}

static int draw_again(struct drawing *d)
{
    sqlite3_stmt *row;
    if (d->in->sequence % DRAW_AGAIN != 0) return 0;
    TRY(sql_start(&d->store->sql, &row, "SELECT r.first, s.digest FROM runs r JOIN statements s ON s.sequence = r.first WHERE "
                  "NOT EXISTS (SELECT 1 FROM drawn d WHERE d.run = r.first) AND " DRAWABLE "ORDER BY r.first", ""));
    return draw_among(d, row, d->again, DRAWN_AGAIN);
}

// ---- the best of each board
struct ranked_board {
    char contest[FILTER_TEXT];
    int64_t board, rank, target;
};

// Boards of training whose rows this statement changed; all of them if it brought new rules.
static int list_boards(struct drawing *d, struct ranked_board **boards, int *count)
{
    const bool all = d->in->statement->type == STATEMENT_DRAW;
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(&d->store->sql, &row, all ? "SELECT DISTINCT contest, board, rank, target_micro FROM entries WHERE stamp <= ? "
                                              "AND board <= 1 ORDER BY 1, 2, 3, 4"
                                            : "SELECT DISTINCT contest, board, rank, target_micro FROM entries WHERE stamp = ? "
                                              "AND board <= 1 ORDER BY 1, 2, 3, 4", "i", d->store->stamp));
    while ((rc = sql_next(&d->store->sql, row)) > 0) {
        *boards = grow(*boards, (size_t)(*count + 1) * sizeof **boards);
        struct ranked_board *b = &(*boards)[(*count)++];
        *b = (struct ranked_board){{0}, sql_column(row, 1), sql_column(row, 2), sql_column(row, 3)};
        strncpy(b->contest, sql_text(row, 0), sizeof b->contest - 1);
    }
    sql_end(row);
    return rc;
}

// The best row by its value. A run that takes its place later is drawn then.
static int draw_best(struct drawing *d, const struct ranked_board *b)
{
    struct arena arena = {0};
    sqlite3_stmt *row;
    int64_t sequence = 0;
    const char *group = "";
    TRY(sql_start(&d->store->sql, &row, "SELECT sequence, group_nonce FROM entries WHERE contest = ? AND board = ? AND rank = ? "
                  "AND target_micro = ? AND alive = 1 AND trust >= 2 ORDER BY value, accepted_ms, sequence, source LIMIT 1",
                  "tiii", b->contest, b->board, b->rank, b->target));
    int rc = sql_next(&d->store->sql, row);
    if (rc > 0) sequence = sql_column(row, 0), group = b->rank == RANK_GROUP ? sql_keep(row, 1, &arena) : "";
    sql_end(row);
    if (rc > 0 && *group != 0)
        rc = sql_start(&d->store->sql, &row,
                       "SELECT r.first, r.digest FROM runs r WHERE r.group_nonce = ? AND r.group_nonce <> '' "
                       "AND " DRAWABLE "ORDER BY r.first", "t", group);
    else if (rc > 0)
        rc = sql_start(&d->store->sql, &row, "SELECT r.first, r.digest FROM runs r WHERE r.sequence = ? AND " DRAWABLE, "i",
                       sequence);
    if (rc == 0 && sequence != 0) rc = draw_among(d, row, DRAW_WHOLE, DRAWN_BEST);
    arena_free(&arena);
    return rc < 0 ? rc : 0;
}

static int draw_all_best(struct drawing *d)
{
    struct ranked_board *boards = NULL;
    int count = 0;
    int rc = list_boards(d, &boards, &count);
    for (int i = 0; i < count && rc == 0; i++) rc = draw_best(d, &boards[i]);
    free(boards);
    return rc;
}

// A receipt of before there was a log draws nothing.
static bool read_hash(struct drawing *d)
{
    json_t *receipt = json_loads(d->in->receipt, JSON_REJECT_DUPLICATES, NULL);
    const char *signature = canonical_text(receipt, "log.signature");
    log_draw_hash(signature, d->hash);
    const bool has = *signature != 0;
    json_decref(receipt);
    return has;
}

int drawn_after(struct store *s, const struct incoming *in)
{
    struct drawing d = {.store = s, .in = in};
    sqlite3_stmt *row;
    TRY(sql_start(&s->sql, &row, "SELECT share_micro, again_micro FROM draws WHERE sequence < ? ORDER BY sequence DESC LIMIT 1",
                  "i", in->sequence));
    int rc = sql_next(&s->sql, row);
    if (rc > 0) d.share = sql_column(row, 0), d.again = sql_column(row, 1);
    sql_end(row);
    TRY(rc);
    if ((rc == 0 && in->statement->type != STATEMENT_DRAW) || !read_hash(&d)) return 0;
    if (rc > 0) TRY(draw_new(&d));
    if (rc > 0) TRY(draw_again(&d));
    return draw_all_best(&d);
}

// ---- outcomes
int drawn_flags(struct sql *sql, const char *nonce, int64_t *count)
{
    return sql_int(sql, count, 0, "SELECT count(DISTINCT d.run) FROM drawn d JOIN runs r ON r.first = d.run WHERE r.nonce = ? "
                   "AND d.verdict = 2", "t", nonce);
}
_Static_assert(DRAWN_DIFFERS == 2, "a verdict that is a flag, in drawn_flags and drawn_findings");

int drawn_findings(struct sql *sql, int64_t run, struct findings *into)
{
    sqlite3_stmt *row;
    TRY(sql_start(sql, &row, "SELECT d.audit, d.epoch_micro FROM drawn d JOIN runs r ON r.first = d.run WHERE r.sequence = ? AND "
                  "d.verdict = 2", "i", run));
    int rc = sql_next(sql, row);
    if (rc > 0)
        finding_add(into, CHECK_REPEATED, "the operator trained it again for %.6g epoch%s with other figures, statement %lld",
                    (double)sql_column(row, 1) * 1e-6, sql_column(row, 1) == 1000000 ? "" : "s", (long long)sql_column(row, 0));
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int take_audit(sqlite3_stmt *row, int column, struct arena *arena, struct drawn *out)
{
    struct statement s;
    if (sqlite3_column_bytes(row, column) == 0) return 0;
    TRY(statement_read(sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column), &s));
    out->points = canonical_int(s.json, "repeated.points");
    out->equal = canonical_int(s.json, "repeated.equal");
    out->hardware = arena_text(arena, "%s", canonical_text(s.json, "repeated.hardware"));
    out->by = arena_text(arena, "%s", canonical_text(s.json, "by"));
    statement_free(&s);
    return 0;
}

int store_drawn(struct reader *r, int64_t run, struct arena *arena, struct drawn *out)
{
    sqlite3_stmt *row;
    *out = (struct drawn){.hardware = "", .by = ""};
    TRY(sql_start(&r->sql, &row, "SELECT d.checkpoint, c.accepted_ms, d.why, d.audit, coalesce(a.accepted_ms, 0), d.verdict, "
                  "d.epoch_micro, r.trust < 4 AND d.verdict = 0 AND r.withdrawn = 0, coalesce(a.payload, x''), "
                  STORE_FOLLOWED("r") "FROM runs r "
                  "JOIN drawn d ON d.run = r.first JOIN statements c ON c.sequence = d.checkpoint "
                  "LEFT JOIN statements a ON a.sequence = d.audit WHERE r.sequence = ?", "i", run));
    int rc = sql_next(&r->sql, row);
    if (rc > 0) {
        out->checkpoint = sql_column(row, 0), out->since_ms = sql_column(row, 1), out->why = (enum drawn_why)sql_column(row, 2);
        out->audit = sql_column(row, 3), out->audited_ms = sql_column(row, 4);
        out->verdict = (enum drawn_verdict)sql_column(row, 5), out->epoch_micro = sql_column(row, 6);
        out->waits = sql_column(row, 7) != 0;
        out->follows = sql_column(row, 9);
        const bool known = (unsigned)out->why <= DRAWN_BEST && (unsigned)out->verdict <= DRAWN_DIFFERS;
        rc = known ? take_audit(row, 8, arena, out) : fail(ERR_DATABASE, "the draws of the record have been altered");
    } else if (rc == 0) rc = ERR_MISSING;
    sql_end(row);
    return rc;
}

int store_drawn_waiting(struct reader *r, struct arena *arena, int64_t **runs, int *count)
{
    sqlite3_stmt *row;
    int64_t most;
    int rc = 0;
    *count = 0;
    TRY(sql_int(&r->sql, &most, 0, "SELECT count(*) FROM drawn", ""));
    *runs = arena_alloc(arena, (size_t)(most + 1) * sizeof **runs);
    TRY(sql_start(&r->sql, &row, "SELECT r.sequence FROM drawn d JOIN runs r ON r.first = d.run WHERE d.verdict = 0 AND "
                  "r.trust < 4 AND r.withdrawn = 0 AND r.superseded = 0 ORDER BY d.checkpoint, d.run", ""));
    while (*count < most && (rc = sql_next(&r->sql, row)) > 0) (*runs)[(*count)++] = sql_column(row, 0);
    sql_end(row);
    return rc < 0 ? rc : 0;
}

int store_drawn_by(struct reader *r, const char *handle, struct drawn_counts *c)
{
    sqlite3_stmt *row;
    *c = (struct drawn_counts){0};
    TRY(sql_start(&r->sql, &row, "SELECT count(*), coalesce(sum(d.verdict = 1), 0), coalesce(sum(d.verdict = 2), 0), "
                  "coalesce(sum(d.verdict = 0 AND r.trust < 4 AND r.withdrawn = 0), 0), "
                  "coalesce(sum(d.verdict = 0 AND r.trust < 4 AND r.withdrawn > 0), 0) "
                  "FROM runs r JOIN drawn d ON d.run = r.first WHERE r.handle = ? AND r.finished = 1 AND r.superseded = 0", "t",
                  handle));
    int rc = sql_next(&r->sql, row);
    if (rc > 0)
        *c = (struct drawn_counts){sql_column(row, 0), sql_column(row, 1), sql_column(row, 2), sql_column(row, 3),
                                   sql_column(row, 4)};
    sql_end(row);
    return rc < 0 ? rc : 0;
}
