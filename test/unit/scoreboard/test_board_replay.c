// SPDX-License-Identifier: Apache-2.0
// What a board makes of runs that say which run they repeat, and of groups that are better than reference runs.
#include "test/unit/test.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/store/file/store_state.h"
#include "test/unit/scoreboard/fixture_page.h"
#include "test/unit/scoreboard/fixture_trace.h"

// A run of ada's group, number 1 to 5, and its last score.
static json_t *scattered(int number)
{
    json_t *run = group_run_of("ada", number, number);
    fixture_score(run, FIXTURE_EPOCHS - 1, 0, 9400 + 10 * number);
    fixture_chain(run);
    return run;
}

static const char *head_of(const json_t *run)
{
    return canonical_text(json_array_get(json_object_get(run, "points"), FIXTURE_EPOCHS - 1), "hash");
}

// Another person's run that says it repeats one of them, on fewer threads: other losses and another last score.
static json_t *repeated(const json_t *run, const char *handle, int number, int64_t score)
{
    char nonce[33];
    json_t *replay = json_deep_copy(run), *last_scores;
    snprintf(nonce, sizeof nonce, "%032x", 100 + number);
    json_object_del(replay, "group");
    fixture_set(replay, "handle", json_string(handle));
    fixture_set(replay, "nonce", json_string(nonce));
    fixture_set(replay, "threads", json_integer(8));
    fixture_set(replay, "replay_of", json_string(head_of(run)));
    last_scores = json_object_get(fixture_item(replay, "points", FIXTURE_EPOCHS - 1), "scores");
    json_object_set_new(json_array_get(last_scores, 0), "score", json_integer(score));
    fixture_vary(replay, number);
    return replay;
}

