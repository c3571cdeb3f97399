// SPDX-License-Identifier: Apache-2.0
// From results.db to a statement: what is built passes every check, the same record gives the same bytes, and a record
// from a stranger is met with a sentence.
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "tasks/recipe.h"
#include "submit/format/contest.h"
#include "submit/submission.h"
#include "test/unit/fixture_result.h"

#include <cmocka.h>

static char folder[64], db[96];
static struct results *r;
static const char *const two_tags[] = {"zebra", "ant", "zebra"};
static const struct payload_words plain = {.board = "board.example", .handle = "ada"};
static const struct payload_words full = {.board = "board.example", .handle = "ada", .team = "Café Müller", .note = "a note",
                                          .code_url = "https://code.example/x", .tags = two_tags, .tag_count = 3};

static int setup(void **state)
{
    (void)state;
    fixture_folder(folder);
    snprintf(db, sizeof db, "%s/results.db", folder);
    return results_open(db, RESULTS_WRITE, &r);
}

static int teardown(void **state)
{
    (void)state;
    results_close(r);
    fixture_remove(folder);
    return 0;
}

// A run with a stopwatch, so that its segments fit its points; the published digests, so that it may count.
static struct run_data official[2];
static struct run *begin(struct run_facts *facts, struct stopwatch *sw)
{
    const struct contest *contest = contest_find("cifar10");
    memcpy(official, fixture_data, sizeof official);
    official[0].digest = contest->train_digest;
    official[1].digest = contest->test_digest;
    facts->data = facts->data_count > 0 ? official : NULL;
    facts->stopwatch = sw;
    facts->flops_per_sample = 1234567;  // what a test's ten seconds could hold
    stopwatch_start_at(sw, clock_ns() - 100 * SECOND, SEGMENT_INIT);
    struct run *run;
    if (result_begin(r, facts, &run) < 0) fail_msg("%s", error_text());
    return run;
}

static void add_points(struct run *run, struct stopwatch *sw, const int64_t *k, int count)
{
    int64_t now = sw->start_ns + 3 * SECOND;
    for (int i = 0; i < count; i++) {
        stopwatch_enter_at(sw, SEGMENT_TRAIN, now);
        now += 10 * SECOND + i;
        stopwatch_enter_at(sw, SEGMENT_EVALUATE, now);
        now += SECOND;
        const struct run_point point = {.epoch = i + 1, .clocks = stopwatch_enter_at(sw, SEGMENT_CHECKPOINT, now),
                                        .samples = 50000 * (i + 1), .k = k[i], .loss = 1.0 / (i + 1)};
        assert_int_equal(result_point(run, &point), 0);
    }
}

static int64_t whole_run(struct run_facts facts, const int64_t *k, int count)
{
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    add_points(run, &sw, k, count);
    const struct run_end end = {.weights_digest = DIGEST_C, .checkpoint = "x", .energy_uj = 5};
    assert_int_equal(result_end(run, RUN_DONE, &end, NULL), 0);
    stopwatch_free(&sw);
    return id;
}

static int64_t usual_run(int64_t seed)
{
    return whole_run(fixture_facts(seed, NULL), (const int64_t[]){5000, -1, 9400, 9420}, 4);
}

static void add_latency(int64_t run)
{
    struct latency_facts f = {.run = run, .weights_digest = DIGEST_C, .task = "cifar10", .model = "record", .precision = "f32",
                              .device = "cpu", .target_micro = 940000, .threads = 1, .items = 10000, .warmup_items = 100,
                              .model_ns = {900000, 890000, 950000, 1200000}, .whole_ns = {910000, 900000, 960000, 1300000},
                              .k = 9400, .views = 1, .data = &official[1], .machine = &fixture_machine,
                              .software = &fixture_software, .price = &fixture_price};
    int64_t id;
    assert_int_equal(result_latency(r, &f, &id), 0);
}

static struct statement built(int64_t run, const struct payload_words *words)
{
    struct statement s;
    if (payload_run(r, run, words, &s) < 0) fail_msg("%s", error_text());
    return s;
}

static void passes(const struct statement *s)
{
    struct findings f = {0};
    check_statement(s, clock_unix_ms(), &f);
    for (int i = 0; i < f.count && i < FINDINGS_MAX; i++)
        if (check_level(f.at[i].check) == CHECK_REJECT) fail_msg("%s: %s", check_code(f.at[i].check), f.at[i].text);
}

