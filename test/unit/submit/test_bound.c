// SPDX-License-Identifier: Apache-2.0
// After any edit of results.db: if the statement of the run says something else afterwards, its chain is broken. Every
// column of every table is tried.

#include "submit/format/check/check.h"
#include "submit/results/record.h"

#include "test/unit/test.h"
#include "test/unit/submit/fixture_payload.h"

enum { CHAIN = 1000 };

static int64_t rich_run(void)
{
    static const struct run_part parts[] = {{100000, 3 * 1234567}, {100000, 6 * 1234567}};
    static const struct run_file files[] = {{"vocab", "vocab.txt", DIGEST_C, 231508, READING_REMEMBERED}};
    struct run_facts facts = fixture_facts(7, NULL);
    const struct group_plan plan = {"cifar10", "airbench", "default", 940000, 5, NULL};
    static const struct run_ticket ticket = {.statement = DIGEST_A,
                                             .board_key = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                             .proof = "0000000000070000000000000000000000000000000000000000000000000000"};
    facts.replay_of = DIGEST_A, facts.ticket = &ticket;  // of seed 7
    facts.parts = parts, facts.part_count = 2, facts.files = files, facts.file_count = 1, facts.price = &fixture_price;
    facts.step_least = 3, facts.step_most = 7;
    assert_int_equal(result_group_begin(r, &plan, &facts.group), 0);
    facts.group_index = 1;
    int64_t id = whole_run(facts, (const int64_t[]){5000, 9000, 9400, 9420}, 4);
    add_latency(id);
    return id;
}

static int64_t outside_run(void)
{
    struct run_facts facts = fixture_facts(8, NULL);
    struct stopwatch sw;
    facts.recipe = "outside", facts.recipe_json = "{\"command\":[\"python3\",\"a b.py\"]}", facts.device = "outside";
    facts.data_count = 0;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    assert_int_equal(result_outside(run, "python3 'a b.py'", "PyTorch 2", 4), 0);
    assert_int_equal(result_about(run, &(struct run_about){.model = "mine", .parameters = 5, .flops_per_sample = -1, .batch = 64,
                                                           .views = -1, .input_size = -1}), 0);
    add_points(run, &sw, (const int64_t[]){9000, 9400}, 2);
    assert_int_equal(result_end(run, RUN_DONE, &(struct run_end){.energy_uj = 500000000}, NULL), 0);
    stopwatch_free(&sw);
    return id;
}

static char *payload_of(int64_t id)
{
    struct statement s;
    if (payload_run(r, id, &plain, &s) < 0) return NULL;
    char *payload = strdup(s.payload);
    statement_free(&s);
    return payload;
}

static bool chain_holds(int64_t id)
{
    json_t *record;
    assert_int_equal(record_read(r, id, &record), 0);
    bool holds = record_chain(record) == 0;
    json_decref(record);
    return holds;
}

// How much the checks refuse of it, a broken chain before all; -1: there is no statement.
static int rejects_of(int64_t id)
{
    struct statement s;
    struct findings f;
    if (payload_run(r, id, &plain, &s) < 0) return -1;
    check_statement(&s, clock_unix_ms(), &f);
    statement_free(&s);
    for (int i = 0; i < f.count && i < FINDINGS_MAX; i++)
        if (f.at[i].check == CHECK_CHAIN) return CHAIN + f.rejects;
    return f.rejects;
}

static int usual;  // the fixture's run took no time, which is refused

static bool run_sql(const char *text)
{
    return sqlite3_exec(result_connection(r), text, NULL, NULL, NULL) == SQLITE_OK;
}

// Makes an edit, looks, and takes it back. Returns whether the statement changed.
static bool try_edit(int64_t id, const char *original, const char *edit)
{
    bool changed = false;
    assert_true(run_sql("BEGIN"));
    if (run_sql(edit)) {
        char *payload = payload_of(id);
        changed = payload == NULL || strcmp(payload, original) != 0;
        if (changed && chain_holds(id)) fail_msg("%s: the chain holds", edit);
        int rejects = changed ? rejects_of(id) : -1;
        if (rejects >= 0 && rejects <= usual) fail_msg("%s: it would be submitted", edit);
        free(payload);
    }
    assert_true(run_sql("ROLLBACK"));
    return changed;
}

