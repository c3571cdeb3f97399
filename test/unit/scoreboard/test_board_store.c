// SPDX-License-Identifier: Apache-2.0
// Handing statements in: every way in which a run, a withdrawal or an amendment is accepted or refused, groups,
// reproductions, and what each does to the boards.
#include "scoreboard/store/file/store_state.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

static struct entry row_of(enum board board, const char *author)
{
    struct entries e = board_of(board, RANK_CLASSIC);
    for (int i = 0; i < e.count; i++)
        if (strcmp(e.at[i].author, author) == 0) return e.at[i];
    fail_msg("%s has no row", author);
    return (struct entry){0};
}

// ---- runs
TEST_WITH(test_run_is_taken, set_up, tear_down)
{
    struct stored s;
    struct receipt receipt;
    struct sshkey server;
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_false(last.again);
    assert_int_equal(last.sequence, 1);
    assert_int_equal(last.findings.count, 0);
    assert_int_equal(receipt_read(last.receipt, strlen(last.receipt), last.receipt_signature, &receipt, &server), 0);
    assert_memory_equal(server.at, store_key(store)->at, 32);
    assert_string_equal(receipt.board, "test");
    assert_int_equal(receipt.sequence, 1);
    for (int board = 0; board < BOARDS; board++) {
        struct entries e = board_of((enum board)board, RANK_CLASSIC);
        assert_int_equal(e.total, 1);
        assert_string_equal(e.at[0].author, "ada");
        assert_string_equal(e.at[0].tags, "cpu fast");
        assert_string_equal(e.at[0].source, "#1");
        assert_string_equal(e.at[0].hardware, board < BOARD_INFERENCE_LATENCY ? "Test CPU, 16 threads" : "Test CPU, 2 threads");
        assert_string_equal(e.at[0].date, "2027-01-15");
        assert_int_equal(e.at[0].trust, TRUST_CHECKED);
        assert_int_equal(e.at[0].rank, 1);
        assert_int_equal(board_of((enum board)board, RANK_GROUP).total, 0);
    }
    assert_int_equal(store_statement(reader, "1", &arena, &s), 0);
    assert_string_equal(s.handle, "ada");
    assert_string_equal(s.receipt, last.receipt);
    assert_null(strstr(s.key_line, "host"));  // a key's comment is nobody's business
    assert_int_equal(store_statement(reader, "2", &arena, &s), ERR_MISSING);
    assert_int_equal(store_statement(reader, "01", &arena, &s), ERR_MISSING);
    assert_whole();
}

TEST_WITH(test_same_bytes_same_receipt, set_up, tear_down)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    json_t *flagged = run_of("ada", 2);
    fixture_set(flagged, "software.dirty", json_integer(1));
    assert_int_equal(hand_in(json_deep_copy(flagged), &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);
    assert_int_equal(hand_in(flagged, &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);  // said again with the same receipt
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.count, 0);
    char *receipt = copy_text(last.receipt), *signature = copy_text(last.receipt_signature);
    int64_t before, after;
    assert_int_equal(store_version(reader, &before), 0);
    assert_int_equal(hand_in_at(run_of("ada", 1), &ada, NULL, FIXTURE_NOW_MS + 86400000), PROBLEM_NONE);
    assert_true(last.again);
    assert_string_equal(receipt, last.receipt);
    assert_string_equal(signature, last.receipt_signature);
    assert_int_equal(store_version(reader, &after), 0);
    assert_int_equal(before, after);
    close_all();
    open_all();
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);  // the same after a restart
    assert_true(last.again);
    assert_string_equal(receipt, last.receipt);
    assert_string_equal(signature, last.receipt_signature);
    struct entries e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_int_equal(e.total, 2);
    assert_int_equal(e.at[0].trust + e.at[1].trust, TRUST_CHECKED + TRUST_SIGNED);  // a flag costs a level
    free(receipt);
    free(signature);
}

