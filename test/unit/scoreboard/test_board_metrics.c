// SPDX-License-Identifier: Apache-2.0
// Runs with several metrics on a scoreboard: accepted, ranked by the board's metric, shown with the others.
#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

static struct answer answer;

static const char *run_page(int64_t sequence)
{
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)sequence);
    const struct request request = {.path = "/runs/1", .word = {id}, .store = store, .reader = reader};
    text_free(&answer.body);
    answer = (struct answer){0};
    assert_int_equal(page_run(&request, &answer), 0);
    return answer.body.at;
}

static void shows(const char *page, const char *what)
{
    if (strstr(page, what) == NULL) fail_msg("no \"%s\" in:\n%s", what, page);
}

TEST_WITH(points_are_shown_with_every_metric, set_up, tear_down)
{
    json_t *run = run_of("ada", 1), *resumed = run_of("bob", 2);
    fixture_set(resumed, "resumed", json_integer(2));
    json_object_set_new(fixture_item(resumed, "points", 8), "losses", json_pack("[{s:s, s:i}]", "name", "a", "loss", 654321));
    fixture_chain(resumed);
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(resumed, &bob), PROBLEM_NONE);
    const char *page = run_page(1);
    assert_null(strstr(page, "Resumed"));
    page = run_page(2);
    shows(page, "<dt>Resumed</dt><dd>2 times; the time away counts end-to-end</dd>");
    shows(page, "<th scope=\"row\">9</th><td>450</td>");
    shows(page, "<td>94.10% (9410 of 10000)</td><td>0.2223</td>");
    shows(page, "<small>log_loss</small></dt><dd>0.2000");
    shows(page, "epoch 9, step 450: 94.10% after");
    shows(page, "<th scope=\"col\">Loss <bdi>a</bdi></th>");
    shows(page, "<td>0.6543</td></tr>");
    shows(page, "that met the target (epoch 9, step 450, 450,000 samples)");
    text_free(&answer.body);
}

static const json_t *curve_digest(json_t *run, char hex[DIGEST_HEX])
{
    struct statement s;
    assert_int_equal(statement_make(run, &s), 0);
    assert_int_equal(ranking_curve(&s, hex), 0);
    statement_free(&s);
    return NULL;
}

// A run counts as reproduced only if every metric agrees.
TEST_WITH(a_curve_is_all_its_scores, set_up, tear_down)
{
    char a[DIGEST_HEX], b[DIGEST_HEX];
    json_t *run = run_of("ada", 1), *other = run_of("ada", 1);
    json_t *scores = json_object_get(fixture_item(other, "points", 3), "scores");
    json_object_set_new(json_array_get(scores, 1), "score", json_integer(1));
    fixture_chain(other);
    curve_digest(run, a);
    curve_digest(other, b);
    assert_string_not_equal(a, b);
}

// A word error rate falls: the target is met at or below it, and a lower one asks for more.
TEST_WITH(lower_is_better_where_it_is, set_up, tear_down)
{
    struct ranked rows[BOARDS];
    struct statement s;
    json_t *run = run_of("ada", 1), *p;
    size_t i;
    json_object_set_new(fixture_item(run, "metrics", 0), "lower_is_better", json_integer(1));
    json_array_foreach(json_object_get(run, "points"), i, p)
        json_object_set_new(json_array_get(json_object_get(p, "scores"), 0), "score", json_integer(5000 - 400 * (json_int_t)i));
    fixture_set(run, "target_micro", json_integer(300000));
    fixture_follow(run);
    fixture_rules(run);
    assert_int_equal(canonical_int(run, "reached.step"), 300);  // 3,000 of 10,000 at the sixth point
    assert_int_equal(statement_make(run, &s), 0);
    assert_true(ranking_of_run(&s, 300000, &arena, rows) > 0);
    assert_true(rows[0].entry.accuracy == 0.3);
    assert_int_equal(ranking_of_run(&s, 200000, &arena, rows), 0);  // harder than what it aimed at
    assert_true(ranking_of_run(&s, 400000, &arena, rows) > 0);
    statement_free(&s);
}

static const char *page_at(handler *run, const char *address, const char *word, const char *query)
{
    const struct request request = {.path = address, .query = query, .word = {word}, .store = store, .reader = reader};
    text_free(&answer.body);
    answer = (struct answer){0};
    if (run(&request, &answer) < 0) fail_msg("%s", error_text());
    return answer.body.at;
}

TEST_WITH(a_group_with_two_metrics_is_official, set_up, tear_down)
{
    hand_in_a_group();
    const char *page = page_at(page_group, "/", FIXTURE_GROUP, NULL);
    shows(page, "<strong>Official:</strong>");
    shows(page, "run 3 of the group: 94.53%");
    page = page_at(page_compare, "/compare", NULL, "run=1&run=2");
    shows(page, "<th scope=\"row\" role=\"rowheader\">log_loss</th><td role=\"cell\">0.2000</td><td role=\"cell\">0.2000</td>");
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_GROUP).count, 1);
    assert_whole();  // every rank follows from the statements again
    text_free(&answer.body);
}

TEST_WITH(a_remembered_digest_is_shown, set_up, tear_down)
{
    json_t *run = run_of("ada", 1);
    json_object_set_new(json_array_get(json_object_get(run, "data"), 0), "remembered", json_integer(1));
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    const char *page = run_page(1), *said = strstr(page, "as published, digest remembered");
    shows(page, "as published, digest remembered");
    assert_null(strstr(said + 20, "digest remembered"));  // of one set alone
    text_free(&answer.body);
}
