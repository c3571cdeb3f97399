// SPDX-License-Identifier: Apache-2.0
// From results.db to a statement: it passes every check, the same record gives the same bytes, and a record
// from a stranger is met with a sentence.

#include "submit/format/check/check.h"
#include "submit/results/record.h"

#include "test/unit/test.h"
#include "test/unit/submit/fixture_payload.h"

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
        // The fixture's stopwatch is made up, so that its dates cannot agree with it.
        if (check_level(f.at[i].check) == CHECK_REJECT && f.at[i].check != CHECK_CLIENT_TIME)
            fail_msg("%s: %s", check_code(f.at[i].check), f.at[i].text);
}

TEST_WITH(a_run_becomes_a_statement_that_passes, setup, teardown)
{
    int64_t id = usual_run(7);
    add_latency(id);
    struct statement s = built(id, &full);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "division"), "open");  // its recipe is none of this repository
    assert_string_equal(canonical_text(s.json, "evaluated_by"), "harness");
    assert_string_equal(canonical_text(s.json, "team"), "Café Müller");
    assert_string_equal(canonical_text(s.json, "recipe.text"), FIXTURE_RECIPE);
    assert_string_equal(canonical_text(s.json, "software.framework"), "DAWN");
    assert_int_equal(canonical_int(s.json, "reached.step"), 75);
    assert_int_equal(canonical_int(s.json, "version"), 1);
    assert_int_equal(canonical_int(s.json, "reached.t_ns"), 36 * SECOND + 3);
    assert_int_equal(canonical_int(s.json, "price.total_micro_usd"), 3401);  // 36.000000003 s at 340000 per hour, upwards
    assert_int_equal(canonical_int(s.json, "hardware.devices"), 1);
    assert_int_equal(json_array_size(canonical_at(s.json, "points")), 4);
    assert_int_equal(json_array_size(canonical_at(s.json, "tags")), 2);
    assert_string_equal(json_string_value(json_array_get(canonical_at(s.json, "tags"), 0)), "ant");
    const json_t *latency = json_array_get(canonical_at(s.json, "latencies"), 0);
    assert_int_equal(canonical_int(latency, "eligible"), 1);
    assert_int_equal(canonical_int(latency, "price.total_micro_usd"), 860);  // 9.1 s
    assert_string_equal(canonical_text(latency, "hardware.cpu"), "Test CPU, \"fast\"");
    statement_free(&s);
}

// Files that a run took besides its data are in its statement and in its chain. No recipe of this repository names them.
TEST_WITH(files_are_told, setup, teardown)
{
    static const struct run_file files[] = {{"vocab", "vocab.txt", DIGEST_C, 231508, READING_NOW},
                                            {"weights", "a.safetensors", DIGEST_B, 7, READING_NOW}};
    for (int count = 0; count < 3; count++) {
        struct run_facts facts = fixture_facts(7, NULL);
        facts.published = true, facts.files = files, facts.file_count = count;
        int64_t id = whole_run(facts, (const int64_t[]){9000, 9400}, 2);
        struct statement s = built(id, &plain);
        if (count) passes(&s);  // the made-up model is none of a published recipe
        assert_string_equal(canonical_text(s.json, "division"), count ? "open" : "closed");
        assert_int_equal(json_array_size(canonical_at(s.json, "files")), count);
        const json_t *last = json_array_get(canonical_at(s.json, "files"), count ? (size_t)count - 1 : 0);
        if (count) assert_string_equal(canonical_text(last, "name"), files[count - 1].name);
        statement_free(&s);
        json_t *record;
        assert_int_equal(record_read(r, id, &record), 0);
        assert_int_equal(record_chain(record), 0);
        json_decref(record);
    }
    sql("UPDATE files SET digest = '" DIGEST_A "' WHERE kind = 'weights'");
    json_t *record;
    assert_int_equal(record_read(r, 3, &record), 0);
    assert_true(record_chain(record) < 0);
    json_decref(record);
}