// The five have 9,410 to 9,450 of 10,000: 94.30% +- t(.975, 4) .158% sqrt(1.2) is 93.82 to 94.78%.
TEST_WITH(test_replayed_within_its_group, set_up, tear_down)
{
    json_t *first = scattered(1), *runs[4], *near = repeated(first, "bob", 42, 9425);
    json_t *far = repeated(first, "eve", 40, 9485), *own = repeated(first, "ada", 41, 9420);
    char digest[DIGEST_HEX];
    for (int i = 0; i < 4; i++) runs[i] = scattered(i + 2);
    digest_of(near, digest);
    assert_int_equal(hand_in(far, &eve), PROBLEM_NONE);  // before its original
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(near, &bob), PROBLEM_NONE);
    assert_int_equal(last.findings.count, 0);
    assert_int_equal(hand_in(own, &ada), PROBLEM_NONE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(trust_of("2"), TRUST_CHECKED);  // of fewer than five runs nobody knows an interval
        assert_int_equal(hand_in(runs[i], &ada), PROBLEM_NONE);
    }
    assert_int_equal(trust_of("2"), TRUST_CHECKED);  // a key costs nothing
    list_keys(&eve, NULL);
    assert_int_equal(trust_of("2"), TRUST_CHECKED);  // what this key repeated is too good
    list_keys(&bob, &eve);
    assert_int_equal(trust_of("2"), TRUST_REPRODUCED);
    struct stored s, *list;
    int count;
    assert_int_equal(store_statement(reader, "2", &arena, &s), 0);
    assert_int_equal(s.reproduced_by, 3);  // not the one that is too good, nor its own
    assert_int_equal(trust_of("3"), TRUST_CHECKED);
    assert_whole();
    struct statement read;
    assert_int_equal(statement_read(s.payload, s.payload_count, &read), 0);
    assert_int_equal(store_replays(reader, head_of(read.json), 10, &arena, &list, &count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(list[0].sequence, 4);  // its own author's, who has a run above checked now
    assert_int_equal(store_replays(reader, head_of(read.json), 2, &arena, &list, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(store_run_of_head(reader, head_of(read.json), &arena, &s), 0);
    assert_int_equal(s.sequence, 2);
    assert_int_equal(store_run_of_head(reader, FIXTURE_HEX, &arena, &s), ERR_MISSING);
    statement_free(&read);
    assert_int_equal(hand_in(about("withdraw", digest), &bob), PROBLEM_NONE);
    assert_int_equal(trust_of("2"), TRUST_CHECKED);
    assert_whole();
}

// Another build of the program that comes to the same figures proves more than an interval does; a near score of a single run
// proves nothing.
TEST_WITH(test_replayed_alone, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *near, *same;
    near = repeated(first, "bob", 2, 9449);
    same = json_deep_copy(first);
    fixture_edit(same, "'handle': 'eve', 'nonce': 'abababababababababababababababab'");
    fixture_set(same, "software.binary_digest", json_string("dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"));
    fixture_set(same, "replay_of", json_string(head_of(first)));
    fixture_again(same, 3000000, 5);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(near, &bob), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_int_equal(hand_in(same, &eve), PROBLEM_NONE);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    list_keys(&bob, NULL);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    list_keys(&bob, &eve);
    assert_int_equal(trust_of("1"), TRUST_REPRODUCED);
    list_keys(NULL, NULL);
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_whole();
}

// Made-up replays of fresh keys are a number on the page of the run that they name; one that agrees is named.
TEST_WITH(test_made_up_replays_are_a_number, set_up, end)
{
    json_t *first = run_of("ada", 1), *same = json_deep_copy(first);
    fixture_edit(same, "'handle': 'eve', 'nonce': 'abababababababababababababababab'");
    fixture_set(same, "replay_of", json_string(head_of(first)));
    fixture_again(same, 3000000, 5);
    assert_int_equal(hand_in(json_deep_copy(first), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(repeated(first, "bob", 2, 9300), &bob), PROBLEM_NONE);
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, ">1</b> run of people without a witnessed run here names this one and does not agree");
    assert_null(strstr(answer.body.at, "says that it repeats this one"));
    assert_int_equal(hand_in(same, &eve), PROBLEM_NONE);
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "Run 3</a> of ");
    assert_null(strstr(answer.body.at, "Run 2</a> of "));
    do_sql("UPDATE runs SET trust = 3 WHERE sequence = 2");  // who has a witnessed run is heard
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "Run 2</a> of ");
    json_decref(first);
}

// Each run is believable, but five of them are not: the mean is above 94.60%. The flag stands with the one that completes the
// group.
TEST_WITH(test_group_better_than_reference, set_up, tear_down)
{
    for (int i = 1; i <= 5; i++) {
        json_t *run = group_run_of("ada", i, i);
        fixture_score(run, FIXTURE_EPOCHS - 1, 0, 9460 + i);
        assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
        assert_int_equal(last.findings.flags, i == 5);
    }
    assert_int_equal(last.findings.at[0].check, CHECK_BETTER);
    assert_non_null(strstr(last.findings.at[0].text, "94.63%"));
    assert_int_equal(trust_of("1"), TRUST_CHECKED);
    assert_int_equal(trust_of("5"), TRUST_SIGNED);
    struct entries e = board_of(BOARD_TRAINING_TIME, RANK_GROUP);
    assert_int_equal(e.at[0].trust, TRUST_SIGNED);
    assert_int_equal(e.at[0].flags, 1);
    assert_whole();
}

// ---- how much is read under the lock
enum { PAYLOADS, BRIEFS };  // statements that are read; the runs of a group, as its row and its figures need them

static int set_up_traced(void **state)
{
    trace_begin("SELECT payload FROM", ", brief, (SELECT");
    return set_up(state);
}

static int tear_down_traced(void **state)
{
    trace_end();
    return tear_down(state);
}

// Four of five runs have two replays each. The fifth run changes the group, so all eight are judged again, by their scores alone.
// It reads only its four mates' payloads, asks for the figures of the group once, and makes the group's row once,
// although four levels change.
TEST_WITH(test_judges_each_pair_once, set_up_traced, tear_down_traced)
{
    json_t *runs[5], *near[4], *far[4];
    list_keys(&bob, &eve);
    for (int i = 0; i < 5; i++) runs[i] = scattered(i + 1);
    for (int i = 0; i < 4; i++) {
        far[i] = repeated(runs[i], "eve", 20 + i, 9485);
        near[i] = repeated(runs[i], "bob", 30 + i, 9425);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(hand_in(runs[i], &ada), PROBLEM_NONE);
        assert_int_equal(hand_in(far[i], &eve), PROBLEM_NONE);
        trace_reset();
        assert_int_equal(hand_in(near[i], &bob), PROBLEM_NONE);
        assert_int_equal(traced[PAYLOADS], 2);
    }
    trace_reset();
    assert_int_equal(hand_in(runs[4], &ada), PROBLEM_NONE);
    assert_int_equal(traced[PAYLOADS], 4);
    assert_int_equal(traced[BRIEFS], 2);
    assert_int_equal(trust_of("2"), TRUST_REPRODUCED);
    assert_int_equal(trust_of("11"), TRUST_REPRODUCED);
    assert_whole();
}

TEST_WITH(test_notices_altered_judgements, set_up, tear_down)
{
    json_t *first = scattered(1), *near = repeated(first, "bob", 42, 9425);
    list_keys(&bob, NULL);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(near, &bob), PROBLEM_NONE);
    assert_whole();
    do_sql("UPDATE judged SET verdict = 1");
    assert_fault("judgement of runs 2 and 3 : verdict is \"1\"");
    do_sql("DELETE FROM judged");
    assert_fault("judgement of runs 2 and 3 : it should be there");
}

