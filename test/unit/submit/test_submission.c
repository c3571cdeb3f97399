// SPDX-License-Identifier: Apache-2.0
// Which runs are submitted, and how they read to the person who is asked.

#include "submit/submission.h"

#include "submit/results/commitments.h"
#include "test/unit/test.h"
#include "test/unit/submit/fixture_payload.h"

#define COMPETITION "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

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
TEST_WITH(single_runs_without_an_end_are_left_out, setup, teardown)
{
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
                                    .planned = 1};
    const struct submission_choice by_default = {0}, by_number = {.runs = (const int64_t[]){1}, .run_count = 1};
    static const enum run_status ends[] = {RUN_FAILED, RUN_INTERRUPTED, RUN_MISSED, RUN_FAILED};
    int64_t group, ids[4];
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    for (int i = 0; i < 4; i++) {
        struct run_facts facts = fixture_facts(i + 1, NULL);
        struct stopwatch sw;
        if (i == 3) facts.group = group, facts.group_index = 1, facts.stop_at_target = false;
        struct run *run = begin(&facts, &sw);
        ids[i] = result_id(run);
        assert_int_equal(result_end(run, ends[i], &(struct run_end){.message = "it broke"}, NULL), 0);
        stopwatch_free(&sw);
    }
    assert_int_equal(ids[0], 1);
    assert_int_equal(result_group_end(r, group), 0);
    struct submissions all = choose(&by_default, "run 1 failed and is left out; --run 1 submits it anyway\n"
                                                "run 2 was interrupted and is left out; --run 2 submits it anyway\n"
                                                "run 3 missed its target and is left out");
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at[0].run, ids[3]);
    submissions_free(&all);
    all = choose(&by_number, NULL);
    assert_int_equal(all.count, 1);
    submissions_free(&all);
}

// What was committed to stays here until its competition takes it, unless it is asked for by its number.
TEST_WITH(committed_runs_are_left_out, setup, teardown)
{
    const struct submission_choice by_default = {0}, by_number = {.runs = (const int64_t[]){1}, .run_count = 1};
    struct payload_words words = plain;
    struct statement statement;
    usual_run(1);
    usual_run(2);
    words.competition = COMPETITION, words.salt = "00112233445566778899aabbccddeeff";
    assert_int_equal(payload_run(r, 1, &words, &statement), 0);
    assert_string_equal(canonical_text(statement.json, "competition.salt"), words.salt);
    const struct commitment row = {.run = 1, .competition = COMPETITION, .name = "winter", .board = plain.board, .server_key =
                                   "SHA256:x", .handle = "ada", .statement = statement.digest, .payload = statement.payload,
                                   .made_ms = 5};
    assert_int_equal(commitments_add(r, &row, 1), 0);
    statement_free(&statement);
    struct submissions all = choose(&by_default, "run 1 is committed to the competition winter and is left out");
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at[0].run, 2);
    submissions_free(&all);
    all = choose(&by_number, "can no longer enter");
    assert_int_equal(all.count, 1);
    submissions_free(&all);
}

