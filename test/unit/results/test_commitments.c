// SPDX-License-Identifier: Apache-2.0
// Commitments in results.db: all of one or nothing, kept before they are sent, removed only while no board has them.
#include "submit/results/commitments.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static struct commitment row_of(int64_t run, const char *competition)
{
    return (struct commitment){.run = run, .competition = competition, .name = "winter", .board = "a", .server_key = "SHA256:x",
                               .handle = "ada", .statement = run == 1 ? DIGEST_A : DIGEST_B, .payload = "{}", .made_ms = 5};
}

static struct results *with_runs(int count)
{
    struct results *r = open_db(RESULTS_WRITE);
    for (int i = 1; i <= count; i++) {
        struct run_facts facts = fixture_facts(i, NULL);
        fixture_run(r, &facts, (const int64_t[]){9500}, 1);
    }
    return r;
}

TEST_WITH(commitments_are_whole, setup, leave)
{
    struct results *r = with_runs(2);
    struct commitment rows[] = {row_of(1, DIGEST_C), row_of(9, DIGEST_C)};  // there is no run 9
    json_t *found;
    assert_int_equal(commitments_add(r, rows, 2), ERR_DATABASE);
    assert_int_equal(commitments_read(r, DIGEST_C, &found), 0);
    assert_int_equal(json_array_size(found), 0);
    json_decref(found);
    rows[1] = row_of(2, DIGEST_C);
    assert_int_equal(commitments_add(r, rows, 2), 0);
    assert_int_equal(commitments_add(r, rows, 1), ERR_DATABASE);  // once per run and competition
    assert_int_equal(commitments_read(r, DIGEST_C, &found), 0);
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(record_text(json_array_get(found, 1), "statement"), DIGEST_B);
    assert_false(record_has(json_array_get(found, 0), "sequence"));
    json_decref(found);
    assert_int_equal(commitments_read(r, DIGEST_A, &found), 0);
    assert_int_equal(json_array_size(found), 0);
    json_decref(found);
    assert_int_equal(commitments_of_run(r, 2, "SHA256:x", &found), 0);
    assert_string_equal(record_text(found, "name"), "winter");
    json_decref(found);
    assert_int_equal(commitments_of_run(r, 2, "SHA256:y", &found), 0);
    assert_null(found);
    results_close(r);
}

TEST_WITH(what_a_board_has_stays, setup, leave)
{
    struct results *r = with_runs(2);
    const struct commitment one = row_of(1, DIGEST_C), other = row_of(1, DIGEST_A);
    json_t *found;
    assert_int_equal(commitments_add(r, &one, 1), 0);
    assert_int_equal(commitments_add(r, &other, 1), 0);
    assert_int_equal(commitments_accept(r, DIGEST_C, 7, "{}", "s"), 0);
    assert_int_equal(commitments_drop(r, DIGEST_C), 0);
    assert_int_equal(commitments_drop(r, DIGEST_A), 0);
    assert_int_equal(commitments_read(r, DIGEST_A, &found), 0);
    assert_int_equal(json_array_size(found), 0);
    json_decref(found);
    assert_int_equal(commitments_read(r, DIGEST_C, &found), 0);
    assert_int_equal(record_int(json_array_get(found, 0), "sequence"), 7);
    assert_string_equal(record_text(json_array_get(found, 0), "signature"), "s");
    json_decref(found);
    results_close(r);
}