// How pictures were packed, and how many were damaged. Of other data nothing is said.
TEST_WITH(pictures_are_told, setup, teardown)
{
    struct run_data data[2] = {fixture_data[0], fixture_data[1]};
    struct run_facts facts = fixture_facts(7, NULL);
    struct run *run;
    data[0].pictures = data[1].pictures = true, data[0].short_side = 160, data[0].quality = 95;
    facts.data = data;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run), damaged[2] = {3, 0};
    struct run_point point = fixture_point(1, 9400);
    assert_int_equal(result_point(run, &point), 0);
    assert_int_equal(result_end(run, RUN_DONE, &(struct run_end){.damaged = damaged}, NULL), 0);
    struct statement s = built(id, &plain);
    const json_t *data_sets = canonical_at(s.json, "data");
    const json_t *test = json_array_get(data_sets, 0), *train = json_array_get(data_sets, 1);
    assert_true(canonical_int(train, "short_side") == 160 && canonical_int(train, "quality") == 95);
    assert_true(canonical_at(test, "short_side") && canonical_int(test, "short_side") == 0);
    assert_true(canonical_int(s.json, "damaged.train") == 3 && canonical_at(s.json, "damaged.test") != NULL);
    statement_free(&s);
    s = built(usual_run(8), &plain);
    assert_null(canonical_at(s.json, "damaged"));
    assert_null(canonical_at(json_array_get(canonical_at(s.json, "data"), 0), "short_side"));
    statement_free(&s);
    json_t *record;  // the chain binds both
    static const char *const edits[] = {"UPDATE pictures SET damaged = 1 WHERE split = 'train'",
                                        "UPDATE pictures SET damaged = 3, short_side = 0 WHERE split = 'train'"};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        assert_int_equal(record_read(r, id, &record), 0);
        if (i == 0) assert_int_equal(record_chain(record), 0);
        json_decref(record);
        sql(edits[i]);
        assert_int_equal(record_read(r, id, &record), 0);
        assert_true(record_chain(record) < 0);
        json_decref(record);
    }
}

TEST_WITH(the_same_record_gives_the_same_bytes, setup, teardown)
{
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

TEST_WITH(runs_of_all_ends_can_be_submitted, setup, teardown)
{
    int64_t missed = whole_run(fixture_facts(1, NULL), (const int64_t[]){9400, 9399}, 2);
    struct statement s = built(missed, &plain);
    passes(&s);  // reached, and yet below at the end
    assert_string_equal(canonical_text(s.json, "status"), "missed");
    statement_free(&s);

    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
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

TEST_WITH(a_vanished_run_ended_when_it_was_last_heard_of, setup, teardown)
{
    struct run_facts facts = fixture_facts(3, NULL);
    struct stopwatch sw;
    struct run *run = begin(&facts, &sw);
    int64_t id = result_id(run);
    add_points(run, &sw, (const int64_t[]){5000}, 1);
    struct statement s;
    assert_fails(payload_run(r, id, &plain, &s), ERR_USAGE, "not ended");
    sql("UPDATE runs SET owner = 'gone/1/1'");
    s = built(id, &plain);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "status"), "interrupted");
    assert_int_equal(canonical_int(s.json, "ended_ms"), canonical_int(s.json, "started_ms") + 14000);
    statement_free(&s);
    assert_int_equal(result_end(run, RUN_INTERRUPTED, NULL, NULL), 0);
    stopwatch_free(&sw);
}

// The record says if the recipe is one of this repository as it stands. Files are not named in recipes.
TEST_WITH(the_division_follows_from_the_record, setup, teardown)
{
    static const struct run_file file = {"weights", "a.safetensors", DIGEST_B, 7, READING_NOW};
    struct payload_words open = plain;
    open.open = true;
    for (int i = 0; i < 8; i++) {
        struct run_facts facts = fixture_facts(40 + i, NULL);
        facts.published = i & 1, facts.files = i & 2 ? &file : NULL, facts.file_count = i & 2 ? 1 : 0;
        struct statement s = built(whole_run(facts, (const int64_t[]){9500}, 1), i & 4 ? &open : &plain);
        assert_string_equal(canonical_text(s.json, "division"), i == 1 ? "closed" : "open");
        assert_int_equal(canonical_int(s.json, "recipe.published"), i & 1);
        statement_free(&s);
    }
}

