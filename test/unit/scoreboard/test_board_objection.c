// SPDX-License-Identifier: Apache-2.0
// Objections: who may object to what, the operator's decision, what it does to the run and to the statement that replaces it, and
// what the run's page shows.
#include "scoreboard/pages/pages.h"
#include "test/unit/test.h"
#include "test/unit/fixture_bench.h"
#include "test/unit/scoreboard/fixture_page.h"

static json_t *objection_to(const char *digest)
{
    json_t *value = about("object", digest);
    json_object_set_new(value, "reason", json_string("that <machine> has 8 cores"));
    json_object_set_new(value, "url", json_string("https://x.example/proof"));
    return value;
}

static enum problem decide(int64_t objection, bool upheld, const char *reason)
{
    struct stored s;
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)objection);
    assert_int_equal(store_statement(reader, id, &arena, &s), 0);
    free(last.receipt);
    last = (struct acceptance){0};
    const struct decision decision = {upheld ? "upheld" : "dismissed", s.digest, "Ann Lee", reason, NULL};
    assert_int_equal(store_decide(store, &decision, FIXTURE_NOW_MS, &last), 0);
    return last.problem;
}

// Rows, findings and the answer to programs say that an objection to run 1 was upheld.
static void assert_marked(void)
{
    struct stored s;
    struct objections list;
    const struct entries e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    for (int i = 0; i < e.count; i++) assert_int_equal(e.at[i].upheld, strcmp(e.at[i].author, "ada") == 0);
    assert_int_equal(store_statement(reader, "1", &arena, &s), 0);
    assert_int_equal(s.findings->flags, 1);
    assert_int_equal(s.findings->at[0].check, CHECK_OBJECTION);
    assert_string_equal(s.findings->at[0].text, "statement 4 upheld the objection 3 of bob");
    assert_int_equal(store_objections(reader, 2, 0, &arena, &list), 0);
    assert_int_equal(list.total, 0);
    assert_int_equal(ask_page(page_board, (struct request){.path = "/", .word = {"cifar10", "training-time"},
                                                           .query = "trust=imported"}), 0);
    assert_shows(answer.body.at, "<small>objection upheld</small>");
}

TEST_WITH(an_objection_waits_for_its_decision, set_up, end)
{
    char digest[DIGEST_HEX], second[DIGEST_HEX];
    hand_in_one(digest);
    assert_int_equal(hand_in(objection_to(digest), &bob), PROBLEM_UNKNOWN_KEY);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(objection_to(FIXTURE_HEX), &bob), PROBLEM_NOT_FOUND);
    assert_int_equal(hand_in(objection_to(digest), &ada), PROBLEM_CONFLICT);  // her own
    assert_int_equal(hand_in(objection_to(digest), &bob), PROBLEM_NONE);
    json_t *again = objection_to(digest);
    fixture_set(again, "reason", json_string("another word"));
    assert_int_equal(hand_in(again, &bob), PROBLEM_CONFLICT);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_CHECKED);
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "that &lt;machine&gt; has 8 cores");
    assert_shows(answer.body.at, "Not decided yet");
    assert_shows(answer.body.at, "has a run or a measurement here that still counts may object once");
    assert_int_equal(decide(2, true, "no objection"), PROBLEM_NOT_FOUND);
    assert_int_equal(decide(3, true, "we <counted>"), PROBLEM_NONE);
    assert_int_equal(decide(3, false, "or not"), PROBLEM_CONFLICT);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_SIGNED);
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "An objection was upheld</strong> with <a href=\"/runs/4\">");
    assert_shows(answer.body.at, "Flag: objection.");
    assert_shows(answer.body.at, "Upheld");
    assert_shows(answer.body.at, "we &lt;counted&gt;");
    assert_marked();
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"3"}}), 0);
    assert_shows(answer.body.at, "Objection to run 1 (statement 3)");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"4"}}), 0);
    assert_shows(answer.body.at, "Decision of statement 3");

    json_t *latency, *newer = run_of("ada", 1);  // its new statement has the flag, too
    fixture_set(newer, "supersedes", json_string(digest));
    fixture_set(newer, "note", json_string("again"));
    latency = fixture_item(newer, "latencies", 0);
    json_object_set_new(latency, "warmup_items", json_integer(101));
    digest_of(newer, second);
    assert_int_equal(hand_in(newer, &ada), PROBLEM_NONE);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_SIGNED);
    assert_int_equal(hand_in(objection_to(second), &bob), PROBLEM_CONFLICT);
    assert_whole();
}

TEST_WITH(a_dismissed_objection_changes_nothing, set_up, end)
{
    char digest[DIGEST_HEX];
    hand_in_one(digest);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(objection_to(digest), &bob), PROBLEM_NONE);
    assert_int_equal(decide(3, false, "it has 16"), PROBLEM_NONE);
    assert_int_equal(row_trust(BOARD_TRAINING_TIME), TRUST_CHECKED);
    json_t *forged = about("audit", digest);
    fixture_edit(forged, "'verdict': 'upheld', 'by': 'Eve', 'reason': 'I say so'");
    assert_int_equal(hand_in(forged, &bob), PROBLEM_NOT_YOURS);
    assert_whole();
}

// A key costs nothing: who objects has a run or a measurement that still counts.
TEST_WITH(a_stranger_cannot_object, set_up, end)
{
    char digest[DIGEST_HEX], own[DIGEST_HEX];
    json_t *run = run_of("ada", 1), *bobs = run_of("bob", 2);
    digest_of(run, digest);
    digest_of(bobs, own);
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(bobs, &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(about("withdraw", own), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(objection_to(digest), &bob), PROBLEM_STANDING);
    assert_int_equal(problem_status(PROBLEM_STANDING), 403);
    assert_int_equal(hand_in(fixture_bench("bob", 1), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(objection_to(digest), &bob), PROBLEM_NONE);
    assert_whole();
}

// A key with an empty run costs nothing. Many of them hide no objection of somebody who finished a run, and none is out of reach.
TEST_WITH(cheap_objections_hide_none, set_up, end)
{
    char digest[DIGEST_HEX], handle[16];
    struct objections list;
    hand_in_one(digest);
    for (int i = 0; i <= OBJECTIONS_MOST; i++) {
        struct sshkey_secret key;
        sshkey_new(&key, "");
        snprintf(handle, sizeof handle, "mob-%c%c", 'b' + i / 11, 'b' + i % 11);
        json_t *empty = run_of(handle, 2 + i), *word = objection_to(digest);
        fixture_set(empty, "status", json_string("failed"));
        fixture_set(word, "made_ms", json_integer(FIXTURE_NOW_MS - i));
        if (hand_in(empty, &key) != PROBLEM_NONE || hand_in(word, &key) != PROBLEM_NONE) fail_msg("%d: %s", i, last.detail);
    }
    json_t *bobs = objection_to(digest);
    fixture_set(bobs, "reason", json_string("I repeated it"));
    assert_int_equal(hand_in(run_of("bob", 500), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(bobs, &bob), PROBLEM_NONE);
    assert_int_equal(store_objections(reader, 1, 0, &arena, &list), 0);
    assert_int_equal(list.count, OBJECTIONS_MOST);
    assert_int_equal(list.total, OBJECTIONS_MOST + 2);
    assert_string_equal(list.at[0].handle, "bob");
    assert_int_equal(store_objections(reader, 1, OBJECTIONS_MOST, &arena, &list), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "I repeated it");
    assert_shows(answer.body.at, "/runs/1?objections=100#objections");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}, .query = "objections=100"}), 0);
    assert_shows(answer.body.at, "mob-kc");
    assert_whole();
}
