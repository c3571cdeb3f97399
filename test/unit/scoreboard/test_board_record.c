// SPDX-License-Identifier: Apache-2.0
// Keys and the record as a file: rotation, revocation, two writers, copies, and that the check finds alterations.
#include <pthread.h>

#include "scoreboard/store/file/sql.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

// ---- keys
static json_t *revoke_of(const struct sshkey_secret *key)
{
    char id[SSHKEY_ID];
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", "test", "key",
                     sshkey_id(&key->key, id), "reason", "lost", "made_ms", (json_int_t)FIXTURE_NOW_MS);
}

TEST_WITH(test_rotate, set_up, tear_down)
{
    struct person p;
    char id[SSHKEY_ID];
    assert_int_equal(hand_in_at(rotate_to(&eve, "ada"), &ada, &eve, FIXTURE_NOW_MS), PROBLEM_UNKNOWN_KEY);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in_at(rotate_to(&bob, "ada"), &ada, &bob, FIXTURE_NOW_MS), PROBLEM_KEY_TAKEN);  // bob is somebody
    assert_int_equal(hand_in_at(rotate_to(&eve, "bob"), &ada, &eve, FIXTURE_NOW_MS), PROBLEM_KEY_TAKEN);
    assert_int_equal(hand_in_at(rotate_to(&eve, "ada"), &ada, &eve, FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_REVOKED);
    assert_non_null(strstr(last.detail, "replaced"));
    assert_int_equal(hand_in(run_of("ada", 3), &eve), PROBLEM_NONE);
    assert_int_equal(store_person(reader, "Ada", &arena, &p), 0);
    assert_string_equal(p.handle, "ada");
    assert_int_equal(p.key_count, 2);
    assert_int_equal(p.keys[0].replaced_sequence, 3);
    assert_int_equal(p.keys[1].since_sequence, 3);
    assert_int_equal(p.statement_count, 3);
    assert_int_equal(p.statements[0].sequence, 4);
    assert_int_equal(store_person_of_key(reader, sshkey_id(&eve.key, id), &arena, &p), 0);
    assert_string_equal(p.handle, "ada");
    assert_int_equal(store_person_of_key(reader, id + 7, &arena, &p), 0);  // its tail will do
    assert_int_equal(store_person(reader, "", &arena, &p), ERR_MISSING);    // the server's key is nobody's
    assert_int_equal(store_person(reader, "nobody", &arena, &p), ERR_MISSING);
    assert_whole();
}

TEST_WITH(test_revoke, set_up, tear_down)
{
    char id[SSHKEY_ID];
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(revoke_of(&ada), &bob), PROBLEM_NOT_YOURS);
    assert_int_equal(hand_in(revoke_of(&ada), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_REVOKED);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);  // accepted statements stay
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 2);
    free(last.receipt);
    assert_int_equal(store_revoke(store, sshkey_id(&bob.key, id), "stolen", FIXTURE_NOW_MS, &last), 0);
    assert_int_equal(last.problem, PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("bob", 4), &bob), PROBLEM_REVOKED);
    free(last.receipt);
    assert_int_equal(store_revoke(store, sshkey_id(&bob.key, id), "again", FIXTURE_NOW_MS, &last), 0);
    assert_int_equal(last.problem, PROBLEM_CONFLICT);
    free(last.receipt);
    assert_int_equal(store_revoke(store, sshkey_id(&eve.key, id), "who", FIXTURE_NOW_MS, &last), 0);
    assert_int_equal(last.problem, PROBLEM_NOT_FOUND);
    assert_whole();
}

// ---- audits
static enum problem audit_of(const char *digest, bool withdrawn)
{
    static int64_t later;  // each decision is one of its own
    const struct decision audit = {withdrawn ? "withdrawn" : "confirmed", digest, "Ann Lee", "repeated on our machine", NULL};
    free(last.receipt);
    if (store_decide(store, &audit, FIXTURE_NOW_MS + ++later, &last) < 0) fail_msg("%s", error_text());
    return last.problem;
}

static enum trust level_of(int number)
{
    struct stored stored;
    char id[12];
    snprintf(id, sizeof id, "%d", number);
    assert_int_equal(store_statement(reader, id, &arena, &stored), 0);
    return stored.trust;
}