TEST_WITH(test_refusals, set_up, tear_down)
{
    json_t *run = run_of("ada", 1);
    fixture_set(run, "board", json_string("elsewhere"));
    assert_int_equal(hand_in(run, &ada), PROBLEM_FOREIGN);
    run = run_of("ada", 1);
    fixture_set(run, "reached.step", json_integer(3));
    assert_int_equal(hand_in(run, &ada), PROBLEM_CHECKS);
    assert_true(last.findings.rejects > 0);
    assert_int_equal(hand_in(about("withdraw", FIXTURE_HEX), &ada), PROBLEM_UNKNOWN_KEY);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 0);  // nothing so far left anything
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ADA", 2), &bob), PROBLEM_HANDLE);   // taken, in any case
    assert_int_equal(hand_in(run_of("countess", 2), &ada), PROBLEM_KEY_TAKEN);  // one handle per key
    assert_int_equal(hand_in(run_of("bob", 1), &bob), PROBLEM_CONFLICT);  // the nonce, and with it the chain
    assert_int_equal(hand_in(about("withdraw", FIXTURE_HEX), &ada), PROBLEM_NOT_FOUND);
    assert_int_equal(hand_in(run_of("bob", 3), &bob), PROBLEM_NONE);
    char digest[DIGEST_HEX];
    run = run_of("bob", 3);
    digest_of(run, digest);
    json_decref(run);
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NOT_YOURS);
    assert_int_equal(hand_in(about("amend", digest), &ada), PROBLEM_NOT_YOURS);
    json_t *late = about("withdraw", digest);
    fixture_set(late, "made_ms", json_integer(FIXTURE_NOW_MS - (int64_t)60 * 86400000));
    assert_int_equal(hand_in(late, &bob), PROBLEM_CHECKS);
    assert_int_equal(last.findings.at[0].check, CHECK_CLIENT_TIME);
    assert_whole();
}

// The chain alone gives a copy away, when the nonce is another.
TEST_WITH(test_same_head, set_up, tear_down)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    json_t *copy = to_board(run_of("bob", 1));
    fixture_set(copy, "nonce", json_string("ffffffffffffffffffffffffffffffff"));
    assert_int_equal(hand_in(copy, &bob), PROBLEM_CONFLICT);
    assert_non_null(strstr(last.detail, "another person"));
}

TEST_WITH(test_rate, set_up, tear_down)
{
    close_all();
    const struct store_settings settings = {.path = path, .submissions_per_hour = 2};
    assert_int_equal(store_open(&settings, STORE_WRITE, &store), 0);
    assert_string_equal(store_origin(store), "test");  // the file knows
    assert_int_equal(store_reader(store, &reader), 0);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run_of("ada", 3), &ada, NULL, FIXTURE_NOW_MS + 600000), PROBLEM_RATE);
    assert_int_equal(last.retry_after, 3000);
    assert_int_equal(hand_in_at(run_of("ada", 1), &ada, NULL, FIXTURE_NOW_MS + 600000), PROBLEM_NONE);  // again is not new
    assert_int_equal(hand_in(run_of("bob", 4), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run_of("ada", 3), &ada, NULL, FIXTURE_NOW_MS + 3600000), PROBLEM_NONE);
    // A new key is no new hour. (The hour of two statements begins with the older of them.)
    assert_int_equal(hand_in_at(run_of("ada", 5), &ada, NULL, FIXTURE_NOW_MS + 3600000), PROBLEM_NONE);
    assert_int_equal(hand_in_at(rotate_to(&eve, "ada"), &ada, &eve, FIXTURE_NOW_MS + 3600000), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run_of("ada", 6), &eve, NULL, FIXTURE_NOW_MS + 5400000), PROBLEM_RATE);
    assert_int_equal(last.retry_after, 1800);
    assert_int_equal(hand_in_at(run_of("ada", 6), &eve, NULL, FIXTURE_NOW_MS + 7200000), PROBLEM_NONE);
}