static void a_run_becomes_a_statement_that_passes(void **state)
{
    (void)state;
    int64_t id = usual_run(7);
    add_latency(id);
    struct statement s = built(id, &full);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "division"), "open");  // {"batch": 2000} is no recipe of this repository
    assert_string_equal(canonical_text(s.json, "evaluated_by"), "harness");
    assert_string_equal(canonical_text(s.json, "team"), "Café Müller");
    assert_string_equal(canonical_text(s.json, "recipe.text"), "{\"batch\":2000}");
    assert_string_equal(canonical_text(s.json, "software.framework"), "DAWN");
    assert_int_equal(canonical_int(s.json, "reached.epoch"), 3);
    assert_int_equal(canonical_int(s.json, "reached.t_ns"), 36 * SECOND + 3);
    assert_int_equal(canonical_int(s.json, "price.total_micro_usd"), 893);  // 36.000000003 s at 89250 an hour: 892.5..., upwards
    assert_int_equal(canonical_int(s.json, "hardware.devices"), 1);
    assert_int_equal(json_array_size(canonical_at(s.json, "points")), 4);
    assert_int_equal(json_array_size(canonical_at(s.json, "tags")), 2);
    assert_string_equal(json_string_value(json_array_get(canonical_at(s.json, "tags"), 0)), "ant");
    const json_t *latency = json_array_get(canonical_at(s.json, "latencies"), 0);
    assert_int_equal(canonical_int(latency, "eligible"), 1);
    assert_int_equal(canonical_int(latency, "price.total_micro_usd"), 226);  // 9.1 s
    assert_string_equal(canonical_text(latency, "hardware.cpu"), "Test CPU, \"fast\"");
    statement_free(&s);
}

static void the_same_record_gives_the_same_bytes(void **state)
{
    (void)state;
    int64_t id = usual_run(7);
    struct statement a = built(id, &full);
    results_close(r);
    usleep(3000);
    assert_int_equal(results_open(db, RESULTS_READ, &r), 0);
    struct statement b = built(id, &full);
    assert_string_equal(a.payload, b.payload);
    statement_free(&b);
    struct payload_words other = full;
    other.note = "another note";
    b = built(id, &other);
    assert_string_not_equal(a.digest, b.digest);
    statement_free(&b);
    statement_free(&a);
}

static void runs_of_all_ends_can_be_submitted(void **state)
{
    (void)state;
    int64_t missed = whole_run(fixture_facts(1, NULL), (const int64_t[]){9400, 9399}, 2);
    struct statement s = built(missed, &plain);
    passes(&s);  // reached, and yet below at the end
    assert_string_equal(canonical_text(s.json, "status"), "missed");
    statement_free(&s);

    const struct group_plan plan = {.task = "cifar10", .model = "record", .recipe = "default", .target_micro = 940000,
                                    .planned = 5};
    int64_t group;
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    struct run_facts facts = fixture_facts(2, NULL);
    facts.group = group, facts.group_index = 2, facts.stop_at_target = false, facts.price = NULL;
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t failed = result_id(run);
    assert_int_equal(result_end(run, RUN_FAILED, &(struct run_end){.message = "it broke"}, NULL), 0);
    stopwatch_free(&sw);
    s = built(failed, &plain);
    passes(&s);
    assert_int_equal(json_array_size(canonical_at(s.json, "points")), 0);
    assert_int_equal(canonical_int(s.json, "group.index"), 2);
    assert_null(canonical_at(s.json, "price"));
    assert_null(canonical_at(s.json, "reached"));
    statement_free(&s);
}

static void sql(const char *words)
{
    char *why = NULL;
    if (sqlite3_exec(result_connection(r), words, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", words, why);
}

static void a_vanished_run_ended_when_it_was_last_heard_of(void **state)
{
    (void)state;
    struct run_facts facts = fixture_facts(3, NULL);
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    add_points(run, &sw, (const int64_t[]){5000}, 1);
    struct statement s;
    assert_int_equal(payload_run(r, id, &plain, &s), ERR_USAGE);
    assert_non_null(strstr(error_text(), "not ended"));
    sql("UPDATE runs SET owner = 'gone/1/1'");
    s = built(id, &plain);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "status"), "interrupted");
    assert_int_equal(canonical_int(s.json, "ended_ms"), canonical_int(s.json, "started_ms") + 14000);
    statement_free(&s);
    assert_int_equal(result_end(run, RUN_INTERRUPTED, NULL, NULL), 0);
    stopwatch_free(&sw);
}

