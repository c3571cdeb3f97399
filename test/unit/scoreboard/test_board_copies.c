// SPDX-License-Identifier: Apache-2.0
// Copies of runs: they reproduce nothing, and no group is made of them.
#include "test/unit/test.h"
#include "scoreboard/store/file/store_state.h"
#include "test/unit/scoreboard/fixture_board.h"
#include "test/unit/scoreboard/fixture_trace.h"

// The same curve in the same time, but for a nanosecond in each epoch, is a copy under another name. The owner may still sign the
// original again.
TEST_WITH(test_copied_is_not_reproduced, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *copy = run_of("bob", 1);
    char digest[DIGEST_HEX];
    fixture_set(copy, "nonce", json_string(FIXTURE_GROUP));
    fixture_slow(copy, 1);
    digest_of(first, digest);
    json_t *replacement = json_deep_copy(first);
    json_object_set_new(replacement, "supersedes", json_string(digest));
    json_object_set_new(replacement, "note", json_string("a remark"));
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(copy, &bob), PROBLEM_CHECKS);
    assert_int_equal(last.findings.at[0].check, CHECK_TWIN);
    assert_int_equal(hand_in(replacement, &ada), PROBLEM_NONE);
    assert_int_equal(trust_of("2"), TRUST_CHECKED);
    assert_whole();
}

// A run that takes as long as another of its group at each point is no run of its own, nor one that went on at the same time.
TEST_WITH(test_group_of_copies, set_up, tear_down)
{
    json_t *first = group_run_of("ada", 1, 1), *copy = group_run_of("ada", 2, 2), *concurrent = group_run_of("ada", 3, 3);
    fixture_set(copy, "points", json_deep_copy(json_object_get(first, "points")));
    fixture_set(copy, "segments", json_deep_copy(json_object_get(first, "segments")));
    fixture_slow(copy, 1);
    fixture_set(concurrent, "started_ms", json_integer(FIXTURE_NOW_MS - 11 * 200000 - 125000));
    fixture_set(concurrent, "ended_ms", json_integer(FIXTURE_NOW_MS - 11 * 200000 + 5000));
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(copy, &ada), PROBLEM_CHECKS);
    assert_int_equal(last.findings.at[0].check, CHECK_TWIN);
    assert_int_equal(hand_in(concurrent, &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);
    assert_int_equal(last.findings.at[0].check, CHECK_OVERLAP);
    assert_whole();
    do_sql("DELETE FROM findings WHERE sequence = 2");
    assert_fault("statement 2: its flag overlap is missing");
}

// What a run is compared with is read before the record is locked, also of a new person; of a run that is refused, not at all.
TEST_WITH(test_others_are_read_before_the_lock, set_up, tear_down)
{
    json_t *copy = run_of("eve", 8), *wrong = group_run_of("ada", 2, 2);
    fixture_set(copy, "nonce", json_string("00000000000000000000000000000099"));
    fixture_again(copy, 50000000, 9);
    fixture_set(wrong, "batch", json_integer(7));
    close_all();
    trace_begin("SELECT payload FROM statements WHERE", NULL);
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    assert_int_equal(hand_in(run_of("ada", 8), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(group_run_of("ada", 1, 1), &ada), PROBLEM_NONE);
    trace_reset();
    assert_int_equal(hand_in(wrong, &ada), PROBLEM_CHECKS);
    assert_int_equal(traced[0], 0);
    pthread_mutex_lock(&store->mutex);
    assert_int_equal(hand_in(copy, &eve), PROBLEM_STORAGE);
    pthread_mutex_unlock(&store->mutex);
    trace_end();
    assert_int_equal(traced[0], 1);
}