// A full hour of runs holds nothing else up: amendments have an hour of their own, withdrawals and revocations none.
TEST_WITH(test_rate_of_each_type, set_up, tear_down)
{
    enum { RUNS = 2 };
    char digest[RUNS][DIGEST_HEX];
    close_all();
    assert_int_equal(store_open(&(struct store_settings){.path = path, .submissions_per_hour = RUNS}, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    for (int i = 0; i < RUNS; i++) {
        json_t *run = run_of("ada", i);
        digest_of(run, digest[i]);
        assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    }
    for (int i = 0; i <= RUNS; i++) {
        json_t *amend = about("amend", digest[0]);
        fixture_set(amend, "made_ms", json_integer(FIXTURE_NOW_MS + i));
        assert_int_equal(hand_in(amend, &ada), i < RUNS ? PROBLEM_NONE : PROBLEM_RATE);
    }
    assert_int_equal(last.retry_after, 3600);
    for (int i = 0; i < RUNS; i++) assert_int_equal(hand_in(about("withdraw", digest[i]), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 9), &ada), PROBLEM_RATE);
    json_t *revoke = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", "test", "key",
                               sshkey_id(&ada.key, (char[SSHKEY_ID]){0}), "reason", "stolen", "made_ms",
                               (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(hand_in(revoke, &ada), PROBLEM_NONE);
    assert_whole();
}

// The clock goes back a little: server time stands still, and the checks use the recorded moment. If it goes back more than an
// hour, the operator has to act.
TEST_WITH(test_clock_goes_back, set_up, tear_down)
{
    enum { MINUTE = 60000 };
    struct envelope e = {.key = bob.key};
    struct acceptance refused;
    char signature[SSHSIG_MAX];
    assert_int_equal(hand_in_at(run_of("ada", 1), &ada, NULL, FIXTURE_NOW_MS + 50 * MINUTE), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    assert_int_equal(row_of(BOARD_TRAINING_TIME, "ada").accepted_ms, FIXTURE_NOW_MS + 50 * MINUTE);
    assert_int_equal(statement_make(to_board(run_of("bob", 3)), &e.statement), 0);
    const struct statement *s = &e.statement;
    e.signature = copy_text(sshsig_sign(statement_namespace(STATEMENT_RUN), s->payload, s->count, &bob, signature));
    assert_int_equal(store_accept(store, &e, FIXTURE_NOW_MS - 11 * MINUTE, &refused), ERR_DATABASE);
    assert_int_equal(refused.problem, PROBLEM_STORAGE);
    assert_non_null(strstr(refused.detail, "clock is 61 minutes behind"));
    assert_int_equal(store_accept(store, &e, FIXTURE_NOW_MS - 10 * MINUTE, &refused), 0);
    assert_int_equal(refused.problem, PROBLEM_NONE);
    free(refused.receipt);
    envelope_free(&e);
    assert_int_equal(hand_in_at(run_of("ada", 1), &ada, NULL, 0), PROBLEM_NONE);  // old receipts need no clock
    assert_true(last.again);
    free(last.receipt);
    // A stolen key does not wait for the clock.
    char id[SSHKEY_ID];
    const int64_t early = FIXTURE_NOW_MS - 11 * MINUTE;
    assert_int_equal(store_revoke(store, sshkey_id(&bob.key, id), "stolen", early, &last), 0);
    assert_int_equal(last.problem, PROBLEM_NONE);
    assert_whole();
}

// Only the signer's own bytes get a receipt again.
TEST_WITH(test_same_bytes_another_key, set_up, tear_down)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 1), &bob), PROBLEM_CONFLICT);
    assert_false(last.again);
    assert_null(last.receipt);
}

