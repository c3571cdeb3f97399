// SPDX-License-Identifier: Apache-2.0
// Accepts a well-signed statement: board, signer, the checks of its type, receipt, log, effects, in this order. Invariant: a
// statement with a receipt is on the disk and in a signed checkpoint, and the same bytes get the same receipt again.
// Workload: some hundred per second. Cost: the checks' arithmetic outside the mutex, then one durable transaction.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/store/store_inside.h"

#define HOUR_MS ((int64_t)3600 * 1000)

struct attempt {
    struct store *store;
    struct incoming in;
    struct acceptance *out;
    struct ruling ruling;
    int64_t now_ms;
};

static int find_again(struct attempt *a)
{
    sqlite3_stmt *row;
    bool other = false;
    TRY(sql_start(&a->store->sql, &row, "SELECT sequence, receipt, receipt_signature, key FROM statements WHERE digest = ?", "t",
                  a->in.statement->digest));
    int rc = sql_next(&a->store->sql, row);
    if (rc > 0) other = strcmp(sql_text(row, 3), a->in.key) != 0;
    if (other)
        problem_rule(&a->ruling, PROBLEM_CONFLICT, "another key signed this very statement; it stands here as statement %lld",
                     (long long)sql_column(row, 0));
    else if (rc > 0) {
        a->out->again = true;
        a->out->sequence = sql_column(row, 0);
        a->out->receipt = copy_text(sql_text(row, 1));
        snprintf(a->out->receipt_signature, sizeof a->out->receipt_signature, "%s", sql_text(row, 2));
    }
    sql_end(row);
    if (rc <= 0) return rc;
    if (other) return RULED;
    a->out->findings = (struct findings){0};
    TRY(store_findings(&a->store->sql, a->out->sequence, &a->out->findings));
    return RULED;  // no further checks, and nothing is written
}

// Boards may share a name, so the key decides.
static int check_board(struct attempt *a)
{
    const char *key = canonical_text(a->in.statement->json, "board_key");
    if (strcmp(canonical_text(a->in.statement->json, "board"), a->store->origin) != 0)
        return problem_rule(&a->ruling, PROBLEM_FOREIGN, "the statement is meant for the board \"%s\"; this is \"%s\"",
                            canonical_text(a->in.statement->json, "board"), a->store->origin);
    if (*key != 0 && strcmp(key, a->store->key_id) != 0)
        return problem_rule(&a->ruling, PROBLEM_FOREIGN, "the statement is meant for a board with the key %s; this one has %s",
                            key, a->store->key_id);
    STEP(find_again(a));
    if (*key != 0 || a->in.own) return 0;  // the server's own statements have its signature
    return problem_rule(&a->ruling, PROBLEM_FOREIGN,
                        "the statement does not name the key of its board (board_key), %s here: a newer dawn does",
                        a->store->key_id);
}

// Server time breaks ties, so it never runs backwards in the log, even if the clock does. A clock that once jumped ahead must
// not set the time of all later statements; then only the operator's own revocations are accepted. The checks use the recorded
// moment, because store_check repeats them.
static int number_statement(struct attempt *a)
{
    int64_t last;
    TRY(sql_int(&a->store->sql, &a->in.sequence, 1, "SELECT coalesce(max(sequence), 0) + 1 FROM statements", ""));
    TRY(sql_int(&a->store->sql, &last, 0, "SELECT accepted_ms FROM statements ORDER BY sequence DESC LIMIT 1", ""));
    if (last - a->now_ms > HOUR_MS && !a->in.own)
        return fail(ERR_DATABASE, "the server's clock is %lld minutes behind the last statement: one of the two clocks is wrong",
                    (long long)((last - a->now_ms) / 60000));
    a->in.accepted_ms = a->now_ms > last ? a->now_ms : last;
    if (a->in.accepted_ms == a->now_ms) return 0;
    a->out->findings = (struct findings){0};
    check_statement(a->in.statement, a->in.accepted_ms, &a->out->findings);
    return 0;
}

static int sign_receipt(struct attempt *a)
{
    struct receipt receipt = {.sequence = a->in.sequence, .accepted_ms = a->in.accepted_ms};
    size_t count;
    snprintf(receipt.board, sizeof receipt.board, "%s", a->store->origin);
    memcpy(receipt.payload, a->in.statement->digest, DIGEST_HEX);
    memcpy(receipt.signer, a->in.key, SSHKEY_ID);
    TRY(store_tree_prove(a->store, &receipt));
    TRY(receipt_write(&receipt, &a->out->receipt, &count));
    sshsig_sign(RECEIPT_NAMESPACE, a->out->receipt, count, &a->store->secret, a->out->receipt_signature);
    a->out->sequence = a->in.sequence;
    a->in.receipt = a->out->receipt;
    a->in.receipt_signature = a->out->receipt_signature;
    return 0;
}