// A recipe counts as this repository's as it stands; its number format may be chosen, nothing else.
static void the_division_follows_from_the_recipe(void **state)
{
    (void)state;
    static const struct {
        const char *set, *division;
    } cases[] = {{NULL, "closed"}, {"precision=f32", "closed"}, {"epochs=10.625", "open"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recipe recipe;
        assert_int_equal(recipe_embedded("cifar10", &recipe), 0);
        if (cases[i].set != NULL) assert_int_equal(recipe_set(&recipe, cases[i].set), 0);
        struct run_facts facts = fixture_facts(40 + (int64_t)i, NULL);
        char *json = recipe_json(&recipe);
        facts.recipe = "cifar10", facts.recipe_json = json;
        struct stopwatch sw;
        struct run *run = begin(&facts, &sw);
        int64_t id = result_id(run);
        add_points(run, &sw, (const int64_t[]){9500}, 1);
        assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
        stopwatch_free(&sw);
        free(json);
        struct statement s = built(id, &plain);
        assert_string_equal(canonical_text(s.json, "division"), cases[i].division);
        statement_free(&s);
    }
}

static void an_outside_program_is_marked(void **state)
{
    (void)state;
    struct run_facts facts = fixture_facts(4, NULL);
    facts.data_count = 0;
    facts.recipe = "outside", facts.recipe_json = "{\"command\": [\"python3\", \"a b.py\"]}", facts.device = "outside";
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    assert_int_equal(result_outside(run, "python3 'a b.py'", "PyTorch 2.4", 8), 0);
    add_points(run, &sw, (const int64_t[]){9500}, 1);
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    stopwatch_free(&sw);
    struct statement s = built(id, &plain);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "division"), "open");
    assert_string_equal(canonical_text(s.json, "evaluated_by"), "self");
    assert_string_equal(canonical_text(s.json, "software.framework"), "PyTorch 2.4");
    assert_string_equal(canonical_text(s.json, "recipe.text"), "{\"command\":[\"python3\",\"a b.py\"]}");
    assert_int_equal(canonical_int(s.json, "hardware.devices"), 8);
    assert_int_equal(canonical_int(s.json, "official"), 0);
    statement_free(&s);
}

// A kill between the run's transaction and that of its program leaves the device alone, and that is enough.
static void an_outside_run_without_its_program_is_still_self_evaluated(void **state)
{
    (void)state;
    struct run_facts facts = fixture_facts(4, NULL);
    facts.data_count = 0, facts.recipe = "outside", facts.device = "outside";
    int64_t id = whole_run(facts, (const int64_t[]){9500}, 1);
    struct statement s = built(id, &plain);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "division"), "open");
    assert_string_equal(canonical_text(s.json, "evaluated_by"), "self");
    assert_string_equal(canonical_text(s.json, "software.framework"), "unknown");
    assert_int_equal(canonical_int(s.json, "hardware.devices"), 1);
    statement_free(&s);
}

// What could never be a statement is not read either: a few long texts, each told of many times, would fill all memory.
static void what_is_too_much_is_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *deed, *sentence;
    } cases[] = {
        {"UPDATE machines SET cpu = printf('%.*c', 8000000, 'x')", "characters about a machine; a statement holds at most 16384"},
        {"INSERT INTO data_sets SELECT n.run, name || n.epoch, split, digest, items, official, synthetic FROM data_sets, points AS n"
         " WHERE n.run = data_sets.run", "10 data sets; a statement holds at most 8"},
    };
    int64_t id = usual_run(7);
    for (int i = 0; i < 32; i++) add_latency(id);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct statement s = {0};
        sql("SAVEPOINT before");
        sql(cases[i].deed);
        assert_int_equal(payload_run(r, id, &plain, &s), ERR_INPUT);
        if (strstr(error_text(), cases[i].sentence) == NULL) fail_msg("%s", error_text());
        sql("ROLLBACK TO before; RELEASE before");
    }
    struct statement s = built(id, &plain);
    statement_free(&s);
    add_latency(id);
    assert_int_equal(payload_run(r, id, &plain, &s), ERR_INPUT);
    assert_non_null(strstr(error_text(), "33 latencies; a statement holds at most 32"));
}