// A statement that takes another's place says nothing new of the training, and the run keeps its age.
TEST_WITH(test_supersede_changes_little, set_up, tear_down)
{
    static const struct {
        const char *path, *value;
        int64_t number;
        enum problem problem;
    } cases[] = {
        {"hardware.cpu", "A faster CPU", 0, PROBLEM_CONFLICT},
        {"hardware.devices", NULL, 2, PROBLEM_CONFLICT},
        {"precision", "f16", 0, PROBLEM_CONFLICT},
        {"model.flops_per_sample", NULL, 7, PROBLEM_CONFLICT},
        {"peak_memory_bytes", NULL, 7, PROBLEM_CONFLICT},
        {"price.instance", "cheap", 0, PROBLEM_CONFLICT},
        {"team", "Byron", 0, PROBLEM_NONE},
        {"division", "open", 0, PROBLEM_NONE},
        {"division", "closed", 0, PROBLEM_CONFLICT},
    };
    json_t *now = run_of("ada", 1);
    char digest[DIGEST_HEX];
    assert_int_equal(hand_in(json_deep_copy(now), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    digest_of(now, digest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *next = json_deep_copy(now);
        fixture_set(next, cases[i].path, cases[i].value != NULL ? json_string(cases[i].value) : json_integer(cases[i].number));
        json_object_set_new(next, "supersedes", json_string(digest));
        enum problem problem = hand_in_at(json_deep_copy(next), &ada, NULL, FIXTURE_NOW_MS + 60000);
        if (problem != cases[i].problem) fail_msg("%s: %s", cases[i].path, last.detail);
        if (problem == PROBLEM_NONE) {
            json_decref(now);
            now = json_incref(next);
            digest_of(now, digest);
        }
        json_decref(next);
    }
    json_decref(now);
    assert_int_equal(row_of(BOARD_TRAINING_TIME, "ada").accepted_ms, FIXTURE_NOW_MS);
    assert_int_equal(row_of(BOARD_TRAINING_COST, "ada").accepted_ms, FIXTURE_NOW_MS);
    assert_int_equal(row_of(BOARD_INFERENCE_LATENCY, "ada").accepted_ms, FIXTURE_NOW_MS + 60000);
    assert_whole();
}

TEST_WITH(test_supersede, set_up, tear_down)
{
    char digest[DIGEST_HEX];
    json_t *run = run_of("ada", 1), *better = run_of("ada", 1), *other = run_of("ada", 2);
    digest_of(run, digest);
    json_object_set_new(better, "note", json_string("with a note"));
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(json_deep_copy(better), &ada), PROBLEM_CONFLICT);
    assert_non_null(strstr(last.detail, digest));  // it says what to name
    json_object_set_new(other, "supersedes", json_string(digest));
    assert_int_equal(hand_in(other, &ada), PROBLEM_CONFLICT);  // another run cannot take its place
    json_object_set_new(better, "supersedes", json_string(digest));
    json_t *faster = json_deep_copy(better);
    static const int64_t scores[] = {9500, 9500};
    fixture_curve(faster, scores, 2);
    assert_int_equal(hand_in(faster, &ada), PROBLEM_CONFLICT);  // nor the same run with other points
    assert_int_equal(hand_in(json_deep_copy(better), &ada), PROBLEM_NONE);
    struct entries e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_int_equal(e.total, 1);
    assert_string_equal(e.at[0].source, "#2");
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);  // the old bytes still have their receipt
    assert_true(last.again);
    assert_int_equal(hand_in(about("amend", digest), &ada), PROBLEM_CONFLICT);
    struct stored s;
    assert_int_equal(store_statement(reader, digest, &arena, &s), 0);
    assert_int_equal(s.superseded, 2);
    json_decref(better);
    assert_whole();
}

TEST_WITH(test_withdraw_and_amend, set_up, tear_down)
{
    char digest[DIGEST_HEX];
    hand_in_one(digest);
    json_t *amend = about("amend", digest);
    json_object_set_new(amend, "team", json_string("Byron & daughters"));
    json_object_set_new(amend, "tags", json_pack("[s]", "slow"));
    assert_int_equal(hand_in(amend, &ada), PROBLEM_NONE);
    struct entries e = board_of(BOARD_TRAINING_COST, RANK_CLASSIC);
    assert_string_equal(e.at[0].team, "Byron & daughters");
    assert_string_equal(e.at[0].tags, "slow");
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 0);
    assert_int_equal(hand_in(about("amend", digest), &ada), PROBLEM_CONFLICT);
    struct stored s;
    assert_int_equal(store_statement(reader, "1", &arena, &s), 0);
    assert_int_equal(s.withdrawn, 3);
    assert_string_equal(s.withdrawn_reason, "a mistake");
    assert_string_equal(s.team, "Byron & daughters");
    json_t *back = run_of("ada", 1);
    json_object_set_new(back, "note", json_string("again"));
    assert_int_equal(hand_in(back, &ada), PROBLEM_CONFLICT);  // withdrawn is withdrawn
    assert_whole();
}

