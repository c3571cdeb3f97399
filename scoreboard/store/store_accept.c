// SPDX-License-Identifier: Apache-2.0
// Decides if a well-signed statement counts: board, key, handle, conflicts, group, checks, in this order. Invariant: a statement
// with a receipt is on the disk and in a signed checkpoint, and the same bytes get the same receipt again.
// Workload: some hundred a second. Cost: the checks' arithmetic outside the mutex, then one durable transaction.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/file/store_state.h"

#define HOUR_MS ((int64_t)3600 * 1000)
// In runs. Tickets are small, and a group needs one for each run at the pace of its training; somebody without a run here, whose
// handle costs nothing, gets enough for a group.
enum { TICKETS_PER_RUN = 10, NEW_TICKETS_PER_RUN = 3, RUNS_PER_NEW_COMMIT = 4 };

// Everything about one attempt. Each step returns 0 (go on), REFUSED, or negative when storage failed.
enum { REFUSED = 1 };
struct attempt {
    struct store *store;
    const struct envelope *envelope;
    const json_t *json;
    struct incoming in;
    struct acceptance *out;
    int64_t now_ms;
    bool by_server;
    struct arena arena;
};

static int refuse(struct attempt *, enum problem, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(struct attempt *a, enum problem problem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->out->detail, sizeof a->out->detail, format, args);
    va_end(args);
    a->out->problem = problem;
    return REFUSED;
}

#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        int step_rc_ = (call);                                                                                         \
        if (step_rc_ != 0) return step_rc_;                                                                            \
    } while (0)

static struct sql *sql_of(struct attempt *a)
{
    return &a->store->sql;
}

// ---- the same bytes again
static int find_again(struct attempt *a)
{
    sqlite3_stmt *row;
    bool other = false;
    TRY(sql_start(sql_of(a), &row, "SELECT sequence, receipt, receipt_signature, key FROM statements WHERE digest = ?", "t",
                  a->envelope->statement.digest));
    int rc = sql_next(sql_of(a), row);
    if (rc > 0) other = strcmp(sql_text(row, 3), a->in.key) != 0;
    if (other)
        refuse(a, PROBLEM_CONFLICT, "another key signed this very statement; it stands here as statement %lld",
               (long long)sql_column(row, 0));
    else if (rc > 0) {
        a->out->again = true;
        a->out->sequence = sql_column(row, 0);
        a->out->receipt = copy_text(sql_text(row, 1));
        snprintf(a->out->receipt_signature, sizeof a->out->receipt_signature, "%s", sql_text(row, 2));
    }
    sql_end(row);
    if (rc <= 0) return rc;
    if (other) return REFUSED;
    a->out->findings = (struct findings){0};
    TRY(store_findings(sql_of(a), a->out->sequence, &a->out->findings));
    return REFUSED;  // no further checks, and nothing is written
}

// ---- the signer
static int check_signer(struct attempt *a)
{
    sqlite3_stmt *row;
    const char *id = a->in.key;
    enum statement_type type = a->envelope->statement.type;
    int64_t revoked = 0, replaced = 0;
    TRY(sql_start(sql_of(a), &row, "SELECT handle, revoked, replaced FROM keys WHERE id = ?", "t", id));
    int rc = sql_next(sql_of(a), row);
    if (rc > 0) {
        snprintf(a->in.handle, sizeof a->in.handle, "%s", sql_text(row, 0));
        revoked = sql_column(row, 1);
        replaced = sql_column(row, 2);
    }
    sql_end(row);
    TRY(rc);
    a->in.new_key = rc == 0;
    const bool own = type == STATEMENT_AUDIT || type == STATEMENT_COMPETITION || type == STATEMENT_VOUCH;
    if (a->by_server && type != STATEMENT_REVOKE && !own)
        return refuse(a, PROBLEM_NOT_YOURS, "the server's own key only revokes keys, decides, vouches and opens competitions");
    if (!a->by_server && own)
        return refuse(a, PROBLEM_NOT_YOURS, "this board decides, vouches and opens competitions with its own key");
    if (revoked != 0) return refuse(a, PROBLEM_REVOKED, "the key %s was revoked by statement %lld", id, (long long)revoked);
    if (replaced != 0)
        return refuse(a, PROBLEM_REVOKED, "the key %s was replaced by a newer one in statement %lld", id, (long long)replaced);
    if (a->in.new_key && type != STATEMENT_RUN && type != STATEMENT_BENCH && type != STATEMENT_COMMIT &&
        type != STATEMENT_TICKET)
        return type == STATEMENT_OBJECT
                   ? refuse(a, PROBLEM_UNKNOWN_KEY,
                            "an objection needs a key that has submitted a run or a measurement to this board")
                   : refuse(a, PROBLEM_UNKNOWN_KEY, "the key %s has nothing here to %s", id, statement_type_name(type));
    return 0;
}