// Each is done to a good record by somebody who means no good; none may be built, each must be told.
static void hostile_records_are_met_with_sentences(void **state)
{
    (void)state;
    static const char *const deeds[] = {
        "UPDATE runs SET model = 'a' || char(8238) || 'b'",                       // a bidi override
        "UPDATE runs SET model = printf('%.*c', 100000, 'x')",
        "UPDATE runs SET recipe = 'a' || char(10) || 'b'",
        "UPDATE runs SET model = CAST(x'ff41' AS TEXT)",                          // not UTF-8
        "UPDATE runs SET recipe_json = 'no JSON'",
        "UPDATE runs SET recipe_json = printf('\"%.*c\"', 9000000, 'x')",
        "UPDATE runs SET recipe_json = printf('%.*c', 100000, '[')",
        "UPDATE runs SET recipe_json = '\"' || char(8238) || '\"'",
        "UPDATE software SET flags = '-O2 ' || char(8238) || '[2J-odd'",
        "UPDATE runs SET recipe_json = '{\"a\": \"' || char(92) || 'u0000\"}'",
        "UPDATE runs SET status = 'done' || char(0) || 'x'",                      // a NUL, behind which more would hide
        "UPDATE runs SET nonce = 'short'",
        "UPDATE runs SET seed = 9223372036854775807",
        "UPDATE runs SET batch = -1",
        "UPDATE runs SET reached_ns = -9223372036854775807",
        "UPDATE runs SET ended_ms = NULL, started_ms = 9223372036854775807",
        "UPDATE runs SET price_micro_per_hour = 9223372036854775807, reached_ns = 9223372036854775807",
        "UPDATE runs SET price_date = '2026-02-30'",
        "UPDATE runs SET chain_root = upper(chain_root) || 'g'",
        "UPDATE machines SET cpu = char(8203) || 'x'",
        "DELETE FROM machines",
        "DELETE FROM software",
        "UPDATE runs SET group_id = 99, group_index = 1",
        "UPDATE points SET hash = ''",
        "UPDATE points SET t_ns = -5",
        "UPDATE segments SET segment = 'coffee'",
        "UPDATE data_sets SET split = 'both' WHERE split = 'test'",
        "UPDATE latencies SET machine = 99",
        "UPDATE latencies SET whole_mean_ns = -1",
        "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 4100)"
        " INSERT INTO points SELECT 1, i, i, 0, 0, 0, 0, 0, 0, 'x' FROM n",
    };
    int64_t id = usual_run(7);
    add_latency(id);
    sql("PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1");
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        struct statement s = {0};
        sql("SAVEPOINT before");
        sql(deeds[i]);
        int rc = payload_run(r, id, &plain, &s);
        if (rc >= 0) fail_msg("a statement was built after: %s", deeds[i]);
        if (rc == ERR_DATABASE && strstr(error_text(), "holds text") == NULL) fail_msg("%s: %s", deeds[i], error_text());
        assert_true(strlen(error_text()) > 10);
        assert_null(s.json);
        sql("ROLLBACK TO before; RELEASE before");
    }
    struct statement s = built(id, &plain);  // and the record itself is still good
    statement_free(&s);
}

static void words_are_checked_before_they_are_signed(void **state)
{
    (void)state;
    static const char *const bad_tag[] = {"a\u200bb"}, *const nine[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    static char long_note[502];
    memset(long_note, 'x', sizeof long_note - 1);
    static const struct payload_words bad[] = {
        {.board = "b", .handle = "ada", .team = "a\u202eb"},
        {.board = "b", .handle = "ada", .note = " padded"},
        {.board = "b", .handle = "ada", .note = "\xff"},
        {.board = "b", .handle = "ada", .code_url = "http://code.example"},
        {.board = "b", .handle = "ada", .code_url = "javascript:alert(1)"},
        {.board = "b", .handle = "ada", .code_url = "https://x y"},
        {.board = "b", .handle = "ada", .note = long_note},
        {.board = "b", .handle = "ada", .tags = bad_tag, .tag_count = 1},
        {.board = "b", .handle = "ada", .tags = nine, .tag_count = 9},
        {.board = "b", .handle = "ad a"},
        {.board = "b", .handle = ""},
        {.board = "", .handle = "ada"},
        {.board = "a/b", .handle = "ada"},
    };
    static const struct payload_words replaces = {.board = "b", .handle = "ada", .supersedes = "x"};
    int64_t id = usual_run(7);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct statement s = {0};
        if (payload_run(r, id, &bad[i], &s) != ERR_USAGE) fail_msg("case %zu was built, or is no wrong usage", i);
    }
    struct statement s = {0};
    assert_true(payload_run(r, id, &replaces, &s) < 0);
}