// ---- groups and reproductions
TEST_WITH(test_group, set_up, tear_down)
{
    struct stored *runs;
    int count, planned;
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(hand_in(group_run_of("ada", i, i), &ada), PROBLEM_NONE);
        assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_GROUP).total, 0);
    }
    assert_int_equal(hand_in(group_run_of("bob", 9, 5), &bob), PROBLEM_CONFLICT);  // another person's group
    assert_int_equal(hand_in(group_run_of("ada", 9, 4), &ada), PROBLEM_CHECKS);    // the number is taken
    assert_int_equal(last.findings.at[0].check, CHECK_GROUP);
    json_t *run = group_run_of("ada", 9, 5);
    fixture_set(run, "seed", json_integer(3));
    fixture_chain(run);
    assert_int_equal(hand_in(run, &ada), PROBLEM_CHECKS);  // a seed twice
    assert_int_equal(last.findings.at[0].check, CHECK_SEED);
    run = group_run_of("ada", 9, 5);
    fixture_set(run, "model.name", json_string("another"));
    assert_int_equal(hand_in(run, &ada), PROBLEM_CHECKS);  // not the same thing five times
    run = group_run_of("ada", 9, 5);
    fixture_set(run, "group.announced_ms", json_integer(FIXTURE_NOW_MS - 2999999));
    assert_int_equal(hand_in(run, &ada), PROBLEM_CHECKS);  // nor announced twice
    assert_int_equal(hand_in(group_run_of("ada", 5, 5), &ada), PROBLEM_NONE);
    for (int board = 0; board < BOARDS; board++) {
        struct entries e = board_of((enum board)board, RANK_GROUP);
        assert_int_equal(e.total, 1);
        assert_int_equal(e.at[0].runs, 5);
        assert_string_equal(e.at[0].source, "group fedcba9876543210fedcba9876543210");
        assert_int_equal(e.at[0].trust, TRUST_CHECKED);
        assert_int_equal(e.at[0].sequence, 5);
        assert_true(e.at[0].low <= e.at[0].value && e.at[0].value <= e.at[0].high);
    }
    assert_int_equal(store_group(reader, "fedcba9876543210fedcba9876543210", &arena, &runs, &count, &planned), 0);
    assert_int_equal(count, 5);
    assert_int_equal(planned, 5);
    for (int i = 0; i < count; i++) {  // a thousand of them must fit in memory: a list has no payloads, a run's rest is small
        struct statement slim;
        assert_string_equal(runs[i].payload, "");
        assert_int_equal(runs[i].payload_count, 0);
        assert_int_equal(store_group_run(reader, runs[i].sequence, &slim), 0);
        assert_null(slim.payload);
        assert_int_equal(json_array_size(canonical_at(slim.json, "points")), 1);
        assert_int_equal(canonical_int(slim.json, "group.index"), i + 1);
        statement_free(&slim);
    }
    assert_int_equal(store_log(reader, 0, 200, &arena, &runs, &count), 0);
    for (int i = 0; i < count; i++) assert_string_equal(runs[i].payload, "");
    assert_int_equal(store_group(reader, "", &arena, &runs, &count, &planned), ERR_MISSING);
    // Leaving one out breaks the group, and its number stays taken.
    char digest[DIGEST_HEX];
    run = group_run_of("ada", 2, 2);
    digest_of(run, digest);
    json_decref(run);
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_GROUP).total, 0);
    assert_int_equal(hand_in(group_run_of("ada", 12, 2), &ada), PROBLEM_CHECKS);
    assert_whole();
}

// Payloads that any connection has read since.
static int payloads_read;
static int count_payload(unsigned kind, void *context, void *statement, void *text)
{
    (void)kind, (void)context, (void)text;
    const char *sql = sqlite3_sql(statement);
    payloads_read += sql != NULL && strstr(sql, "SELECT payload FROM statements") == sql;
    return 0;
}
static int watch_connection(sqlite3 *db, const char **message, const struct sqlite3_api_routines *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_payload, NULL);
}