static int try_columns(int64_t id, const char *original, const char *table)
{
    static const char *const edits[] = {
        "UPDATE %s SET %s = %s + 1", "UPDATE %s SET %s = %s - 1", "UPDATE %s SET %s = coalesce(%s, 0) + 5000000",
        "UPDATE %s SET %s = coalesce(%s, '') || 'x'",
        "UPDATE %s SET %s = substr(%s, 1, 63) || 'e'", "UPDATE %s SET %s = iif(%s = 'train', 'data', 'train')"};
    char sql[256];
    json_t *columns;
    int changed = 0;
    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')", table);
    assert_int_equal(record_rows(r, sql, 0, &columns), 0);
    assert_true(json_array_size(columns) > 1);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const char *column = record_text(json_array_get(columns, c), "name");
        for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
            snprintf(sql, sizeof sql, edits[e], table, column, column);
            changed += try_edit(id, original, sql);
        }
    }
    json_decref(columns);
    return changed;
}

TEST_WITH(edits_of_columns_are_noticed, setup, teardown)
{
    static const char *const tables[] = {"runs", "machines", "software", "data_sets", "files", "parts", "metrics", "segments",
                                         "points", "scores", "losses", "groups", "latencies", "replays", "energy",
                                         "tickets"};
    int64_t id = rich_run();
    char *original = payload_of(id);
    assert_non_null(original);
    assert_true(chain_holds(id));
    usual = rejects_of(id);
    assert_true(usual >= 0);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        if (try_columns(id, original, tables[t]) == 0) fail_msg("no edit of %s changes the statement", tables[t]);
    free(original);
}

TEST_WITH(edits_of_an_outside_run_are_noticed, setup, teardown)
{
    int64_t id = outside_run();
    char *original = payload_of(id);
    assert_non_null(original);
    assert_true(chain_holds(id));
    usual = rejects_of(id);
    assert_true(usual >= 0);
    assert_true(try_columns(id, original, "runs") > 0);
    assert_true(try_columns(id, original, "outside") > 0);
    assert_true(try_edit(id, original, "DELETE FROM outside"));
    free(original);
}

TEST_WITH(rows_that_come_and_go_are_noticed, setup, teardown)
{
    static const char *const edits[] = {
        "DELETE FROM parts WHERE number = 1", "DELETE FROM parts", "DELETE FROM replays",
        "DELETE FROM tickets", "DELETE FROM files",
        "DELETE FROM readings WHERE part = 'test'", "UPDATE readings SET remembered = 1 - remembered",
        "DELETE FROM losses WHERE number = 1", "DELETE FROM losses WHERE step = 25",
        "DELETE FROM energy", "DELETE FROM segments WHERE number > 3",
        "DELETE FROM data_sets WHERE split = 'train'", "UPDATE runs SET group_id = NULL", "UPDATE runs SET price_date = NULL",
        "INSERT INTO outside VALUES (1, 'a', 'b', 2)", "UPDATE latencies SET hash = NULL", "UPDATE runs SET chain_end = NULL",
        "UPDATE runs SET status = 'missed'", "UPDATE runs SET recipe_published = 1", "UPDATE runs SET chain_root = recipe_digest",
        "UPDATE runs SET ended_ms = NULL", "UPDATE runs SET resumed = 1",
    };
    int64_t id = rich_run();
    char *original = payload_of(id);
    usual = rejects_of(id);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (!try_edit(id, original, edits[i])) fail_msg("%s: the statement says the same", edits[i]);
    free(original);
}

// Edits that a statement does not say: the chain need not notice.
TEST_WITH(what_no_statement_says_may_change, setup, teardown)
{
    int64_t id = rich_run();
    char *original = payload_of(id);
    assert_false(try_edit(id, original, "UPDATE runs SET message = 'a word', checkpoint = 'elsewhere'"));
    assert_false(try_edit(id, original, "UPDATE machines SET cpu = cpu || ' '"));  // statements have no blanks at their ends
    free(original);
}
