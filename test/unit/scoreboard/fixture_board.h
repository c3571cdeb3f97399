// SPDX-License-Identifier: Apache-2.0
// A scoreboard's record in a folder of its own, three people's keys, and what tests do with them: make a run, sign it, hand
// it in, look at a board, check the record.
#pragma once

#include "test/unit/fixture_folder.h"

#include <sodium.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "scoreboard/store/store.h"
#include "test/unit/fixture_statement.h"

#define FIXTURE_GROUP "fedcba9876543210fedcba9876543210"

static char path[128];
static struct store *store;
static struct reader *reader;
static struct arena arena;
static struct sshkey_secret ada, bob, eve;
static struct acceptance last;

static inline void open_all(void)
{
    const struct store_settings settings = {.path = path, .origin = "test"};
    if (store_open(&settings, STORE_WRITE, &store) < 0) fail_msg("%s", error_text());
    assert_int_equal(store_reader(store, &reader), 0);
}

static inline void close_all(void)
{
    store_reader_close(reader);
    store_close(store);
    reader = NULL;
    store = NULL;
}

static inline int set_up(void **state)
{
    assert_true(sodium_init() >= 0);
    assert_int_equal(enter(state), 0);
    snprintf(path, sizeof path, "%s/board.db", folder);
    sshkey_new(&ada, "ada@host");
    sshkey_new(&bob, "");
    sshkey_new(&eve, "");
    open_all();
    return 0;
}

static inline int tear_down(void **state)
{
    if (store != NULL) close_all();
    arena_free(&arena);
    free(last.receipt);
    last = (struct acceptance){0};
    return leave(state);
}

// The operator's rules of the draw: shares in millionths, and at most three keys whose repetitions count.
static inline void set_draw(int64_t share, int64_t again, const struct sshkey_secret *const keys[3])
{
    char ids[3][SSHKEY_ID];
    const char *listed[3];
    struct draw_rules rules = {.share_micro = share, .again_micro = again, .keys = listed};
    for (int i = 0; i < 3 && keys[i] != NULL; i++) listed[rules.key_count++] = sshkey_id(&keys[i]->key, ids[i]);
    free(last.receipt);
    assert_int_equal(store_draw(store, &rules, "Ann Lee", FIXTURE_NOW_MS, &last), 0);
    assert_int_equal(last.problem, PROBLEM_NONE);
}

static inline void list_keys(const struct sshkey_secret *a, const struct sshkey_secret *b)
{
    set_draw(0, 0, (const struct sshkey_secret *const[]){a, b, NULL});
}

// Names the board's key, where a statement does not yet, and then makes a run's chain follow from the rest.
static inline json_t *to_board(json_t *payload)
{
    char id[SSHKEY_ID];
    if (json_object_get(payload, "board_key") != NULL) return payload;
    json_object_set_new(payload, "board_key", json_string(sshkey_id(store_key(store), id)));
    if (json_object_get(payload, "points") != NULL) fixture_chain(payload);
    return payload;
}

// Signs a payload (the reference passes over) and hands it in at a moment.
static inline enum problem hand_in_at(json_t *payload, const struct sshkey_secret *key, const struct sshkey_secret *next,
                                      int64_t now_ms)
{
    struct envelope e = {.key = key->key};
    char signature[SSHSIG_MAX];
    if (statement_make(to_board(payload), &e.statement) < 0) fail_msg("%s", error_text());
    const char *space = statement_namespace(e.statement.type);
    e.signature = copy_text(sshsig_sign(space, e.statement.payload, e.statement.count, key, signature));
    if (next != NULL) {
        e.next_key = next->key;
        e.countersignature = copy_text(sshsig_sign(space, e.statement.payload, e.statement.count, next, signature));
    }
    free(last.receipt);
    assert_int_equal(store_accept(store, &e, now_ms, &last), 0);
    envelope_free(&e);
    return last.problem;
}

static inline enum problem hand_in(json_t *payload, const struct sshkey_secret *key)
{
    return hand_in_at(payload, key, NULL, FIXTURE_NOW_MS);
}

// A single run with a nonce and a seed of its own.
static inline json_t *run_of(const char *handle, int number)
{
    char nonce[33];
    json_t *run = fixture_run();
    snprintf(nonce, sizeof nonce, "%032x", number);
    json_object_del(run, "group");
    fixture_set(run, "nonce", json_string(nonce));
    fixture_set(run, "seed", json_integer(number));
    fixture_set(run, "handle", json_string(handle));
    fixture_delay(run, number);
    return run;
}

