// SPDX-License-Identifier: Apache-2.0
// Tickets and the beats of their runs. Invariant: a state has one stamp, its first. A beat changes no answer that a cache holds,
// so it leaves the version of the record as it is. Cost: some lookups by index; a beat is a durable transaction of one row.
#include <stdio.h>
#include <string.h>

#include "scoreboard/store/types/types.h"

// All tickets of a group are one person's, agree in its number of runs, and announce each run once.
static int check_ticket(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct sql *sql = &s->sql;
    const json_t *ticket = in->statement->json;
    const char *nonce = canonical_text(ticket, "group.nonce");
    const int64_t index = canonical_int(ticket, "group.index"), planned = canonical_int(ticket, "group.planned");
    sqlite3_stmt *row;
    int rc = 0, ruled = 0;
    if (*nonce == 0) return 0;
    if (index > planned)
        return problem_rule(out, PROBLEM_MALFORMED, "the group has %lld runs, and the ticket is for run %lld", (long long)planned,
                            (long long)index);
    int64_t others;  // the group's nonce is public once a run of it stands here
    TRY(sql_int(sql, &others, 0, "SELECT count(*) FROM runs WHERE group_nonce = ? AND group_nonce <> '' AND handle <> ?", "tt",
                nonce, in->handle));
    if (others > 0) return problem_rule(out, PROBLEM_CONFLICT, "the group %s belongs to another person", nonce);
    TRY(sql_start(sql, &row, "SELECT sequence, handle, group_index, planned FROM tickets WHERE group_nonce = ? AND "
                  "group_nonce <> ''", "t", nonce));
    while (ruled == 0 && (rc = sql_next(sql, row)) > 0) {
        const long long sequence = (long long)sql_column(row, 0);
        if (strcmp(sql_text(row, 1), in->handle) != 0)
            ruled = problem_rule(out, PROBLEM_CONFLICT, "the group %s belongs to another person", nonce);
        else if (sql_column(row, 2) == index)
            ruled = problem_rule(out, PROBLEM_CONFLICT, "run %lld of the group was announced already, with ticket %lld",
                                 (long long)index, sequence);
        else if (sql_column(row, 3) != planned)
            ruled = problem_rule(out, PROBLEM_CONFLICT, "ticket %lld of the group announced %lld runs, and this one %lld",
                                 sequence, (long long)sql_column(row, 3), (long long)planned);
    }
    sql_end(row);
    return rc < 0 ? rc : ruled;
}

#define TICKET_COLUMNS(C)                                                                                              \
    C(t, digest, in->statement->digest)                                                                                \
    C(t, handle, in->handle)                                                                                           \
    C(t, lock, canonical_text(ticket, "lock"))                                                                         \
    C(t, group_nonce, canonical_text(ticket, "group.nonce"))                                                           \
    C(i, group_index, canonical_int(ticket, "group.index"))                                                            \
    C(i, planned, canonical_int(ticket, "group.planned"))

static int apply_ticket(struct store *s, const struct incoming *in)
{
    const json_t *ticket = in->statement->json;
    return SQL_INSERT(&s->sql, "tickets", in->sequence, TICKET_COLUMNS);
}

// A group needs a ticket for each run at the pace of its training: ten tickets per run that is allowed. Somebody without a run
// here, whose handle costs nothing, gets enough for a group.
const struct store_type type_ticket = {.first = true, .quarters = {12, 40}, .check = check_ticket, .apply = apply_ticket};

// ---- runs with a ticket
// A run of a group that its person announced with a ticket is that run and no other. A ticket shows its group's nonce to
// everybody, so the first to announce or to submit a run of a group owns it.
static int check_unannounced(struct sql *sql, const json_t *run, const char *handle, struct ruling *out)
{
    const char *nonce = canonical_text(run, "group.nonce");
    const int64_t index = canonical_int(run, "group.index");
    sqlite3_stmt *row;
    int ruled = 0;
    if (*nonce == 0) return 0;
    TRY(sql_start(sql, &row, "SELECT sequence, handle <> ?1 FROM tickets WHERE group_nonce = ?2 AND group_nonce <> '' AND "
                  "(handle <> ?1 OR group_index = ?3) ORDER BY 2 DESC LIMIT 1", "tti", handle, nonce, index));
    int rc = sql_next(sql, row);
    if (rc > 0 && sql_column(row, 1) != 0)
        ruled = problem_rule(out, PROBLEM_CONFLICT, "the group %s belongs to another person", nonce);
    else if (rc > 0)
        ruled = problem_rule(out, PROBLEM_CONFLICT, "run %lld of the group was announced with ticket %lld, and this run does not "
                             "have it", (long long)index, (long long)sql_column(row, 0));
    sql_end(row);
    return rc < 0 ? rc : ruled;
}