// The whole life of an entry: new, known, measured again (and cut off before the receipt was kept), known again.
TEST_WITH(what_is_new_follows_from_the_receipts, setup, teardown)
{
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

TEST_WITH(groups_go_whole, setup, teardown)
{
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
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
    bool seed = false, twin = false;
    for (int i = 0; i < all.at[1].findings.count; i++) {
        seed = seed || all.at[1].findings.at[i].check == CHECK_SEED;
        twin = twin || all.at[1].findings.at[i].check == CHECK_TWIN;
    }
    assert_true(seed && twin);  // the same seed once more, and the same made-up stopwatch
    for (int i = 0; i < all.at[0].findings.count; i++) assert_int_not_equal(all.at[0].findings.at[i].check, CHECK_SEED);
    submissions_free(&all);
    struct text notes = {0};
    const struct submission_choice nothing = {.group = 9};
    assert_int_equal(submissions_build(r, &nothing, &plain, 0, &all, &notes), ERR_USAGE);
}

// The text that people see before they agree holds every text that would be published, and cannot control a terminal.
TEST_WITH(every_text_is_shown, setup, teardown)
{
    sql("PRAGMA foreign_keys = 0");
    int64_t id = usual_run(7);
    sql("UPDATE software SET flags = '-O2 ' || '[2J-odd' || printf('%.*c', 300, 'y')");
    add_latency(id);
    sql("UPDATE latencies SET device = 'odd-device', precision = 'odd-format'");
    sql("UPDATE metrics SET name = 'odd-metric', unit = 'odd-unit'");
    struct submissions all;
    struct text notes = {0}, shown = {0};
    const struct submission_choice one = {.runs = &id, .run_count = 1};
    assert_int_equal(submissions_build(r, &one, &full, clock_unix_ms(), &all, &notes), 0);
    submission_texts(&all, true, &shown);
    static const char *const words[] = {"Café Müller", "a note", "https://code.example/x", "zebra", "ant", "Test CPU, \"fast\"",
                                        "{\"batch\":2000}", "oneDNN 2.6.3", "Debian", "a list", "c5.2xlarge", "[2J-odd",
                                         "odd-device",
                                        "odd-format", "odd-metric", "odd-unit", NULL};
    for (int i = 0; words[i] != NULL; i++)
        if (strstr(shown.at, words[i]) == NULL) fail_msg("%s is not shown in:\n%s", words[i], shown.at);
    for (const char *line = shown.at; *line != 0; line = strchr(line, '\n') + 1) assert_true(strcspn(line, "\n") <= 82);
    text_free(&shown);
    submission_describe(&all.at[0], &shown);
    assert_non_null(strstr(shown.at, "0.9420 odd-unit (9,420 of 10,000)"));
    text_free(&shown);
    submissions_free(&all);
}

// A text that several runs share is shown once. A text that only some runs have is shown with their names.
TEST_WITH(texts_are_shown_once_with_their_runs, setup, teardown)
{
    for (int64_t i = 1; i <= 6; i++) usual_run(i);
    sql("UPDATE runs SET model = 'other' WHERE id IN (3, 6)");
    add_latency(1);
    add_latency(2);
    struct submissions all = choose(&(struct submission_choice){0}, NULL);
    struct text shown = {0};
    submission_texts(&all, true, &shown);
    assert_non_null(strstr(shown.at, "\n  model.name          runs 1-2, 4-5: airbench\n"
                                     "  model.name          runs 3, 6: other\n"));
    assert_non_null(strstr(shown.at, "\n  recipe.text         " FIXTURE_RECIPE "\n"));
    assert_non_null(strstr(shown.at, "runs 1-2: f32"));
    text_free(&shown);
    submissions_free(&all);
}

TEST_WITH(long_texts_are_begun_or_whole, setup, teardown)
{
    int64_t id = usual_run(1);
    sql("UPDATE runs SET recipe_json = '{\"batch\":2000' || replace(printf('%.*c', 100, 'x'), 'x', ',\"word\":12345') || '}'");
    struct submissions all = choose(&(struct submission_choice){.runs = &id, .run_count = 1}, NULL);
    struct text shown = {0};
    submission_texts(&all, true, &shown);
    assert_non_null(strstr(shown.at, "{\"batch\":2000,\"word\":12345,\"word\":12345,\"word\":12345,\n"));
    assert_non_null(strstr(shown.at, "\"word\":12345}\n"));
    text_free(&shown);
    submission_texts(&all, false, &shown);
    assert_null(strstr(shown.at, "12345}"));
    assert_non_null(strstr(shown.at, "(1314"));
    text_free(&shown);
    submissions_free(&all);
}

TEST_WITH(a_finding_of_several_runs_is_shown_once, setup, teardown)
{
    struct submission own[3] = {{.run = 1}, {.run = 2}, {.run = 4}};
    struct submissions all = {.at = own, .count = 3};
    struct text shown = {0};
    for (int i = 0; i < 3; i++) finding_add(&own[i].findings, CHECK_PACE, "the same pace");
    finding_add(&own[1].findings, CHECK_TWIN, "a twin");
    submissions_findings(&all, &shown);
    assert_string_equal(shown.at, "  runs 1-2, 4: flag same-pace: the same pace\n  run 2: REJECT same-times: a twin\n");
    text_free(&shown);
}