static void recipes_are_put_on_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"{\n  \"a\": 0.1,\n\t\"b c\": [ 1e-08 , \"x  y\" ]\r\n}\n", "{\"a\":0.1,\"b c\":[1e-08,\"x  y\"]}"},
        {"\"\\\" \\\\\"", "\"\\\" \\\\\""},
        {"[]", "[]"},
        {"{\"a\" 1}", NULL},
        {"", NULL},
        {"\"\n\"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *line = NULL;
        int rc = payload_one_line(cases[i].in, 1000, &line);
        assert_int_equal(rc, cases[i].out != NULL ? 0 : ERR_INPUT);
        if (cases[i].out != NULL) assert_string_equal(line, cases[i].out);
        free(line);
    }
}

static void pretend_receipt(const struct statement *s, int64_t run, const char *supersedes, int64_t sequence)
{
    assert_int_equal(receipts_add(r, &(struct receipt_row){.run = run, .type = "run", .board = plain.board, .server = "https://x",
                                                           .statement = s->digest, .supersedes = supersedes,
                                                           .sequence = sequence, .accepted_ms = clock_unix_ms() - 60000,
                                                           .server_key = "SHA256:k", .receipt = "{}", .signature = "s"}),
                     0);
}

static struct submissions choose(const struct submission_choice *choice, const char *note)
{
    struct submissions all;
    struct text notes = {0};
    if (submissions_build(r, choice, &plain, clock_unix_ms(), &all, &notes) < 0) fail_msg("%s", error_text());
    if (note == NULL ? notes.at != NULL : notes.at == NULL || strstr(notes.at, note) == NULL) fail_msg("notes: %s", notes.at);
    text_free(&notes);
    return all;
}

// Runs that never rank stay here unless they are named; in a group they are what they are.
static void single_runs_without_an_end_are_left_out(void **state)
{
    (void)state;
    const struct group_plan plan = {.task = "cifar10", .model = "record", .recipe = "default", .target_micro = 940000,
                                    .planned = 1};
    const struct submission_choice by_default = {0}, by_number = {.runs = (const int64_t[]){1}, .run_count = 1};
    static const enum run_status ends[] = {RUN_FAILED, RUN_INTERRUPTED, RUN_FAILED};
    int64_t group, ids[3];
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    for (int i = 0; i < 3; i++) {
        struct run_facts facts = fixture_facts(i + 1, NULL);
        struct stopwatch sw;
        if (i == 2) facts.group = group, facts.group_index = 1, facts.stop_at_target = false;
        struct run *run = begin(&facts, &sw);
        ids[i] = result_id(run);
        assert_int_equal(result_end(run, ends[i], &(struct run_end){.message = "it broke"}, NULL), 0);
        stopwatch_free(&sw);
    }
    assert_int_equal(ids[0], 1);
    assert_int_equal(result_group_end(r, group), 0);
    struct submissions all = choose(&by_default, "run 1 failed and is left out; --run 1 submits it all the same\nrun 2 was");
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at[0].run, ids[2]);
    submissions_free(&all);
    all = choose(&by_number, NULL);
    assert_int_equal(all.count, 1);
    submissions_free(&all);
}

// The whole life of an entry: new, known, measured again (and cut off before the receipt was kept), known again.
static void what_is_new_follows_from_the_receipts(void **state)
{
    (void)state;
    const struct submission_choice by_default = {0}, by_number = {.runs = (const int64_t[]){1}, .run_count = 1};
    usual_run(1);
    usual_run(2);
    struct submissions all = choose(&by_default, NULL);
    assert_int_equal(all.count, 2);
    assert_string_equal(canonical_text(all.at[0].statement.json, "supersedes"), "");
    char first[DIGEST_HEX];
    memcpy(first, all.at[0].statement.digest, sizeof first);
    pretend_receipt(&all.at[0].statement, 1, NULL, 12);
    submissions_free(&all);

    all = choose(&by_default, NULL);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at[0].run, 2);
    submissions_free(&all);
    all = choose(&by_number, NULL);
    assert_true(all.at[0].nothing_new);
    submissions_free(&all);

    add_latency(1);
    all = choose(&by_default, "--run 1 submits them");
    submissions_free(&all);
    all = choose(&by_number, NULL);
    assert_false(all.at[0].nothing_new);
    assert_string_equal(canonical_text(all.at[0].statement.json, "supersedes"), first);
    struct submissions again = choose(&by_number, NULL);
    assert_string_equal(all.at[0].statement.digest, again.at[0].statement.digest);
    submissions_free(&again);
    pretend_receipt(&all.at[0].statement, 1, first, 15);
    submissions_free(&all);
    all = choose(&by_number, NULL);
    assert_true(all.at[0].nothing_new);
    assert_int_equal(record_int(all.at[0].last, "sequence"), 15);
    submissions_free(&all);
}