// A group of 300 runs. The next one is compared with the whole curves of 64 of them; of 64 more if their last losses are its own.
TEST_WITH(test_reads_few_mates, set_up_traced, tear_down_traced)
{
    json_t *first = group_run_of("ada", 1, 1), *like = group_run_of("ada", 4, 4);
    json_t *loss = json_object_get(fixture_item(first, "points", FIXTURE_EPOCHS - 1), "loss");
    json_object_set(fixture_item(like, "points", FIXTURE_EPOCHS - 1), "loss", loss);
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    do_sql("CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
           "SELECT i FROM n; "
           "INSERT INTO statements SELECT -i, digest || i, type, payload, signature, countersignature, key, handle, "
           "accepted_ms, receipt, receipt_signature FROM statements, n WHERE sequence = 1; "
           "INSERT INTO runs SELECT -i, digest || i, nonce || i, head || i, contest, handle, -i, group_nonce, group_index, "
           "planned, group_terms, seed, '', '', flags, trust, 1, 0, 0, '', 0, team, note, code_url, tags, brief FROM runs, n "
           "WHERE sequence = 1");
    trace_reset();
    assert_int_equal(hand_in(scattered(3), &ada), PROBLEM_NONE);
    assert_int_equal(traced[PAYLOADS], 64);
    trace_reset();
    assert_int_equal(hand_in(like, &ada), PROBLEM_NONE);
    assert_int_equal(traced[PAYLOADS], 128);
}

static void *hand_in_the_second(void *run)
{
    hand_in(run, &ada);
    return NULL;
}

// Payloads of mates, which may be long, are read before the mutex is taken; a writer that cannot take it in time gets a 503.
TEST_WITH(test_long_mates_block_no_writer, set_up_traced, tear_down_traced)
{
    pthread_t thread;
    json_t *second = to_board(scattered(2));
    assert_int_equal(hand_in(scattered(1), &ada), PROBLEM_NONE);
    trace_reset();
    pthread_mutex_lock(&store->mutex);
    assert_int_equal(pthread_create(&thread, NULL, hand_in_the_second, second), 0);
    for (int i = 0; i < 300 && traced[PAYLOADS] == 0; i++) usleep(10000);
    assert_int_equal(traced[PAYLOADS], 1);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(thread, NULL);
    assert_int_equal(last.problem, PROBLEM_NONE);
    assert_int_equal(traced[PAYLOADS], 1);
    pthread_mutex_lock(&store->mutex);
    assert_int_equal(pthread_create(&thread, NULL, hand_in_the_second, to_board(scattered(3))), 0);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&store->mutex);
    assert_int_equal(last.problem, PROBLEM_STORAGE);
    assert_true(last.retry_after > 0);
    assert_int_equal(hand_in(scattered(3), &ada), PROBLEM_NONE);
    assert_whole();
}
