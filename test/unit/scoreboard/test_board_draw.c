// SPDX-License-Identifier: Apache-2.0
// The draw of the log: which runs, at which share, computed again from the receipts; what a repetition by the operator changes.
#include "test/unit/test.h"
#include "scoreboard/api/api.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/store/file/store_state.h"
#include "test/unit/scoreboard/fixture_page.h"

enum { HALF = DRAW_WHOLE / 2, RUNS = 24 };

static struct stored stored_of(int64_t run)
{
    char id[24];
    struct stored s;
    snprintf(id, sizeof id, "%lld", (long long)run);
    assert_int_equal(store_statement(reader, id, &arena, &s), 0);
    return s;
}

static bool was_drawn(int64_t run, struct drawn *d)
{
    int rc = store_drawn(reader, run, &arena, d);
    if (rc != 0) assert_int_equal(rc, ERR_MISSING);
    return rc == 0;
}

// As anybody would, with the receipt of a statement and the digest of a run.
static bool draws(int64_t checkpoint, int64_t run, int64_t share)
{
    char hash[DIGEST_HEX];
    json_t *receipt = json_loads(stored_of(checkpoint).receipt, 0, NULL);
    log_draw_hash(canonical_text(receipt, "log.signature"), hash);
    json_decref(receipt);
    return log_draw_has(hash, stored_of(run).digest, share);
}

// A run that is slower than all with lower numbers, and so no best one.
static int64_t hand_in_run(const char *handle, const struct sshkey_secret *key, int number)
{
    json_t *run = run_of(handle, number);
    fixture_vary(run, number);
    fixture_slow(run, number * 200000000LL);
    if (hand_in(run, key) != PROBLEM_NONE) fail_msg("%s", last.findings.count > 0 ? last.findings.at[0].text : last.detail);
    return last.sequence;
}

static void no_keys(int64_t share, int64_t again)
{
    set_draw(share, again, (const struct sshkey_secret *const[]){NULL, NULL, NULL});
}

// Signs the result of training a run again.
static enum problem repeat(int64_t run, int64_t equal, const char *verdict)
{
    const struct stored s = stored_of(run);
    json_t *repeated = json_pack("{s:I, s:I, s:I, s:s, s:s, s:s}", "epoch_micro", (json_int_t)2000000, "points", (json_int_t)2,
                                 "equal", (json_int_t)equal, "device", "cpu", "hardware", "Test CPU", "binary_digest",
                                 FIXTURE_HEX);
    free(last.receipt);
    assert_int_equal(store_decide(store, &(struct decision){verdict, s.digest, "Ann Lee", "trained again", repeated},
                                  FIXTURE_NOW_MS + last.sequence, &last), 0);
    json_decref(repeated);
    return last.problem;
}

TEST_WITH(test_nothing_is_drawn_without_rules, set_up, tear_down)
{
    struct drawn d;
    struct draw_rules rules;
    assert_false(was_drawn(hand_in_run("ada", &ada, 1), &d));
    assert_int_equal(store_draw_rules(reader, &arena, &rules), 0);
    assert_int_equal(rules.sequence, 0);
    assert_whole();
}

// The own checkpoint of a run draws it, at the share that was in force before. Another draw does not follow.
TEST_WITH(test_the_receipt_draws, set_up, tear_down)
{
    struct drawn d;
    int drawn = 0;
    hand_in_run("ada", &ada, 1);
    no_keys(HALF, 0);
    for (int i = 2; i < RUNS; i++) {
        const int64_t run = hand_in_run("ada", &ada, i);
        const bool has = was_drawn(run, &d);
        assert_int_equal(has, draws(run, run, HALF));
        drawn += has;
        if (!has) continue;
        assert_int_equal(d.why, DRAWN_NEW);
        assert_int_equal(d.checkpoint, run);
        assert_true(d.waits);
    }
    assert_true(drawn > 2 && drawn < RUNS - 4);  // of 22, in all but one in 8,000 cases
    no_keys(0, 0);
    assert_false(was_drawn(hand_in_run("ada", &ada, RUNS), &d));
    assert_whole();
    do_sql("DELETE FROM drawn WHERE why = 0");
    assert_fault("draw of run");
}