static void groups_go_whole(void **state)
{
    (void)state;
    const struct group_plan plan = {.task = "cifar10", .model = "record", .recipe = "default", .target_micro = 940000,
                                    .planned = 2};
    int64_t group;
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    struct run_facts facts = fixture_facts(5, NULL);
    facts.group = group, facts.stop_at_target = false;
    for (facts.group_index = 1; facts.group_index <= 2; facts.group_index++) {
        whole_run(facts, (const int64_t[]){9500}, 1);
        struct submissions all = choose(&(struct submission_choice){0}, "group 1 is still running");
        assert_int_equal(all.count, 0);
        submissions_free(&all);
    }
    assert_int_equal(result_group_end(r, group), 0);
    struct submissions all = choose(&(struct submission_choice){.group = group}, NULL);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.at[0].findings.rejects, 0);
    assert_int_equal(all.at[1].findings.rejects, 1);  // the same seed once more
    assert_int_equal(all.at[1].findings.at[all.at[1].findings.count - 1].check, CHECK_SEED);
    submissions_free(&all);
    struct text notes = {0};
    const struct submission_choice nothing = {.group = 9};
    assert_int_equal(submissions_build(r, &nothing, &plain, 0, &all, &notes), ERR_USAGE);
}

// What people are shown before they agree holds every text that would be published, and cannot steer a terminal.
static void every_text_is_shown(void **state)
{
    (void)state;
    sql("PRAGMA foreign_keys = 0");
    int64_t id = usual_run(7);
    sql("UPDATE software SET flags = '-O2 ' || '[2J-odd' || printf('%.*c', 300, 'y')");
    add_latency(id);
    sql("UPDATE latencies SET device = 'odd-device', precision = 'odd-format'; UPDATE runs SET metric = 'odd-metric'");
    struct submissions all;
    struct text notes = {0}, shown = {0};
    const struct submission_choice one = {.runs = &id, .run_count = 1};
    assert_int_equal(submissions_build(r, &one, &full, clock_unix_ms(), &all, &notes), 0);
    submission_texts(&all, &shown);
    static const char *const words[] = {"Café Müller", "a note", "https://code.example/x", "zebra", "ant", "Test CPU, \"fast\"",
                                        "{\"batch\":2000}", "oneDNN 2.6.3", "Debian", "a list", "c7i.large", "[2J-odd", "odd-device",
                                        "odd-format", "odd-metric", NULL};
    for (int i = 0; words[i] != NULL; i++)
        if (strstr(shown.at, words[i]) == NULL) fail_msg("%s is not shown in:\n%s", words[i], shown.at);
    for (const char *line = shown.at; *line != 0; line = strchr(line, '\n') + 1) assert_true(strcspn(line, "\n") <= 82);
    text_free(&shown);
    submission_describe(&all.at[0], &shown);
    assert_non_null(strstr(shown.at, "94.20% (9,420 of 10,000)"));
    text_free(&shown);
    submissions_free(&all);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_run_becomes_a_statement_that_passes),
        TEST(the_same_record_gives_the_same_bytes),
        TEST(runs_of_all_ends_can_be_submitted),
        TEST(a_vanished_run_ended_when_it_was_last_heard_of),
        TEST(the_division_follows_from_the_recipe),
        TEST(an_outside_program_is_marked),
        TEST(an_outside_run_without_its_program_is_still_self_evaluated),
        TEST(what_is_too_much_is_not_read),
        TEST(hostile_records_are_met_with_sentences),
        TEST(words_are_checked_before_they_are_signed),
        TEST(recipes_are_put_on_one_line),
        TEST(what_is_new_follows_from_the_receipts),
        TEST(single_runs_without_an_end_are_left_out),
        TEST(groups_go_whole),
        TEST(every_text_is_shown),
    };
    return cmocka_run_group_tests_name("payload", tests, NULL, NULL);
}