struct issued {
    int64_t sequence, run, issued_ms;
    char handle[64], proof[DIGEST_HEX];
    struct statement statement;
};

static int find_issued(struct sql *sql, const char *digest, struct issued *t)
{
    sqlite3_stmt *row;
    *t = (struct issued){0};
    TRY(sql_start(sql, &row, "SELECT t.sequence, t.run, t.handle, s.receipt_signature, s.payload, s.accepted_ms FROM tickets t "
                  "JOIN statements s ON s.sequence = t.sequence WHERE t.digest = ?", "t", digest));
    int rc = sql_next(sql, row);
    if (rc > 0) {
        t->sequence = sql_column(row, 0);
        t->run = sql_column(row, 1);
        t->issued_ms = sql_column(row, 5);
        snprintf(t->handle, sizeof t->handle, "%s", sql_text(row, 2));
        ticket_proof(sql_text(row, 3), t->proof);
        rc = statement_read(sqlite3_column_blob(row, 4), (size_t)sqlite3_column_bytes(row, 4), &t->statement);
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int check_issued(struct store *s, const struct incoming *in, const struct issued *t, struct ruling *out)
{
    const json_t *run = in->statement->json;
    const long long number = (long long)t->sequence;
    int64_t same;
    if (t->sequence == 0)
        return problem_rule(out, PROBLEM_CONFLICT, "this board has issued no ticket %s", canonical_text(run, "ticket.statement"));
    if (strcmp(t->handle, in->handle) != 0)
        return problem_rule(out, PROBLEM_NOT_YOURS, "ticket %lld belongs to \"%s\"", number, t->handle);
    if (strcmp(t->proof, canonical_text(run, "ticket.proof")) != 0)
        return problem_rule(out, PROBLEM_CONFLICT, "the run does not have the proof of ticket %lld, so it began without it",
                            number);
    const char *differs = ticket_differs(run, t->statement.json);
    if (differs != NULL) return problem_rule(out, PROBLEM_CONFLICT, "ticket %lld announced another \"%s\"", number, differs);
    if (t->run == 0 && in->accepted_ms - t->issued_ms > STORE_TICKET_MS)
        return problem_rule(out, PROBLEM_CONFLICT, "ticket %lld is older than %lld days, so its run counts as failed", number,
                            (long long)(STORE_TICKET_MS / 86400000));
    if (t->run == 0) return 0;
    TRY(sql_int(&s->sql, &same, 0, "SELECT count(*) FROM runs WHERE first = ? AND nonce = ?", "it", t->run,
                canonical_text(run, "nonce")));
    if (same > 0) return 0;  // the same run again
    return problem_rule(out, PROBLEM_CONFLICT, "ticket %lld was for one run, which is statement %lld", number, (long long)t->run);
}

static bool is_ours(const json_t *run, const char *board_key)
{
    return strcmp(canonical_text(run, "ticket.board_key"), board_key) == 0;
}

int type_ticket_check_run(struct store *s, const struct incoming *in, struct ruling *out)
{
    struct issued ticket;
    const json_t *run = in->statement->json;
    if (!is_ours(run, s->key_id)) return check_unannounced(&s->sql, run, in->handle, out);
    TRY(find_issued(&s->sql, canonical_text(run, "ticket.statement"), &ticket));
    int rc = check_issued(s, in, &ticket, out);
    statement_free(&ticket.statement);
    return rc;
}

int type_ticket_apply_run(struct store *s, const struct incoming *in)
{
    const json_t *run = in->statement->json;
    if (!is_ours(run, s->key_id)) return 0;
    return sql_do(&s->sql, "UPDATE tickets SET run = (SELECT first FROM runs WHERE sequence = ?) WHERE digest = ?", "it",
                  in->sequence, canonical_text(run, "ticket.statement"));
}

// ---- beats

struct beaten {
    int64_t ticket, run, issued_ms, count;
    bool opens;  // the beat brings the secret of the ticket's lock
};

static int find_ticket(struct store *s, const char *digest, const struct ticket_beat *beat, struct beaten *t)
{
    sqlite3_stmt *row;
    char lock[DIGEST_HEX];
    *t = (struct beaten){0};
    ticket_lock(beat->secret, lock);
    TRY(sql_start(&s->sql, &row, "SELECT t.sequence, t.run, t.lock, s.accepted_ms, (SELECT count(*) FROM beats b "
                  "WHERE b.ticket = t.sequence) FROM tickets t JOIN statements s ON s.sequence = t.sequence WHERE t.digest = ?",
                  "t", digest));
    int rc = sql_next(&s->sql, row);
    if (rc > 0)
        *t = (struct beaten){sql_column(row, 0), sql_column(row, 1), sql_column(row, 3), sql_column(row, 4),
                             strcmp(sql_text(row, 2), lock) == 0};
    sql_end(row);
    return rc < 0 ? rc : 0;
}

// RULED: nothing is to be written.
static int rule_beat(struct store *s, const char *digest, const struct ticket_beat *beat, int64_t now_ms, struct beating *out,
                     int64_t *ticket)
{
    struct beaten t;
    int64_t before;
    TRY(find_ticket(s, digest, beat, &t));
    *ticket = t.ticket;
    if (t.ticket == 0) return problem_rule(&out->ruling, PROBLEM_NOT_FOUND, "there is no ticket %.64s here", digest);
    if (!t.opens) return problem_rule(&out->ruling, PROBLEM_NOT_YOURS, "the beat does not have the secret of ticket %lld",
                                      (long long)t.ticket);
    TRY(sql_int(&s->sql, &before, -1, "SELECT stamped_ms FROM beats WHERE ticket = ? AND hash = ?", "it", t.ticket, beat->hash));
    out->again = before >= 0;
    out->stamped_ms = before;
    if (out->again) return RULED;
    if (t.run != 0) return problem_rule(&out->ruling, PROBLEM_CONFLICT, "the run of ticket %lld was reported already",
                                        (long long)t.ticket);
    if (now_ms - t.issued_ms > STORE_TICKET_MS)
        return problem_rule(&out->ruling, PROBLEM_CONFLICT, "ticket %lld is older than %lld days", (long long)t.ticket,
                            (long long)(STORE_TICKET_MS / 86400000));
    if (t.count >= TICKET_STAMPS)
        return problem_rule(&out->ruling, PROBLEM_CONFLICT, "a run has at most %d states, and ticket %lld has as many",
                            TICKET_STAMPS, (long long)t.ticket);
    out->stamped_ms = now_ms > t.issued_ms ? now_ms : t.issued_ms;
    return 0;
}

// Rules once more under the lock: another server on this record may have stamped the same beat.
static int stamp_beat(struct store *s, const char *digest, const struct ticket_beat *beat, int64_t now_ms, struct beating *out)
{
    int64_t ticket;
    TRY(store_begin(s));
    s->stamp--;  // the version that the record has
    int rc = rule_beat(s, digest, beat, now_ms, out, &ticket);
    if (rc == 0)
        rc = sql_do(&s->sql, "INSERT INTO beats (ticket, hash, stamped_ms) VALUES (?, ?, ?)", "iti", ticket, beat->hash,
                    out->stamped_ms);
    return store_end(s, rc);
}

int store_beat(struct store *s, const char *digest, const struct ticket_beat *beat, int64_t now_ms, struct beating *out)
{
    BUG_IF(!s->writes);
    *out = (struct beating){.again = false};
    int64_t ticket;
    TRY(store_enter(s));
    int rc = rule_beat(s, digest, beat, now_ms, out, &ticket);
    if (rc == 0) rc = stamp_beat(s, digest, beat, now_ms, out);
    pthread_mutex_unlock(&s->mutex);
    if (rc < 0) atomic_store(&s->failed, true);
    return rc == RULED ? 0 : rc;
}

// ---- reading

static int read_stamps(struct sql *sql, int64_t ticket, struct arena *arena, struct ticket_stamp **stamps, int *count)
{
    sqlite3_stmt *row;
    int rc;
    *stamps = arena_alloc(arena, (TICKET_STAMPS + 1) * sizeof **stamps);
    *count = 0;
    TRY(sql_start(sql, &row, "SELECT hash, stamped_ms FROM beats WHERE ticket = ? ORDER BY stamped_ms, hash LIMIT ?", "ii",
                  ticket, (int64_t)TICKET_STAMPS));
    while ((rc = sql_next(sql, row)) > 0)
        (*stamps)[(*count)++] = (struct ticket_stamp){sql_keep(row, 0, arena), sql_column(row, 1)};
    sql_end(row);
    return rc;
}

int type_ticket_read(struct sql *sql, const char *digest, struct arena *arena, struct ticket_stored *t)
{
    sqlite3_stmt *row;
    *t = (struct ticket_stored){0};
    TRY(sql_start(sql, &row, "SELECT t.sequence, s.accepted_ms, "
                  "coalesce((SELECT max(r.sequence) FROM runs r WHERE r.first = t.run), 0), "
                  "coalesce((SELECT v.sequence FROM vouches v WHERE v.run = t.run AND t.run > 0), 0), "
                  "(SELECT accepted_ms FROM statements ORDER BY sequence DESC LIMIT 1) - s.accepted_ms "
                  "FROM tickets t JOIN statements s ON s.sequence = t.sequence WHERE t.digest = ?", "t", digest));
    int rc = sql_next(sql, row);
    if (rc > 0)
        *t = (struct ticket_stored){.sequence = sql_column(row, 0), .issued_ms = sql_column(row, 1), .run = sql_column(row, 2),
                                    .vouched = sql_column(row, 3),
                                    .failed = sql_column(row, 2) == 0 && sql_column(row, 4) > STORE_TICKET_MS};
    sql_end(row);
    TRY(rc);
    if (rc == 0) return fail(ERR_MISSING, "there is no ticket %.64s", digest);
    return read_stamps(sql, t->sequence, arena, &t->stamps, &t->stamp_count);
}

int store_ticket(struct reader *r, const char *digest, struct arena *arena, struct ticket_stored *t)
{
    return type_ticket_read(&r->sql, digest, arena, t);
}

int store_ticket_of_group(struct reader *r, const char *nonce, int64_t index, int64_t *sequence)
{
    *sequence = 0;
    return sql_int(&r->sql, sequence, 0, "SELECT sequence FROM tickets WHERE group_nonce = ? AND group_nonce <> '' AND "
                   "group_index = ?", "ti", nonce, index);
}

int store_tickets_by(struct reader *r, const char *handle, struct ticket_counts *c)
{
    sqlite3_stmt *row;
    *c = (struct ticket_counts){0};
    TRY(sql_start(&r->sql, &row, "SELECT count(*), coalesce(sum(r.withdrawn = 0 AND r.finished), 0), "
                  "coalesce(sum(r.withdrawn = 0 AND NOT r.finished), 0), coalesce(sum(r.withdrawn > 0), 0), "
                  "coalesce(sum(t.run = 0 AND s.accepted_ms + ? >= (SELECT accepted_ms FROM statements ORDER BY sequence DESC "
                  "LIMIT 1)), 0) FROM tickets t JOIN statements s ON s.sequence = t.sequence LEFT JOIN runs r "
                  "ON r.first = t.run AND r.superseded = 0 WHERE t.handle = ?", "it", STORE_TICKET_MS, handle));
    int rc = sql_next(&r->sql, row);
    if (rc > 0)
        *c = (struct ticket_counts){sql_column(row, 0), sql_column(row, 1), sql_column(row, 2), sql_column(row, 3),
                                    sql_column(row, 4), 0};
    sql_end(row);
    c->missing = c->announced - c->finished - c->failed - c->withdrawn - c->open;
    return rc < 0 ? rc : 0;
}

int store_vouched_by(struct reader *r, int64_t sequence, int64_t *ticket, int64_t *by)
{
    sqlite3_stmt *row;
    *ticket = *by = 0;
    TRY(sql_start(&r->sql, &row, "SELECT t.sequence, coalesce(v.sequence, 0) FROM runs r JOIN tickets t ON t.run = r.first "
                  "AND t.run > 0 LEFT JOIN vouches v ON v.run = r.first WHERE r.sequence = ?", "i", sequence));
    int rc = sql_next(&r->sql, row);
    if (rc > 0) *ticket = sql_column(row, 0), *by = sql_column(row, 1);
    sql_end(row);
    return rc < 0 ? rc : 0;
}