// Statements an hour and person. 0: no limit.
static int find_limit(struct attempt *a, int64_t *limit)
{
    enum statement_type type = a->envelope->statement.type;
    bool stands = true;
    *limit = a->store->submissions_per_hour;
    if (type != STATEMENT_TICKET && type != STATEMENT_COMMIT) return 0;
    TRY(store_stands(sql_of(a), a->in.handle, &stands));
    if (type == STATEMENT_TICKET) *limit *= stands ? TICKETS_PER_RUN : NEW_TICKETS_PER_RUN;
    else if (!stands) *limit = (*limit + RUNS_PER_NEW_COMMIT - 1) / RUNS_PER_NEW_COMMIT;
    return 0;
}

// A run that the person has committed to. All of them can be revealed before the deadline, and there are no more than were
// committed.
static int find_committed(struct attempt *a, int64_t *committed)
{
    *committed = 0;
    if (a->envelope->statement.type != STATEMENT_RUN || canonical_at(a->json, "competition") == NULL) return 0;
    return sql_int(sql_of(a), committed, 0, "SELECT count(*) FROM committed d JOIN commitments c ON c.sequence = d.commitment "
                   "WHERE d.digest = ? AND c.handle = ?", "tt", a->envelope->statement.digest, a->in.handle);
}

// Limits count by person, because a rotation brings a new key, and by type, so that many runs do not delay an amendment.
// Withdrawals and revocations are free: there cannot be more withdrawals than runs, and a thief of a key could otherwise use up
// its owner's limit.
static int check_rate(struct attempt *a)
{
    enum statement_type type = a->envelope->statement.type;
    int64_t limit, committed, count = 0, then = 0;
    sqlite3_stmt *row;
    int rc = 0;
    if (a->in.new_key || a->by_server || type == STATEMENT_WITHDRAW || type == STATEMENT_REVOKE) return 0;
    TRY(find_committed(a, &committed));
    if (committed != 0) return 0;
    TRY(find_limit(a, &limit));
    if (limit <= 0) return 0;
    TRY(sql_start(sql_of(a), &row, "SELECT accepted_ms, type FROM statements s WHERE handle = ? AND NOT EXISTS "
                  "(SELECT 1 FROM committed d WHERE d.run = s.sequence AND d.run > 0) ORDER BY sequence DESC", "t",
                  a->in.handle));
    while (count < limit && (rc = sql_next(sql_of(a), row)) > 0 && (then = sql_column(row, 0)) > a->now_ms - HOUR_MS)
        if (strcmp(sql_text(row, 1), statement_type_name(type)) == 0) count++;
    sql_end(row);
    if (rc < 0 || count < limit) return rc < 0 ? rc : 0;
    int64_t wait = (then + HOUR_MS - a->now_ms + 999) / 1000;
    a->out->retry_after = wait < 1 ? 1 : wait > 3600 ? 3600 : (int)wait;
    return refuse(a, PROBLEM_RATE, "%lld statements of type \"%s\" per hour are accepted from a person; the next one in %d s",
                  (long long)limit, statement_type_name(type), a->out->retry_after);
}