TEST_WITH(test_audit, set_up, tear_down)
{
    char digest[3][DIGEST_HEX];
    struct stored found;
    json_t *self = run_of("bob", 2), *flagged = run_of("ada", 3), *run = run_of("ada", 1);
    fixture_edit(self, "'division': 'open', 'evaluated_by': 'self'");
    fixture_set(flagged, "software.dirty", json_integer(1));
    digest_of(run, digest[0]);
    digest_of(self, digest[1]);
    digest_of(flagged, digest[2]);
    assert_int_equal(audit_of(digest[0], false), PROBLEM_NOT_FOUND);
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(self, &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(flagged, &ada), PROBLEM_NONE);
    assert_int_equal(audit_of(digest[1], false), PROBLEM_CONFLICT);  // nobody but its author measured it
    assert_int_equal(audit_of(digest[0], true), PROBLEM_CONFLICT);   // there is nothing to take back
    assert_int_equal(store_audit_of(reader, digest[0], &arena, &found), ERR_MISSING);
    json_t *forged = about("audit", digest[0]);
    fixture_edit(forged, "'verdict': 'confirmed', 'by': 'ada', 'reason': 'it is mine'");
    assert_int_equal(hand_in(forged, &ada), PROBLEM_NOT_YOURS);
    assert_int_equal(audit_of(digest[0], false), PROBLEM_NONE);
    assert_int_equal(audit_of(digest[2], false), PROBLEM_NONE);
    assert_int_equal(audit_of(digest[0], false), PROBLEM_CONFLICT);
    assert_int_equal(level_of(1), TRUST_AUDITED);
    assert_int_equal(level_of(3), TRUST_AUDITED);  // a person may overrule a flag, which stays
    assert_int_equal(store_audit_of(reader, digest[0], &arena, &found), 0);
    assert_int_equal(found.sequence, 4);
    assert_int_equal(hand_in(run_of("ada", 4), &ada), PROBLEM_NONE);  // no other run changes that
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).at[0].trust, TRUST_AUDITED);
    assert_whole();
    assert_int_equal(audit_of(digest[0], true), PROBLEM_NONE);
    assert_int_equal(audit_of(digest[2], true), PROBLEM_NONE);
    assert_int_equal(level_of(1), TRUST_CHECKED);
    assert_int_equal(level_of(3), TRUST_SIGNED);
    assert_whole();
}

// Files of other formats are left as they are.
TEST_WITH(test_other_formats, set_up, tear_down)
{
    static const int formats[] = {0, SQL_FORMAT + 1, 99};
    struct store *other;
    char sql[48], said[96];
    close_all();
    for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
        snprintf(sql, sizeof sql, "PRAGMA user_version = %d", formats[i / 2]);
        snprintf(said, sizeof said, "of format %d; this dawn-scoreboard knows format %d alone", formats[i / 2], SQL_FORMAT);
        do_sql(sql);
        assert_int_equal(store_open(&(struct store_settings){.path = path}, i % 2 ? STORE_READ : STORE_WRITE, &other),
                         ERR_DATABASE);
        assert_non_null(strstr(error_text(), said));
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", SQL_FORMAT);
    do_sql(sql);
    open_all();
    assert_whole();
}

// ---- the record as a file
TEST_WITH(test_check_finds, set_up, tear_down)
{
    static const struct {
        const char *harm, *heal, *said;
    } cases[] = {
        {"DELETE FROM findings; UPDATE runs SET flags = 0, trust = 2 WHERE sequence = 3; "
         "UPDATE entries SET flags = 0, trust = 2 WHERE source = '#3'",
         "INSERT INTO findings VALUES (3, 0, 'sources-changed', 'they differ'); UPDATE runs SET flags = 1, trust = 1 WHERE "
         "sequence = 3; UPDATE entries SET flags = 1, trust = 1 WHERE source = '#3'",
         "its flag sources-changed is missing"},
        {"UPDATE keys SET handle = 'eve' WHERE handle = 'ada'; UPDATE statements SET handle = 'eve'; UPDATE runs SET handle = "
         "'eve'",
         "UPDATE keys SET handle = 'ada' WHERE handle = 'eve'; UPDATE statements SET handle = 'ada'; UPDATE runs SET handle = "
         "'ada'",
         "it is of \"ada\", not of \"eve\""},
        {"UPDATE runs SET brief = '{}' WHERE sequence = 1", "UPDATE runs SET brief = '' WHERE sequence = 1", "brief"},
        {"UPDATE keys SET line = line || 'x' WHERE handle = 'ada'",
         "UPDATE keys SET line = substr(line, 1, length(line) - 1) WHERE handle = 'ada'", "line"},
        {"UPDATE entries SET value = value / 2 WHERE id = 1", "UPDATE entries SET value = value * 2 WHERE id = 1", "value"},
        {"UPDATE entries SET alive = 0 WHERE id = 2", "UPDATE entries SET alive = 1 WHERE id = 2", "should be there"},
        {"UPDATE runs SET trust = 4 WHERE sequence = 1", "UPDATE runs SET trust = 2 WHERE sequence = 1", "trust"},
        {"UPDATE keys SET revoked = 1 WHERE handle = 'ada'", "UPDATE keys SET revoked = 0 WHERE handle = 'ada'", "revoked"},
        {"UPDATE statements SET accepted_ms = accepted_ms - 1 WHERE sequence = 1",
         "UPDATE statements SET accepted_ms = accepted_ms + 1 WHERE sequence = 1", "receipt"},
        {"UPDATE statements SET payload = CAST(replace(CAST(payload AS TEXT), '\"seed\":1,', '\"seed\":8,') AS BLOB) WHERE "
         "sequence = 1",
         "UPDATE statements SET payload = CAST(replace(CAST(payload AS TEXT), '\"seed\":8,', '\"seed\":1,') AS BLOB) WHERE "
         "sequence = 1",
         "signature"},
        {"INSERT INTO statements SELECT 4, digest || 'x', type, payload, signature, countersignature, key, handle, accepted_ms, "
         "receipt, receipt_signature FROM statements WHERE sequence = 1",
         "DELETE FROM statements WHERE sequence = 4",
         "statement 4: it should have been refused: this run has been submitted as statement"},
        {"INSERT INTO imports VALUES ('CIFAR10/train/x', 'cifar10', 'CIFAR10', 'train', 'x', '{', '', '', 0)",
         "DELETE FROM imports", "read again"},
    };
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    json_t *flagged = run_of("ada", 3);
    fixture_set(flagged, "software.dirty", json_integer(1));
    assert_int_equal(hand_in(flagged, &ada), PROBLEM_NONE);
    assert_whole();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text said = {0};
        do_sql(cases[i].harm);
        if (faults_of(&said) == 0 || strstr(said.at, cases[i].said) == NULL) fail_msg("%s: %s", cases[i].harm, said.at);
        text_free(&said);
        do_sql(cases[i].heal);
        assert_whole();
    }
}