// A run of a group of five. They follow each other by their numbers, which are at most 12.
static inline json_t *group_run_of(const char *handle, int number, int index)
{
    json_t *run = run_of(handle, number);
    fixture_vary(run, number);
    int64_t ended = FIXTURE_NOW_MS - (int64_t)(12 - number) * 200000;
    fixture_set(run, "started_ms", json_integer(ended - 130000));
    fixture_set(run, "ended_ms", json_integer(ended));
    fixture_set(run, "group",
                json_pack("{s:s, s:i, s:i, s:I}", "nonce", FIXTURE_GROUP, "index", index, "planned", 5,
                          "announced_ms", (json_int_t)(FIXTURE_NOW_MS - 3000000)));
    return run;
}

// All five, which make it official.
static inline void hand_in_a_group(void)
{
    for (int i = 1; i <= 5; i++) {
        int64_t scores[FIXTURE_EPOCHS] = {6000, 7500, 8200, 8700, 9000, 9200, 9330, 9390, 9410, 9450 + i};
        json_t *run = group_run_of("ada", i, i);
        fixture_curve(run, scores, FIXTURE_EPOCHS);
        fixture_vary(run, i);
        assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    }
}

// A statement about another.
static inline json_t *about(const char *type, const char *digest)
{
    json_t *value = json_pack("{s:s, s:i, s:s, s:s, s:I}", "type", type, "version", 1, "board", "test", "statement", digest,
                              "made_ms", (json_int_t)FIXTURE_NOW_MS);
    if (strcmp(type, "withdraw") == 0) json_object_set_new(value, "reason", json_string("a mistake"));
    if (strcmp(type, "amend") == 0) json_object_set_new(value, "note", json_string("a remark"));
    return value;
}

// The rotation of a handle to a new key.
static inline json_t *rotate_to(const struct sshkey_secret *next, const char *handle)
{
    char line[SSHKEY_TEXT];
    struct sshkey bare = next->key;
    bare.comment[0] = 0;
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "rotate", "version", 1, "board", "test", "handle", handle, "key",
                     sshkey_line(&bare, line), "made_ms", (json_int_t)FIXTURE_NOW_MS);
}

static inline void digest_of(json_t *payload, char hex[DIGEST_HEX])
{
    struct statement s;
    assert_int_equal(statement_make(to_board(json_deep_copy(payload)), &s), 0);
    memcpy(hex, s.digest, DIGEST_HEX);
    statement_free(&s);
}

// The first run, of ada.
static inline void hand_in_one(char hex[DIGEST_HEX])
{
    json_t *run = run_of("ada", 1);
    digest_of(run, hex);
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
}

static inline struct entries board_of(enum board board, enum rank rank)
{
    struct filter f = {.contest = contest_find("cifar10"), .board = board, .rank = rank, .limit = 1000};
    struct entries found;
    if (store_entries(reader, &f, &arena, &found) < 0) fail_msg("%s", error_text());
    return found;
}

// The level of ada's row.
static inline enum trust row_trust(enum board board)
{
    struct entries e = board_of(board, RANK_CLASSIC);
    for (int i = 0; i < e.count; i++)
        if (strcmp(e.at[i].author, "ada") == 0) return e.at[i].trust;
    fail_msg("no row");
    return TRUST_IMPORTED;
}

static inline int say(void *to, const char *sentence)
{
    text_add(to, "%s\n", sentence);
    return 0;
}

static inline int faults_of(struct text *said)
{
    int faults;
    if (store_check(store, say, said, &faults) < 0) fail_msg("%s", error_text());
    return faults;
}

static inline void assert_whole(void)
{
    struct text said = {0};
    if (faults_of(&said) != 0) fail_msg("%s", said.at);
    text_free(&said);
}

static inline void assert_fault(const char *sentence)
{
    struct text said = {0};
    if (faults_of(&said) == 0 || strstr(said.at, sentence) == NULL) fail_msg("not said: %s", sentence);
    text_free(&said);
}

// Alters the record behind the program's back.
static inline void do_sql(const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static inline enum trust trust_of(const char *id)
{
    struct stored s;
    assert_int_equal(store_statement(reader, id, &arena, &s), 0);
    return s.trust;
}