// A statement in place of an older one neither ends the draw nor draws again.
TEST_WITH(test_a_new_statement_stays_drawn, set_up, tear_down)
{
    struct drawn d;
    char digest[DIGEST_HEX];
    json_t *slow = run_of("ada", 1), *first = run_of("ada", 2), *replacement;
    assert_int_equal(hand_in(slow, &ada), PROBLEM_NONE);
    fixture_vary(first, 2);
    fixture_slow(first, 1000000000LL);
    no_keys(DRAW_WHOLE, 0);
    digest_of(first, digest);
    replacement = json_deep_copy(first);
    json_object_set_new(replacement, "supersedes", json_string(digest));
    json_object_set_new(replacement, "note", json_string("a remark"));
    assert_int_equal(hand_in(first, &ada), PROBLEM_NONE);
    const int64_t checkpoint = last.sequence;
    assert_int_equal(hand_in(replacement, &ada), PROBLEM_NONE);
    assert_true(was_drawn(last.sequence, &d));
    assert_int_equal(d.checkpoint, checkpoint);
    assert_int_equal(repeat(last.sequence, 1, "differs"), PROBLEM_NONE);
    assert_whole();
}

// The best of a board is drawn at any share, also the one that was best before, or comes up because a better one was withdrawn.
TEST_WITH(test_the_best_is_always_drawn, set_up, tear_down)
{
    struct drawn d;
    int64_t best = hand_in_run("ada", &ada, 4), better, second;
    no_keys(0, 0);
    const int64_t rules = last.sequence;
    assert_true(was_drawn(best, &d));
    assert_int_equal(d.why, DRAWN_BEST);
    assert_int_equal(d.checkpoint, rules);
    better = hand_in_run("bob", &bob, 1);
    assert_true(was_drawn(better, &d));
    assert_int_equal(d.checkpoint, better);
    second = hand_in_run("eve", &eve, 2);
    assert_false(was_drawn(second, &d));
    assert_int_equal(hand_in(about("withdraw", stored_of(better).digest), &bob), PROBLEM_NONE);
    assert_true(was_drawn(second, &d));
    assert_int_equal(d.checkpoint, last.sequence);
    assert_true(was_drawn(better, &d));
    assert_false(d.waits);
    int64_t *waiting;
    int count;
    assert_int_equal(store_drawn_waiting(reader, &arena, &waiting, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(waiting[0], best);
    assert_int_equal(waiting[1], second);
    assert_whole();
}

// All runs of the best group, when it is complete.
TEST_WITH(test_the_best_group_is_drawn, set_up, tear_down)
{
    struct drawn d;
    no_keys(0, 0);
    for (int i = 1; i <= 5; i++) assert_int_equal(hand_in(group_run_of("ada", i, i), &ada), PROBLEM_NONE);
    int by_last = 0;
    for (int64_t run = 2; run <= 6; run++) {
        assert_true(was_drawn(run, &d));
        by_last += d.checkpoint == 6;
    }
    assert_true(by_last >= 3);  // the others were the best single runs when they came
    assert_true(board_of(BOARD_TRAINING_TIME, RANK_GROUP).at[0].waits_ms > 0);
    assert_whole();
}

// Each 256th statement draws among all runs that were not drawn before.
TEST_WITH(test_later_checkpoints_draw_again, set_up, tear_down)
{
    struct drawn d;
    int64_t runs[RUNS];
    int drawn = 0, count = 0;
    for (int i = 1; i < RUNS; i++) runs[count++] = hand_in_run("ada", &ada, i);
    while (last.sequence < DRAW_AGAIN - 1) no_keys(last.sequence, HALF);  // each statement has bytes of its own
    for (int i = 1; i < count; i++) assert_false(was_drawn(runs[i], &d));
    no_keys(DRAW_WHOLE, DRAW_WHOLE);  // in force only after the checkpoint that draws
    assert_int_equal(last.sequence, DRAW_AGAIN);
    for (int i = 1; i < count; i++) {
        const bool has = was_drawn(runs[i], &d);
        assert_int_equal(has, draws(DRAW_AGAIN, runs[i], HALF));
        drawn += has;
        if (has) assert_int_equal(d.why, DRAWN_AGAIN);
        if (has) assert_int_equal(d.checkpoint, DRAW_AGAIN);
    }
    assert_true(drawn > 2 && drawn < count - 3);
    assert_whole();
}

TEST_WITH(test_what_came_of_it, set_up, tear_down)
{
    struct drawn d;
    const int64_t run = hand_in_run("ada", &ada, 3), other = hand_in_run("bob", &bob, 5);
    assert_int_equal(repeat(run, 2, "equal"), PROBLEM_CONFLICT);  // it was not drawn
    no_keys(0, 0);
    assert_int_equal(repeat(other, 2, "equal"), PROBLEM_CONFLICT);
    assert_int_equal(repeat(run, 1, "equal"), PROBLEM_MALFORMED);
    assert_int_equal(repeat(run, 3, "differs"), PROBLEM_MALFORMED);
    assert_int_equal(repeat(run, 2, "confirmed"), PROBLEM_MALFORMED);
    assert_int_equal(repeat(run, 2, "equal"), PROBLEM_NONE);
    assert_int_equal(stored_of(run).trust, TRUST_REPRODUCED);
    assert_true(was_drawn(run, &d));
    assert_false(d.waits);
    assert_int_equal(d.verdict, DRAWN_EQUAL);
    assert_int_equal(d.audit, last.sequence);
    assert_int_equal(d.epoch_micro, 2000000);
    assert_int_equal(d.equal, 2);
    assert_string_equal(d.hardware, "Test CPU");
    assert_string_equal(d.by, "Ann Lee");
    assert_whole();
    assert_int_equal(repeat(run, 1, "differs"), PROBLEM_NONE);
    struct stored s = stored_of(run);
    assert_int_equal(s.trust, TRUST_SIGNED);
    assert_int_equal(s.findings->flags, 1);
    assert_int_equal(s.findings->at[0].check, CHECK_REPEATED);
    assert_string_equal(s.findings->at[0].text, "the operator trained it again for 2 epochs with other figures, statement 5");
    assert_true(was_drawn(other, &d));  // now the best
    assert_whole();
    assert_int_equal(repeat(run, 2, "equal"), PROBLEM_NONE);  // the operator's machine had a fault
    assert_int_equal(stored_of(run).trust, TRUST_REPRODUCED);
    assert_int_equal(stored_of(run).findings->flags, 0);
    assert_whole();
}

// A forger beats an honest run, and takes the second place until somebody has repeated the forged one.
TEST_WITH(test_what_costs_nothing_comes_last, set_up, end)
{
    const int64_t honest = hand_in_run("ada", &ada, 3), forged = hand_in_run("eve", &eve, 1), slow = hand_in_run("bob", &bob, 7);
    struct filter plain = filter_plain(contest_find("cifar10"), BOARD_TRAINING_TIME, RANK_CLASSIC), by_value = plain;
    struct entries e;
    assert_int_equal(filter_read("sort=value", &by_value), 0);
    by_value.contest = plain.contest;
    no_keys(0, 0);
    e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_int_equal(e.at[0].sequence, forged);
    assert_true(e.at[0].waits_ms > 0);
    assert_int_equal(repeat(honest, 2, "equal"), PROBLEM_CONFLICT);  // nobody drew it: the forged one was the best
    no_keys(DRAW_WHOLE, 0);
    assert_int_equal(hand_in(about("withdraw", stored_of(forged).digest), &eve), PROBLEM_NONE);
    assert_int_equal(repeat(honest, 2, "equal"), PROBLEM_NONE);
    const int64_t again = hand_in_run("eve", &eve, 2);
    e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_int_equal(e.count, 3);
    assert_int_equal(e.at[0].sequence, honest);
    assert_int_equal(e.at[0].rank, 1);
    assert_int_equal(e.at[0].repeated_micro, 2000000);
    assert_int_equal(e.at[0].waits_ms, 0);
    assert_int_equal(e.at[1].sequence, again);
    assert_int_equal(e.at[1].rank, 2);
    assert_int_equal(e.at[1].waits_ms, stored_of(again).accepted_ms);
    assert_int_equal(e.at[2].sequence, slow);
    assert_int_equal(store_entries(reader, &by_value, &arena, &e), 0);
    assert_int_equal(e.at[0].sequence, again);
    assert_int_equal(e.at[1].sequence, honest);
    assert_int_equal(ask_page(page_board, (struct request){.path = "/", .word = {"cifar10", "training-time"},
                                                           .query = "rank=classic"}), 0);
    const char *page = answer.body.at;
    assert_shows(page, "sorted by proof, then value");
    assert_shows(page, "2 epochs repeated");
    assert_shows(page, "drawn, not repeated since 2027-01-15");
    assert_int_equal(repeat(again, 0, "differs"), PROBLEM_NONE);
    e = board_of(BOARD_TRAINING_TIME, RANK_CLASSIC);
    assert_int_equal(e.at[1].differs, 1);
    assert_int_equal(e.at[1].sequence, again);
    assert_int_equal(e.at[1].trust, TRUST_SIGNED);
}

// The page of a run and its JSON say that it was drawn, and the result.
TEST_WITH(test_a_draw_is_shown, set_up, end)
{
    const struct request run = {.path = "/runs/1", .word = {"1"}};
    hand_in_run("ada", &ada, 3);
    no_keys(DRAW_WHOLE / 20, 0);
    assert_int_equal(ask_page(page_run, run), 0);
    assert_shows(answer.body.at, "This run was the best of a board, so it was drawn");
    assert_shows(answer.body.at, "Nobody whose repetition counts has repeated it since");
    assert_int_equal(ask_page(api_statement, run), 0);
    assert_shows(answer.body.at, "\"drawn\":{\"why\":\"best\",\"checkpoint\":2,\"since_ms\":1800000000000,\"waits\":true,"
                                 "\"verdict\":null,\"audited_by\":null}");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/runs/2", .word = {"2"}}), 0);
    assert_shows(answer.body.at, "Rules of the draw");
    assert_shows(answer.body.at, "<dt>Drawn of new runs</dt><dd>5%</dd>");
    assert_int_equal(ask_page(page_trust, (struct request){.path = "/trust"}), 0);
    assert_shows(answer.body.at, "The log draws 5% of new runs");
    assert_int_equal(repeat(1, 2, "equal"), PROBLEM_NONE);
    assert_int_equal(ask_page(page_run, run), 0);
    assert_shows(answer.body.at, "trained it again for 2 epochs on <bdi>Test CPU</bdi>: <strong>equal to the last bit</strong>");
    assert_hides(answer.body.at, "Nobody whose repetition counts");
    assert_int_equal(repeat(1, 1, "differs"), PROBLEM_NONE);
    assert_int_equal(ask_page(page_run, run), 0);
    assert_shows(answer.body.at, "<strong>it differs</strong>, 1 of 2 points are the same");
    assert_shows(answer.body.at, "<strong>Flag: repeated.</strong>");
    assert_int_equal(ask_page(api_statement, run), 0);
    assert_shows(answer.body.at, "\"waits\":false,\"verdict\":\"differs\",\"audited_by\":4,");
    do_sql("UPDATE drawn SET why = 9");
    assert_int_equal(ask_page(page_run, run), ERR_DATABASE);
}

// Figures that another person had published; and a person withdraws a drawn run.
TEST_WITH(test_what_was_public_raises_nothing, set_up, end)
{
    const struct request copied = {.path = "/runs/3", .word = {"3"}}, person = {.path = "/people/ada", .word = {"ada"}};
    json_t *copy = run_of("eve", 2);
    fixture_again(copy, 500000000, 9);
    no_keys(DRAW_WHOLE, 0);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(copy, &eve), PROBLEM_NONE);
    assert_int_equal(repeat(3, 2, "equal"), PROBLEM_NONE);
    assert_int_equal(stored_of(3).trust, TRUST_CHECKED);
    assert_int_equal(ask_page(page_run, copied), 0);
    assert_shows(answer.body.at, "Run 2</a> of another person begins with these figures and is older");
    assert_int_equal(ask_page(api_statement, copied), 0);
    assert_shows(answer.body.at, "\"follows\":2}");
    assert_int_equal(hand_in(about("withdraw", stored_of(2).digest), &ada), PROBLEM_NONE);
    assert_int_equal(ask_page(page_person, person), 0);
    assert_shows(answer.body.at, "0 not repeated yet, 1 withdrawn before anybody repeated them");
    assert_int_equal(ask_page(api_person, person), 0);
    assert_shows(answer.body.at, "\"drawn\":{\"drawn\":1,\"equal\":0,\"differs\":0,\"waits\":0,\"withdrawn\":1}");
}

TEST_GROUP(NULL, NULL)
