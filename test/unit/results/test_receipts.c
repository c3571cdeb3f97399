// SPDX-License-Identifier: Apache-2.0
// Receipts in results.db are kept once, and runs of outside programs are marked.

#include "submit/results/receipts.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

TEST_WITH(receipts_are_kept_once, setup, leave)
{
    make_one();
    struct results *r = open_db(RESULTS_WRITE);
    struct receipt_row row = {.run = 1, .type = "run", .board = "a", .server = "http://127.0.0.1:1", .statement = DIGEST_A,
                              .sequence = 7, .accepted_ms = 5, .server_key = "SHA256:x", .receipt = "{}", .signature = "s"};
    json_t *found;
    assert_int_equal(receipts_last(r, 1, "run", "a", "SHA256:x", &found), 0);
    assert_null(found);
    assert_int_equal(receipts_add(r, &row), 0);
    assert_int_equal(receipts_add(r, &row), 0);  // cut off, and done again
    assert_int_equal(number(r, "SELECT count(*) FROM receipts"), 1);
    row.supersedes = DIGEST_A, row.statement = DIGEST_B, row.sequence = 9;
    assert_int_equal(receipts_add(r, &row), 0);
    row.type = "withdraw", row.statement = DIGEST_C, row.sequence = 11;
    assert_int_equal(receipts_add(r, &row), 0);
    row.board = "b";
    assert_int_equal(receipts_add(r, &row), 0);
    assert_int_equal(receipts_last(r, 1, "run", "a", "SHA256:x", &found), 0);
    assert_int_equal(record_int(found, "sequence"), 9);
    assert_string_equal(record_text(found, "supersedes"), DIGEST_A);
    json_decref(found);
    assert_int_equal(receipts_find(r, "a", "SHA256:x", DIGEST_C, &found), 0);
    assert_int_equal(record_int(found, "sequence"), 11);
    json_decref(found);
    assert_int_equal(receipts_find(r, "b", "SHA256:x", DIGEST_A, &found), 0);
    assert_null(found);
    row.statement = DIGEST_A, row.run = 5;  // no such run
    assert_int_equal(receipts_add(r, &row), ERR_DATABASE);
    row.run = 1, row.type = "letter";
    assert_int_equal(receipts_add(r, &row), ERR_DATABASE);
    results_close(r);
}

// Servers that were given no name are all called the same; the key distinguishes them.
TEST_WITH(a_name_alone_is_no_board, setup, leave)
{
    make_one();
    struct results *r = open_db(RESULTS_WRITE);
    struct receipt_row row = {.run = 1, .type = "run", .board = "dawn", .server = "http://127.0.0.1:1", .statement = DIGEST_A,
                              .sequence = 7, .accepted_ms = 5, .server_key = "SHA256:x", .receipt = "{}", .signature = "s"};
    json_t *found;
    assert_int_equal(receipts_other_key(r, "dawn", row.server, "SHA256:y", &found), 0);
    assert_null(found);
    assert_int_equal(receipts_add(r, &row), 0);
    assert_int_equal(receipts_last(r, 1, "run", "dawn", "SHA256:y", &found), 0);
    assert_null(found);
    assert_int_equal(receipts_find(r, "dawn", "SHA256:y", DIGEST_A, &found), 0);
    assert_null(found);
    assert_int_equal(receipts_last(r, 1, "run", "dawn", NULL, &found), 0);
    assert_int_equal(record_int(found, "sequence"), 7);
    json_decref(found);
    static const char *const places[][2] = {{"dawn", "http://127.0.0.1:2"}, {"other", "http://127.0.0.1:1"}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(receipts_other_key(r, places[i][0], places[i][1], "SHA256:y", &found), 0);
        assert_string_equal(record_text(found, "server_key"), "SHA256:x");
        json_decref(found);
    }
    assert_int_equal(receipts_other_key(r, "dawn", row.server, "SHA256:x", &found), 0);
    assert_null(found);
    row.server_key = "SHA256:y", row.sequence = 1;  // the other board takes the same statement
    assert_int_equal(receipts_add(r, &row), 0);
    assert_int_equal(receipts_last(r, 1, "run", "dawn", "SHA256:y", &found), 0);
    assert_int_equal(record_int(found, "sequence"), 1);
    json_decref(found);
    results_close(r);
}

TEST_WITH(outside_programs_are_marked, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    struct run *run;
    json_t *record;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    assert_int_equal(result_outside(run, "python3 train.py", "PyTorch 2.4", 0), ERR_USAGE);
    assert_int_equal(result_outside(run, "python3 train.py", "PyTorch 2.4", 8), 0);
    int64_t id = result_id(run);
    assert_int_equal(result_end(run, RUN_FAILED, NULL, NULL), 0);
    assert_int_equal(record_read(r, id, &record), 0);
    const json_t *outside = json_object_get(record, "outside");
    assert_string_equal(record_text(outside, "command"), "python3 train.py");
    assert_int_equal(record_int(outside, "devices"), 8);
    json_decref(record);
    results_close(r);
}

// Its data are unknown, so no rule about data applies: its group is judged by the other rules.
TEST_WITH(outside_groups_may_be_official, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    const struct group_plan plan = {.task = "cifar10", .model = "any", .recipe = "outside", .target_micro = 940000, .planned = 5};
    static const struct {
        const char *device;
        bool stop;
        enum group_verdict verdict;
    } cases[] = {{"outside", false, GROUP_MET_SURELY}, {"outside", true, GROUP_STOPPED}, {"cpu", false, GROUP_CUSTOM}};
    const struct run_data own = {.name = "own", .split = "test", .digest = DIGEST_A, .items = 10000};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t group;
        assert_int_equal(result_group_begin(r, &plan, &group), 0);
        for (int64_t i = 1; i <= 5; i++) {
            struct run_facts facts = fixture_facts(i, NULL);
            facts.group = group, facts.group_index = i, facts.stop_at_target = cases[c].stop, facts.device = cases[c].device;
            facts.data = &own, facts.data_count = strcmp(cases[c].device, "cpu") == 0;
            fixture_run(r, &facts, (const int64_t[]){9500 + i}, 1);
        }
        json_t *runs;
        struct group_facts judged;
        assert_int_equal(record_group(r, group, &runs, &judged), 0);
        assert_int_equal(judged.verdict, cases[c].verdict);
        json_decref(runs);
    }
    results_close(r);
}