// A record that holds the recipe on one line: the statement alone is enough to check the digest of its text.
TEST_WITH(the_digest_is_that_of_the_published_text, setup, teardown)
{
    static const char line[] = "{\"about\":\"a \\\"b\\\" \\\\ c\",\"data\":{\"batch\":2000},\"schedule\":{\"epochs\":10}}";
    char digest[DIGEST_HEX];
    struct run_facts facts = fixture_facts(70, NULL);
    facts.recipe_json = line;
    struct statement s = built(whole_run(facts, (const int64_t[]){9500}, 1), &plain);
    passes(&s);
    assert_string_equal(canonical_text(s.json, "recipe.text"), line);
    digest_bytes(line, strlen(line), digest);
    assert_string_equal(canonical_text(s.json, "recipe.digest"), digest);
    statement_free(&s);
}

// Such a statement can be built. The checks before it is signed refuse it.
TEST_WITH(a_recipe_that_is_no_json_is_refused, setup, teardown)
{
    static const char *const texts[] = {"no JSON", "[[[[", "{\"a\": \"\\u0000\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct findings f;
        struct run_facts facts = fixture_facts(80, NULL);
        facts.recipe_json = texts[i];
        struct statement s = built(whole_run(facts, (const int64_t[]){9500}, 1), &plain);
        check_statement(&s, clock_unix_ms(), &f);
        bool found = false;
        for (int n = 0; n < f.count && n < FINDINGS_MAX; n++) found = found || f.at[n].check == CHECK_RECIPE;
        assert_true(found);
        statement_free(&s);
    }
}

TEST_WITH(an_outside_program_is_marked, setup, teardown)
{
    struct run_facts facts = fixture_facts(4, NULL);
    facts.data_count = 0;
    facts.recipe = "outside", facts.recipe_json = "{\"command\":[\"python3\",\"a b.py\"]}", facts.device = "outside";
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

// A kill between the transactions of the run and of its program leaves the device alone, and that is enough.
TEST_WITH(an_outside_run_without_its_program_is_still_self_evaluated, setup, teardown)
{
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

// Text that could never be in a statement is not read: a few long texts, each referred to many times, would fill all memory.
TEST_WITH(what_is_too_much_is_not_read, setup, teardown)
{
    static const struct {
        const char *deed, *sentence;
    } cases[] = {
        {"UPDATE machines SET cpu = printf('%.*c', 8000000, 'x')", "characters about a machine; a statement holds at most 16384"},
        {"INSERT INTO data_sets SELECT n.run, name || n.step, split, digest, items, official, synthetic"
         " FROM data_sets, points AS n"
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
    assert_fails(payload_run(r, id, &plain, &s), ERR_INPUT, "33 latencies; a statement holds at most 32");
}

// Each is an attack on a good record. No statement may be built, and each must be reported.
TEST_WITH(hostile_records_are_met_with_sentences, setup, teardown)
{
    static const char *const deeds[] = {
        "UPDATE runs SET model = 'a' || char(8238) || 'b'",                       // a bidi override
        "UPDATE runs SET model = printf('%.*c', 100000, 'x')",
        "UPDATE runs SET recipe = 'a' || char(10) || 'b'",
        "UPDATE runs SET model = CAST(x'ff41' AS TEXT)",                          // not UTF-8
        "UPDATE runs SET recipe_json = printf('\"%.*c\"', 9000000, 'x')",
        "UPDATE runs SET recipe_json = printf('%.*c', 100000, '[')",
        "UPDATE runs SET recipe_json = '\"' || char(8238) || '\"'",
        "UPDATE software SET flags = '-O2 ' || char(8238) || '[2J-odd'",
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
        ("WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
         " INSERT INTO points SELECT 1, i, i, i, 0, 0, 0, 0, 0, 0, 'x' FROM n"),
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

TEST_WITH(words_are_checked_before_they_are_signed, setup, teardown)
{
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

TEST_WITH(runs_on_an_emulated_gpu_are_not_submitted, setup, teardown)
{
    struct statement s = {0};
    int64_t id = usual_run(7);
    sql("UPDATE machines SET gpu = 'Emulated H200 (emulated card)'");
    assert_fails(payload_run(r, id, &(struct payload_words){.board = "b", .handle = "ada"}, &s), ERR_USAGE, "emulated GPU");
}