// An answer without a comparison reads no other run of the group: the same bytes again, and a run beyond the limit.
TEST_WITH(test_group_is_not_read_in_vain, set_up, tear_down)
{
    enum { RUNS = 3 };
    close_all();
    sqlite3_auto_extension((void (*)(void))watch_connection);
    assert_int_equal(store_open(&(struct store_settings){.path = path, .submissions_per_hour = RUNS}, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    for (int i = 1; i <= RUNS; i++) assert_int_equal(hand_in(group_run_of("ada", i, i), &ada), PROBLEM_NONE);
    payloads_read = 0;
    assert_int_equal(hand_in(group_run_of("ada", RUNS, RUNS), &ada), PROBLEM_NONE);
    assert_true(last.again);
    assert_int_equal(payloads_read, 0);
    assert_int_equal(hand_in(group_run_of("ada", 4, 4), &ada), PROBLEM_RATE);
    assert_int_equal(payloads_read, 0);
    assert_int_equal(hand_in_at(group_run_of("ada", 4, 4), &ada, NULL, FIXTURE_NOW_MS + 3600000), PROBLEM_NONE);
    sqlite3_cancel_auto_extension((void (*)(void))watch_connection);
    assert_int_equal(payloads_read, RUNS);
    assert_whole();
}

// Health tries a write after one that failed. Only a statement that was stored shows that writing works: not one that had to
// wait, one that was refused, or one that was there.
TEST_WITH(test_a_failed_write_is_remembered, set_up, tear_down)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    store->failed = true;
    pthread_mutex_lock(&store->mutex);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_STORAGE);
    pthread_mutex_unlock(&store->mutex);
    assert_int_equal(last.retry_after, STORE_WAIT_SECONDS);
    assert_true(store->failed);
    assert_int_equal(hand_in(run_of("countess", 3), &ada), PROBLEM_KEY_TAKEN);
    assert_true(store->failed);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_true(last.again && store->failed);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    assert_false(store->failed);
}

TEST_WITH(test_reproduced, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *own = run_of("ada", 2), *other = run_of("bob", 3);
    char digest[DIGEST_HEX];
    fixture_set(own, "seed", json_integer(1));
    fixture_set(other, "seed", json_integer(1));
    fixture_again(own, 1000000, 2);
    fixture_again(other, 1000000, 3);
    digest_of(other, digest);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(own, &ada), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);  // oneself is nobody else
    assert_int_equal(hand_in(other, &bob), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    list_keys(&ada, &bob);
    assert_int_equal(trust_of("1"), TRUST_REPRODUCED);
    assert_int_equal(trust_of("2"), TRUST_CHECKED);
    assert_int_equal(trust_of("3"), TRUST_CHECKED);
    struct entries e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_string_equal(e.at[0].source, "#1");
    assert_int_equal(e.at[0].trust, TRUST_REPRODUCED);
    assert_whole();
    assert_int_equal(hand_in(about("withdraw", digest), &bob), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_whole();
}

// A repetition shows the time of training. Latencies may be replaced later; a price without an instance is one's own word.
TEST_WITH(test_a_level_belongs_to_its_figure, set_up, tear_down)
{
    list_keys(&bob, NULL);
    for (int own = 0; own < 2; own++) {
        json_t *first = run_of("ada", 1 + 2 * own), *other;
        fixture_vary(first, 1 + own);  // another seed has other losses
        if (own) {
            fixture_edit(first, "'price.instance': '', 'price.source': 'user'");
        }
        other = json_deep_copy(first);
        fixture_set(other, "handle", json_string("bob"));
        fixture_set(other, "nonce", json_string(own ? "abababababababababababababababab" : FIXTURE_GROUP));
        fixture_again(other, 1000000, 3 + own);
        if (hand_in(first, &ada) != PROBLEM_NONE || hand_in(other, &bob) != PROBLEM_NONE) fail_msg("%s", last.detail);
        assert_int_equal(trust_of(own ? "4" : "2"), TRUST_REPRODUCED);
    }
    struct entries e = board_of(BOARD_TRAINING_COST, RANK_CLASSIC);
    int reproduced = 0, stated = 0;
    for (int i = 0; i < e.count; i++) {
        reproduced += e.at[i].trust == TRUST_REPRODUCED;
        stated += e.at[i].trust == TRUST_SIGNED;
    }
    assert_int_equal(reproduced, 1);  // with the listed price alone
    assert_int_equal(stated, 2);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_REPRODUCED);
    assert_int_equal(row_trust(BOARD_INFERENCE_LATENCY), TRUST_CHECKED);
    assert_int_equal(row_trust(BOARD_INFERENCE_COST), TRUST_CHECKED);
    assert_whole();
}