// The next letter or digit of ASCII as it looks, 0 at the end: without case, one for "I", "l" and "1", and for "O" and "0". A
// "rn" looks like "m", and "vv" like "w".
static int next_look(const char **at)
{
    const char *c = *at;
    while (*c != 0 && !isalnum((unsigned char)*c)) c++;
    *at = *c != 0 ? c + 1 : c;
    if ((*c == 'r' && c[1] == 'n') || (*c == 'v' && c[1] == 'v')) return (*at)++, *c == 'r' ? 'm' : 'w';
    if (*c == 'I' || *c == '1') return 'l';
    return *c == '0' ? 'o' : tolower((unsigned char)*c);
}

static bool looks_like(const char *name, const char *handle)
{
    for (;;) {
        int a = next_look(&name), b = next_look(&handle);
        if (a != b) return false;
        if (a == 0) return true;
    }
}

// Nobody takes a handle that can be mistaken for another person's, or for an author of the archive, who signed nothing. Cost: a
// walk over all names, for a new key alone.
static int check_look(struct attempt *a, const char *handle)
{
    sqlite3_stmt *row;
    int rc;
    TRY(sql_start(sql_of(a), &row, "SELECT DISTINCT author, 1 FROM entries WHERE trust = ? UNION ALL "
                  "SELECT DISTINCT handle, 0 FROM keys WHERE handle <> ''", "i", (int64_t)TRUST_IMPORTED));
    while ((rc = sql_next(sql_of(a), row)) > 0 && a->out->problem == PROBLEM_NONE) {
        if (!looks_like(sql_text(row, 0), handle)) continue;
        if (sql_column(row, 1) != 0)
            refuse(a, PROBLEM_HANDLE, "\"%.80s\" is an author of DAWNBench's archive; such a name cannot be a handle",
                   sql_text(row, 0));
        else
            refuse(a, PROBLEM_HANDLE, "the handle \"%s\" looks like \"%.80s\", which belongs to another key; choose another",
                   handle, sql_text(row, 0));
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int check_handle(struct attempt *a)
{
    const char *handle = canonical_text(a->json, "handle");
    enum statement_type type = a->envelope->statement.type;
    int64_t taken;
    if (type != STATEMENT_RUN && type != STATEMENT_ROTATE && type != STATEMENT_BENCH && type != STATEMENT_COMMIT &&
        type != STATEMENT_TICKET)
        return 0;
    if (!a->in.new_key) {
        if (strcmp(handle, a->in.handle) == 0) return 0;
        return refuse(a, PROBLEM_KEY_TAKEN,
                      "the key %s belongs to the handle \"%s\"; a key has one handle, and \"%s\" is another", a->in.key,
                      a->in.handle, handle);
    }
    TRY(sql_int(sql_of(a), &taken, 0, "SELECT count(*) FROM keys WHERE handle = ? COLLATE NOCASE", "t", handle));
    if (taken != 0)
        return refuse(a, PROBLEM_HANDLE, "the handle \"%s\" belongs to another key; choose another, or sign with that key",
                      handle);
    TRY(check_look(a, handle));
    if (a->out->problem != PROBLEM_NONE) return REFUSED;
    snprintf(a->in.handle, sizeof a->in.handle, "%s", handle);
    return 0;
}

// ---- runs
struct earlier {
    int64_t sequence, withdrawn;
    bool same;  // nonce and head both
    const char *digest;
};

static int compare_members(struct attempt *a, const struct earlier *e)
{
    struct statement old = {0};
    int rc = store_payload(sql_of(a), e->sequence, &old);
    TRY(rc);
    const char *name = store_said_anew(old.json, a->json);
    if (name != NULL)
        rc = refuse(a, PROBLEM_CONFLICT, "statement %s has another \"%.40s\"; only latencies and texts may change",
                    e->digest, name);
    statement_free(&old);
    return rc;
}

static int compare_with_earlier(struct attempt *a, const struct earlier *e)
{
    const char *supersedes = canonical_text(a->json, "supersedes");
    if (e->withdrawn != 0)
        return refuse(a, PROBLEM_CONFLICT, "this run was submitted as statement %s and withdrawn; it cannot come back",
                      e->digest);
    if (strcmp(supersedes, e->digest) != 0)
        return refuse(a, PROBLEM_CONFLICT,
                      "this run has been submitted as statement %s; name that as \"supersedes\" to replace it", e->digest);
    if (!e->same)
        return refuse(a, PROBLEM_CONFLICT, "statement %s has another nonce or other points; only the same run can take its place",
                      e->digest);
    return compare_members(a, e);
}

// Finds runs with the same nonce or the same chain. `*superseded` becomes the run that this statement replaces.
static int check_conflicts(struct attempt *a, int64_t *superseded)
{
    sqlite3_stmt *row;
    int rc, refused = 0;
    const char *nonce = canonical_text(a->json, "nonce"), *head = store_chain_head(&a->envelope->statement);
    *superseded = 0;
    TRY(sql_start(
        sql_of(a), &row,
        "SELECT sequence, withdrawn, nonce = ?1 AND head = ?2, digest, handle, superseded FROM runs WHERE nonce = ?1 UNION "
        "SELECT sequence, withdrawn, nonce = ?1 AND head = ?2, digest, handle, superseded FROM runs WHERE head = ?2 ORDER BY 1",
        "tt", nonce, head));
    while (refused == 0 && (rc = sql_next(sql_of(a), row)) != 0) {
        if (rc < 0) {
            refused = rc;
            break;
        }
        const struct earlier e = {sql_column(row, 0), sql_column(row, 1), sql_column(row, 2) != 0, sql_text(row, 3)};
        if (strcmp(sql_text(row, 4), a->in.handle) != 0)
            refused = refuse(a, PROBLEM_CONFLICT, "this run has been submitted by another person, as statement %lld",
                             (long long)e.sequence);
        else if (sql_column(row, 5) == 0) {
            refused = compare_with_earlier(a, &e);
            *superseded = e.sequence;
        }
    }
    sql_end(row);
    if (refused == 0 && *superseded == 0 && canonical_at(a->json, "supersedes") != NULL)
        return refuse(a, PROBLEM_CONFLICT, "\"supersedes\" names no statement of this run that still counts");
    return refused;
}

static int check_others(struct attempt *a, int64_t superseded)
{
    bool foreign;
    TRY(store_check_others(sql_of(a), &a->envelope->statement, a->in.handle, superseded, a->in.accepted_ms, &a->out->findings,
                           &foreign));
    return foreign ? refuse(a, PROBLEM_CONFLICT, "the group %s belongs to another person", canonical_text(a->json, "group.nonce"))
                   : 0;
}

static int check_run(struct attempt *a)
{
    int64_t superseded;
    STEP(check_conflicts(a, &superseded));
    return check_others(a, superseded);
}

// ---- measurements
// The figures are the author's alone; a copy of them would be one more word for the same thing.
static int check_bench_anew(struct attempt *a)
{
    char figures[DIGEST_HEX];
    int64_t earlier;
    TRY(store_bench_figures(&a->envelope->statement, figures));
    TRY(sql_int(sql_of(a), &earlier, 0, "SELECT sequence FROM benches WHERE figures = ?", "t", figures));
    if (earlier == 0) return 0;
    return refuse(a, PROBLEM_CONFLICT, "this measurement has been submitted as statement %lld", (long long)earlier);
}

// ---- statements about other statements
static int check_amend(struct attempt *a)
{
    static const char *const words[] = {"team", "note", "code_url", "tags"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (canonical_at(a->json, words[i]) != NULL) return 0;
    return refuse(a, PROBLEM_MALFORMED, "an amendment changes at least one of team, note, code_url and tags");
}

static int check_about_run(struct attempt *a)
{
    const char *digest = canonical_text(a->json, "statement"), *what = statement_type_name(a->envelope->statement.type);
    bool withdraws = a->envelope->statement.type == STATEMENT_WITHDRAW;
    sqlite3_stmt *row;
    TRY(sql_start(sql_of(a), &row,
                  "SELECT s.handle, s.type, coalesce(r.withdrawn, b.withdrawn, 0), coalesce(r.superseded, 0) FROM statements s "
                  "LEFT JOIN runs r USING (sequence) LEFT JOIN benches b USING (sequence) WHERE s.digest = ?",
                  "t", digest));
    int rc = sql_next(sql_of(a), row), refused = rc < 0 ? rc : 0;
    if (rc == 0) refused = refuse(a, PROBLEM_NOT_FOUND, "there is no statement %s here to %s", digest, what);
    else if (rc > 0 && !a->by_server && strcmp(sql_text(row, 0), a->in.handle) != 0)
        refused = refuse(a, PROBLEM_NOT_YOURS, "statement %s belongs to \"%s\"", digest, sql_text(row, 0));
    else if (rc > 0 && strcmp(sql_text(row, 1), statement_type_name(STATEMENT_RUN)) != 0 &&
             !(withdraws && strcmp(sql_text(row, 1), statement_type_name(STATEMENT_BENCH)) == 0))
        refused = refuse(a, PROBLEM_CONFLICT, "statement %s is not a run, and only runs can be amended or audited%s", digest,
                         withdraws ? "; besides them a measurement can be withdrawn" : "");
    else if (rc > 0 && sql_column(row, 2) != 0)
        refused = refuse(a, PROBLEM_CONFLICT, "statement %s has been withdrawn already", digest);
    else if (rc > 0 && sql_column(row, 3) != 0)
        refused = refuse(a, PROBLEM_CONFLICT, "statement %s has been superseded by statement %lld", digest,
                         (long long)sql_column(row, 3));
    sql_end(row);
    return refused;
}

// Only its author measured a self-evaluated run, so a person has nothing to confirm.
static int check_audit(struct attempt *a)
{
    const char *digest = canonical_text(a->json, "statement");
    bool confirms = strcmp(canonical_text(a->json, "verdict"), "confirmed") == 0;
    int64_t trust, self;
    STEP(check_about_run(a));
    TRY(sql_int(sql_of(a), &trust, 0, "SELECT trust FROM runs WHERE digest = ?", "t", digest));
    TRY(sql_int(sql_of(a), &self, 0,
                "SELECT count(*) FROM statements WHERE digest = ? AND instr(payload, CAST(? AS BLOB)) > 0", "tt", digest,
                "\"evaluated_by\":\"self\""));
    if (confirms && self != 0)
        return refuse(a, PROBLEM_CONFLICT, "statement %s is self-evaluated; such a run is never audited", digest);
    if (confirms && trust == TRUST_AUDITED)
        return refuse(a, PROBLEM_CONFLICT, "statement %s has been audited already", digest);
    if (!confirms && trust != TRUST_AUDITED)
        return refuse(a, PROBLEM_CONFLICT, "statement %s has not been audited, so nothing can be withdrawn", digest);
    return 0;
}

static int check_rotate(struct attempt *a)
{
    int64_t known;
    TRY(sql_int(sql_of(a), &known, 0, "SELECT count(*) FROM keys WHERE id = ?", "t", a->in.next_key));
    if (known == 0) return 0;
    return refuse(a, PROBLEM_KEY_TAKEN, "the key %s is known here already; a handle passes on to a new key", a->in.next_key);
}

static int check_revoke(struct attempt *a)
{
    const char *key = canonical_text(a->json, "key");
    int64_t revoked;
    if (strcmp(key, a->store->key_id) == 0) return refuse(a, PROBLEM_NOT_YOURS, "the server's own key cannot be revoked here");
    if (!a->by_server && strcmp(key, a->in.key) != 0)
        return refuse(a, PROBLEM_NOT_YOURS, "a key is revoked by itself or by the server, not by %s", a->in.key);
    TRY(sql_int(sql_of(a), &revoked, -1, "SELECT revoked FROM keys WHERE id = ?", "t", key));
    if (revoked < 0) return refuse(a, PROBLEM_NOT_FOUND, "the key %s has not submitted anything here", key);
    if (revoked > 0) return refuse(a, PROBLEM_CONFLICT, "the key %s was revoked by statement %lld", key, (long long)revoked);
    return 0;
}

// What competitions, objections and tickets ask.
static int check_rulings(struct attempt *a)
{
    const struct statement *s = &a->envelope->statement;
    struct ruling ruling;
    TRY(store_competition_rule(sql_of(a), s, a->in.handle, a->in.accepted_ms, &ruling));
    if (ruling.problem == PROBLEM_NONE)
        TRY(store_objection_rule(sql_of(a), s, a->in.handle, a->in.accepted_ms, &ruling));
    if (ruling.problem == PROBLEM_NONE)
        TRY(store_ticket_rule(sql_of(a), a->store->key_id, s, a->in.handle, a->in.accepted_ms, &ruling));
    return ruling.problem != PROBLEM_NONE ? refuse(a, ruling.problem, "%s", ruling.detail) : 0;
}

static int check_by_type(struct attempt *a)
{
    STEP(check_rulings(a));
    const struct statement *s = &a->envelope->statement;
    switch (s->type) {
    case STATEMENT_RUN: return check_run(a);
    case STATEMENT_WITHDRAW: return check_about_run(a);
    case STATEMENT_AMEND:
        STEP(check_about_run(a));
        return check_amend(a);
    case STATEMENT_ROTATE: return check_rotate(a);
    case STATEMENT_REVOKE: return check_revoke(a);
    case STATEMENT_AUDIT: return store_competition_decides(s) || store_objection_decides(s) ? 0 : check_audit(a);
    case STATEMENT_BENCH: return check_bench_anew(a);
    case STATEMENT_COMPETITION:
    case STATEMENT_COMMIT:
    case STATEMENT_OBJECT:
    case STATEMENT_TICKET: return 0;  // ruled above
    case STATEMENT_VOUCH: return check_about_run(a);
    default: BUG("there is no such type of statement");
    }
}

// ---- the receipt
static int make_receipt(struct attempt *a)
{
    struct receipt receipt = {.sequence = a->in.sequence, .accepted_ms = a->in.accepted_ms};
    size_t count;
    snprintf(receipt.board, sizeof receipt.board, "%s", a->store->origin);
    memcpy(receipt.payload, a->envelope->statement.digest, DIGEST_HEX);
    memcpy(receipt.signer, a->in.key, SSHKEY_ID);
    TRY(store_tree_prove(a->store, &receipt));
    TRY(receipt_write(&receipt, &a->out->receipt, &count));
    sshsig_sign(RECEIPT_NAMESPACE, a->out->receipt, count, &a->store->secret, a->out->receipt_signature);
    a->out->sequence = a->in.sequence;
    a->in.receipt = a->out->receipt;
    a->in.receipt_signature = a->out->receipt_signature;
    return 0;
}

// Server time breaks ties, so it never runs backwards in the log, whatever the clock does. A clock that once jumped ahead must
// not set the time of all later statements; then only the operator's own revocations are accepted. The checks use the recorded
// moment, because store_check repeats them.
static int number_it(struct attempt *a)
{
    int64_t last;
    TRY(sql_int(sql_of(a), &a->in.sequence, 1, "SELECT coalesce(max(sequence), 0) + 1 FROM statements", ""));
    TRY(sql_int(sql_of(a), &last, 0, "SELECT accepted_ms FROM statements ORDER BY sequence DESC LIMIT 1", ""));
    if (last - a->now_ms > HOUR_MS && !a->by_server)
        return fail(ERR_DATABASE, "the server's clock is %lld minutes behind the last statement: one of the two clocks is wrong",
                    (long long)((last - a->now_ms) / 60000));
    a->in.accepted_ms = a->now_ms > last ? a->now_ms : last;
    if (a->in.accepted_ms == a->now_ms) return 0;
    a->out->findings = (struct findings){0};
    check_statement(&a->envelope->statement, a->in.accepted_ms, &a->out->findings);
    return 0;
}

// 23 November 2026. Earlier programs do not sign the key of the board.
#define KEY_SINCE_MS ((int64_t)1795392000000)

// Boards may share a name, so the key decides.
static int check_board(struct attempt *a)
{
    const char *key = canonical_text(a->json, "board_key");
    if (strcmp(canonical_text(a->json, "board"), a->store->origin) != 0)
        return refuse(a, PROBLEM_FOREIGN, "the statement is meant for the board \"%s\"; this is \"%s\"",
                      canonical_text(a->json, "board"), a->store->origin);
    if (*key != 0 && strcmp(key, a->store->key_id) != 0)
        return refuse(a, PROBLEM_FOREIGN, "the statement is meant for a board with the key %s; this one has %s", key,
                      a->store->key_id);
    STEP(find_again(a));
    if (*key != 0 || a->by_server || a->now_ms < KEY_SINCE_MS) return 0;  // the server's own statements have its signature
    return refuse(a, PROBLEM_FOREIGN, "the statement does not name the key of its board (board_key), %s here: a newer dawn does",
                  a->store->key_id);
}

static int attempt_inside(struct attempt *a)
{
    STEP(check_board(a));
    TRY(number_it(a));
    STEP(check_signer(a));
    STEP(check_rate(a));
    STEP(check_handle(a));
    STEP(check_by_type(a));
    if (a->out->findings.rejects > 0)
        return refuse(a, PROBLEM_CHECKS, "%d check%s failed; each is listed with its figures", a->out->findings.rejects,
                      a->out->findings.rejects == 1 ? "" : "s");
    TRY(make_receipt(a));
    return store_apply(a->store, &a->in);
}

static void fill_keys(struct attempt *a)
{
    struct sshkey key = a->envelope->key, next = a->envelope->next_key;
    key.comment[0] = next.comment[0] = 0;  // comments hold names of people and machines
    sshkey_id(&key, a->in.key);
    a->by_server = strcmp(a->in.key, a->store->key_id) == 0;
    sshkey_line(&key, a->in.key_line);
    sshkey_id(&next, a->in.next_key);
    sshkey_line(&next, a->in.next_line);
}

static int attempt_locked(struct attempt *a)
{
    struct store *s = a->store;
    TRY(store_begin(s));
    int rc = store_tree_ready(s);
    if (rc == 0) rc = attempt_inside(a);
    rc = store_end(s, rc);
    store_tree_done(s, rc);
    return rc == REFUSED ? 0 : rc;
}

// Before the receipt is given away.
static int publish(struct store *s, int64_t sequence)
{
    int rc = store_publish(s, sequence);
    return rc < 0 ? fail_prefix(rc, "statement %lld is stored, but not signed yet; send it again: ", (long long)sequence) : rc;
}

int store_accept(struct store *s, const struct envelope *envelope, int64_t now_ms, struct acceptance *out)
{
    BUG_IF(!s->writes);
    *out = (struct acceptance){0};
    struct attempt a = {
        .store = s, .envelope = envelope, .json = envelope->statement.json, .out = out, .now_ms = now_ms,
        .in = {.statement = &envelope->statement, .signature = envelope->signature, .findings = &out->findings,
               .countersignature = envelope->countersignature != NULL ? envelope->countersignature : ""},
    };
    fill_keys(&a);
    check_statement(&envelope->statement, now_ms, &out->findings);
    pthread_mutex_lock(&s->mutex);
    int rc = attempt_locked(&a);
    pthread_mutex_unlock(&s->mutex);
    if (rc == 0 && out->problem == PROBLEM_NONE) rc = publish(s, out->sequence);
    atomic_store(&s->failed, rc < 0);
    if (rc < 0) {
        free(out->receipt);
        *out = (struct acceptance){.problem = PROBLEM_STORAGE};
        snprintf(out->detail, sizeof out->detail, "%s", error_text());
    } else if (out->problem != PROBLEM_CHECKS && out->problem != PROBLEM_NONE) {
        out->findings = (struct findings){0};
    }
    return rc;
}