// 0, RULED, or negative when storage failed.
static int accept_in_turn(struct attempt *a)
{
    const struct store_type *type = store_type(a->in.statement->type);
    STEP(check_board(a));
    TRY(number_statement(a));
    STEP(store_signer_check(a->store, &a->in, a->now_ms, &a->ruling, &a->out->retry_after));
    STEP(type->check(a->store, &a->in, &a->ruling));
    const int failed = a->in.findings->rejects;
    if (failed > 0)
        return problem_rule(&a->ruling, PROBLEM_CHECKS, "%d check%s failed; each is listed with its figures", failed,
                            failed == 1 ? "" : "s");
    TRY(sign_receipt(a));
    return store_append(a->store, &a->in);
}

static void fill_keys(struct attempt *a, const struct envelope *envelope)
{
    struct sshkey key = envelope->key, next = envelope->next_key;
    key.comment[0] = next.comment[0] = 0;  // comments hold names of people and machines
    sshkey_id(&key, a->in.key);
    a->in.own = strcmp(a->in.key, a->store->key_id) == 0;
    sshkey_line(&key, a->in.key_line);
    sshkey_id(&next, a->in.next_key);
    sshkey_line(&next, a->in.next_line);
}

static int accept_locked(struct attempt *a)
{
    struct store *s = a->store;
    if (store_enter(s) < 0) {
        a->out->retry_after = STORE_WAIT_SECONDS;
        problem_rule(&a->ruling, PROBLEM_STORAGE, "%s", error_text());
        return 0;
    }
    int rc = store_begin(s);
    if (rc == 0) {
        rc = store_tree_ready(s);
        if (rc == 0) rc = accept_in_turn(a);
        rc = store_end(s, rc);
        store_tree_done(s, rc);
    }
    pthread_mutex_unlock(&s->mutex);
    return rc == RULED ? 0 : rc;
}

// Compares a run with others before the record is locked, unless its answer needs no comparison: it may cost a hundred payloads,
// and refusals are not limited.
static struct run_compared *compare_unlocked(struct attempt *a)
{
    const struct statement *run = a->in.statement;
    struct run_compared *compared = NULL;
    struct sql sql;
    int64_t again;
    char handle[64];
    if (run->type != STATEMENT_RUN || a->out->findings.rejects > 0) return NULL;
    if (sql_open(a->store->path, SQL_READ, &sql) < 0) return NULL;
    if (sql_int(&sql, &again, 0, "SELECT count(*) FROM statements WHERE digest = ?", "t", run->digest) == 0 && again == 0 &&
        store_signer_may(a->store, &sql, &a->in, a->now_ms, handle))
        compared = run_others_compare(&sql, run, handle);
    sql_close(&sql);
    return compared;
}

// Runs before the receipt is given away.
static int publish_statement(struct store *s, int64_t sequence)
{
    int rc = store_publish(s, sequence);
    return rc < 0 ? fail_prefix(rc, "statement %lld is stored, but not signed yet; send it again: ", (long long)sequence) : rc;
}

int store_accept(struct store *s, const struct envelope *envelope, int64_t now_ms, struct acceptance *out)
{
    BUG_IF(!s->writes);
    *out = (struct acceptance){0};
    struct attempt a = {
        .store = s, .out = out, .now_ms = now_ms,
        .in = {.statement = &envelope->statement, .signature = envelope->signature, .findings = &out->findings,
               .countersignature = envelope->countersignature != NULL ? envelope->countersignature : ""},
    };
    fill_keys(&a, envelope);
    check_statement(&envelope->statement, now_ms, &out->findings);
    struct run_compared *compared = compare_unlocked(&a);
    a.in.compared = compared;
    int rc = accept_locked(&a);
    free(compared);
    out->problem = a.ruling.problem;
    memcpy(out->detail, a.ruling.detail, sizeof out->detail);
    if (rc == 0 && out->problem == PROBLEM_NONE) rc = publish_statement(s, out->sequence);
    const bool written = rc == 0 && out->problem == PROBLEM_NONE && !out->again;
    if (rc < 0 || written) atomic_store(&s->failed, rc < 0);
    if (rc < 0) {
        free(out->receipt);
        *out = (struct acceptance){.problem = PROBLEM_STORAGE};
        snprintf(out->detail, sizeof out->detail, "%s", error_text());
    } else if (out->problem != PROBLEM_CHECKS && out->problem != PROBLEM_NONE) {
        out->findings = (struct findings){0};
    }
    return rc;
}