// A price of one's own, however low, takes no place before a listed one: such rows are among all entries alone.
TEST_WITH(test_listed_prices_come_first, set_up, tear_down)
{
    json_t *listed = run_of("ada", 1), *own = run_of("bob", 2), *latency = fixture_item(own, "latencies", 0);
    json_t *const of[] = {own, latency};
    for (int i = 0; i < 2; i++) {
        fixture_set(of[i], "price.instance", json_string(""));
        fixture_set(of[i], "price.source", json_string("user"));
        fixture_set(of[i], "price.micro_usd_per_hour", json_integer(1000));
    }
    fixture_set(latency, "price.total_micro_usd", json_integer(cost_inference_micro(1100000, 10000, 1000)));
    fixture_follow(own);
    assert_int_equal(hand_in(listed, &ada), PROBLEM_NONE);
    if (hand_in(own, &bob) != PROBLEM_NONE) fail_msg("%s", last.detail);
    static const enum board costs[] = {BOARD_TRAINING_COST, BOARD_INFERENCE_COST};
    for (int i = 0; i < 2; i++) {
        struct filter filter = filter_plain(contest_find("cifar10"), costs[i], RANK_CLASSIC);
        struct entries e;
        assert_int_equal(store_entries(reader, &filter, &arena, &e), 0);
        assert_int_equal(e.total, 1);
        assert_int_equal(e.below, 1);
        assert_string_equal(e.at[0].author, "ada");
        assert_int_equal(e.at[0].rank, 1);
        filter.trust = TRUST_IMPORTED;
        assert_int_equal(store_entries(reader, &filter, &arena, &e), 0);
        assert_int_equal(e.total, 2);
        assert_string_equal(e.at[0].author, "bob");
        assert_int_equal(e.at[0].trust, TRUST_SIGNED);
    }
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 2);
    assert_whole();
}

// An audit is of the words, too, so other words end it.
TEST_WITH(test_an_amendment_ends_an_audit, set_up, tear_down)
{
    char digest[DIGEST_HEX];
    hand_in_one(digest);
    free(last.receipt);
    const struct decision seen = {"confirmed", digest, "Ann Lee", "seen", NULL};
    assert_int_equal(store_decide(store, &seen, FIXTURE_NOW_MS, &last), 0);
    assert_int_equal(trust_of("1"), TRUST_AUDITED);
    assert_int_equal(row_trust(BOARD_INFERENCE_LATENCY), TRUST_AUDITED);
    assert_int_equal(hand_in(about("amend", digest), &ada), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_CHECKED);
    assert_whole();
}

// A repeated curve does not answer a flag.
TEST_WITH(test_flagged_is_not_reproduced, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *other = run_of("bob", 2);
    fixture_set(first, "software.dirty", json_integer(1));
    fixture_edit(other, "'software.dirty': 1, 'seed': 1");
    fixture_again(other, 1000000, 2);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(other, &bob), PROBLEM_NONE);
    list_keys(&bob, NULL);
    assert_int_equal(trust_of("1"), TRUST_SIGNED);
    assert_whole();
}

// Nor does a flagged one answer anything, but the next one does.
TEST_WITH(test_flagged_reproduces_nothing, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *flagged = run_of("bob", 2), *other = run_of("eve", 3);
    fixture_edit(flagged, "'software.dirty': 1, 'seed': 1");
    fixture_set(other, "seed", json_integer(1));
    fixture_again(flagged, 1000000, 2);
    fixture_again(other, 2000000, 3);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(flagged, &bob), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);
    list_keys(&bob, &eve);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_whole();
    assert_int_equal(hand_in(other, &eve), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_REPRODUCED);
    assert_whole();
}

TEST_WITH(test_lost_record, set_up, tear_down)
{
    close_all();
    assert_int_equal(unlink(path), 0);
    struct store_settings settings = {.path = path, .origin = "test"};
    assert_int_equal(store_open(&settings, STORE_WRITE, &store), ERR_MISSING);
    settings.new_log = true;
    assert_int_equal(store_open(&settings, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
}
