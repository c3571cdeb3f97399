// SPDX-License-Identifier: Apache-2.0
// Copies of runs: they reproduce nothing, and no group is made of them.
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

// The same curve in the same time, but for a nanosecond in each epoch, is a copy under another name. The owner may still sign the
// original anew.
TEST_WITH(test_copied_is_not_reproduced, set_up, tear_down)
{
    json_t *first = run_of("ada", 1), *copy = run_of("bob", 1);
    char digest[DIGEST_HEX];
    fixture_set(copy, "nonce", json_string(FIXTURE_GROUP));
    fixture_slow(copy, 1);
    digest_of(first, digest);
    json_t *anew = json_deep_copy(first);
    json_object_set_new(anew, "supersedes", json_string(digest));
    json_object_set_new(anew, "note", json_string("a remark"));
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(copy, &bob), PROBLEM_CHECKS);
    assert_int_equal(last.findings.at[0].check, CHECK_TWIN);
    assert_int_equal(hand_in(anew, &ada), PROBLEM_NONE);
    assert_int_equal(trust_of("2"), TRUST_CHECKED);
    assert_whole();
}

// A run that takes as long as another of its group at each point is no run of its own, nor one that went on at the same time.
TEST_WITH(test_group_of_copies, set_up, tear_down)
{
    json_t *first = group_run_of("ada", 1, 1), *copy = group_run_of("ada", 2, 2), *beside = group_run_of("ada", 3, 3);
    fixture_set(copy, "points", json_deep_copy(json_object_get(first, "points")));
    fixture_set(copy, "segments", json_deep_copy(json_object_get(first, "segments")));
    fixture_slow(copy, 1);
    fixture_set(beside, "started_ms", json_integer(FIXTURE_NOW_MS - 11 * 200000 - 125000));
    fixture_set(beside, "ended_ms", json_integer(FIXTURE_NOW_MS - 11 * 200000 + 5000));
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(copy, &ada), PROBLEM_CHECKS);
    assert_int_equal(last.findings.at[0].check, CHECK_TWIN);
    assert_int_equal(hand_in(beside, &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);
    assert_int_equal(last.findings.at[0].check, CHECK_OVERLAP);
    assert_whole();
    do_sql("DELETE FROM findings WHERE sequence = 2");
    assert_fault("statement 2: its flag overlap is missing");
}