TEST_WITH(test_files, set_up, tear_down)
{
    char other[192], key[192];
    struct stat info;
    struct store *second;
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    snprintf(key, sizeof key, "%s.key", path);
    assert_int_equal(stat(key, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    // A second process may write meanwhile; both see what the other did.
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &second), 0);
    struct store *first = store;
    store = second;
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    store_close(second);
    store = first;
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_NONE);
    assert_int_equal(last.sequence, 3);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 3);
    // A copy holds the same; never over something.
    snprintf(other, sizeof other, "%s/copy.db", folder);
    assert_int_equal(store_backup(store, other), 0);
    assert_int_equal(store_backup(store, other), ERR_IO);
    assert_int_equal(store_open(&(struct store_settings){.path = other}, STORE_READ, &second), 0);
    struct reader *copy;
    struct totals totals;
    assert_int_equal(store_reader(second, &copy), 0);
    assert_int_equal(store_totals(copy, &totals), 0);
    assert_int_equal(totals.statements, 3);
    assert_int_equal(totals.people, 2);
    store_reader_close(copy);
    int faults;
    assert_int_equal(store_check(second, NULL, NULL, &faults), 0);
    assert_int_equal(faults, 0);
    store_close(second);
    // A copy without its key takes nothing; nor does one with another key, another name or other tables.
    assert_int_equal(store_open(&(struct store_settings){.path = other}, STORE_WRITE, &second), ERR_MISSING);
    close_all();
    assert_int_equal(store_open(&(struct store_settings){.path = path, .origin = "other"}, STORE_WRITE, &second), ERR_DATABASE);
    assert_int_equal(store_open(&(struct store_settings){.path = path, .origin = "a b"}, STORE_WRITE, &second), ERR_USAGE);
    snprintf(key, sizeof key, "%s/no.db", folder);
    assert_int_equal(store_open(&(struct store_settings){.path = key}, STORE_READ, &second), ERR_DATABASE);
    do_sql("CREATE VIEW extra AS SELECT 1");
    assert_fails(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &second), ERR_DATABASE, "altered");
    do_sql("DROP VIEW extra");
    open_all();
    assert_whole();
}

// Readers in threads of their own while statements come in: each sees whole transactions, in order.
enum { READERS = 2, COMING = 12 };

static void *read_on(void *unused)
{
    (void)unused;
    struct reader *mine;
    const char *wrong = NULL;
    int64_t before = 0;
    if (store_reader(store, &mine) < 0) return (void *)"no reader";
    while (before < COMING && wrong == NULL) {
        struct arena here = {0};
        struct filter f = {.contest = contest_find("cifar10"), .sort = SORT_AUTHOR};
        struct entries time, cost;
        f.board = BOARD_TRAINING_TIME;
        if (store_entries(mine, &f, &here, &time) < 0) wrong = "time cannot be read";
        f.board = BOARD_TRAINING_COST;
        if (wrong == NULL && store_entries(mine, &f, &here, &cost) < 0) wrong = "cost cannot be read";
        if (wrong == NULL && (time.total < before || cost.total < time.total)) wrong = "a row vanished";
        if (wrong == NULL) before = time.total;
        arena_free(&here);
    }
    store_reader_close(mine);
    return (void *)wrong;
}

TEST_WITH(test_threads, set_up, tear_down)
{
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, read_on, NULL), 0);
    for (int i = 0; i < COMING; i++) assert_int_equal(hand_in(run_of("ada", i + 1), &ada), PROBLEM_NONE);
    for (int i = 0; i < READERS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        if (wrong != NULL) fail_msg("%s\n", (char *)wrong);
    }
}
