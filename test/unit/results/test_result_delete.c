// SPDX-License-Identifier: Apache-2.0
// Deleting runs and groups: what goes on is kept, and numbers are never given again.
#include "submit/results/result_inside.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static int64_t group_with_a_run(struct results *r, int64_t seed)
{
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
                                    .planned = 2};
    struct run_facts facts = fixture_facts(seed, NULL);
    facts.group_index = 1;
    facts.stop_at_target = false;
    assert_int_equal(result_group_begin(r, &plan, &facts.group), 0);
    fixture_run(r, &facts, (const int64_t[]){9300, 9400}, 2);
    return facts.group;
}

// Between two of its runs a group has none that is running.
TEST_WITH(a_group_that_goes_on_is_not_deleted, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    int64_t group = group_with_a_run(r, 1);
    assert_fails(result_delete(r, true, group), ERR_USAGE, "group g1 is still running");
    assert_int_equal(number(r, "SELECT count(*) FROM runs"), 1);
    assert_int_equal(result_group_end(r, group), 0);
    assert_int_equal(result_delete(r, true, group), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM runs"), 0);
    results_close(r);
}

TEST_WITH(the_number_of_a_deleted_group_stays_taken, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    for (int64_t i = 1; i <= 3; i++) {
        int64_t group = group_with_a_run(r, i);
        assert_int_equal(group, i);
        assert_int_equal(result_group_end(r, group), 0);
        assert_int_equal(result_delete(r, true, group), 0);
    }
    assert_int_equal(number(r, "SELECT count(*) FROM deletions WHERE run = group_id"), 3);
    struct run_facts facts = fixture_facts(9, NULL);
    int64_t single = fixture_run(r, &facts, (const int64_t[]){9400}, 1);
    assert_int_equal(result_delete(r, false, single), 0);
    assert_int_equal(number(r, "SELECT group_id IS NULL FROM deletions WHERE run = 4"), 1);
    assert_int_equal(group_with_a_run(r, 10), 4);
    results_close(r);
}

// Another program starts the run again as soon as its row was read.
static struct results *resuming;
static bool resumed;
static int resume_elsewhere(unsigned kind, void *context, void *statement, void *ns)
{
    (void)kind, (void)context, (void)ns;
    if (resuming == NULL || strstr(sqlite3_sql(statement), "FROM runs WHERE id") == NULL) return 0;
    sqlite3_busy_timeout(resuming->db, 0);
    resumed = resumed || sqlite3_exec(resuming->db, "UPDATE runs SET status = 'running', ended_ms = NULL", NULL, NULL, NULL) == 0;
    return 0;
}

TEST_WITH(a_run_that_starts_again_is_not_deleted, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(9, NULL);
    int64_t run = fixture_run(r, &facts, (const int64_t[]){9400}, 1);
    resuming = open_db(RESULTS_WRITE);
    sqlite3_trace_v2(r->db, SQLITE_TRACE_PROFILE, resume_elsewhere, NULL);
    int deleted = result_delete(r, false, run);
    assert_true(resumed ? deleted == ERR_USAGE : deleted == 0);
    results_close(resuming);
    resuming = NULL;
    results_close(r);
}
