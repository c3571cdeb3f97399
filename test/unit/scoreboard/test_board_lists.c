// SPDX-License-Identifier: Apache-2.0
// Pages that put several things side by side: comparisons of runs and groups, uploads, people, search, prices, the API.
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_page.h"

#include "scoreboard/pages/page.h"
#include "scoreboard/routes.h"

static int ask(handler *run, const char *word, const char *query)
{
    const struct server_settings settings = {.routes = route_table, .url = "https://runs.example"};
    return ask_page(run, (struct request){.path = "/", .query = query, .word = {word}, .settings = &settings});
}

static const char *page_of(handler *run, const char *word, const char *query)
{
    if (ask(run, word, query) < 0) fail_msg("%s", error_text());
    return answer.body.at;
}

static int times_in(const char *page, const char *what)
{
    int count = 0;
    for (const char *at = page; (at = strstr(at, what)) != NULL; at++) count++;
    return count;
}

// ---- comparisons
TEST_WITH(a_group_compares_with_a_run, set_up, end)
{
    hand_in_a_group();
    json_t *run = run_of("bob", 6);
    fixture_set(run, "threads", json_integer(0));
    assert_int_equal(hand_in(run, &bob), PROBLEM_NONE);
    const char *page = page_of(page_compare, NULL, "group=" FIXTURE_GROUP "&run=6");
    assert_shows(page, "<a href=\"/groups/" FIXTURE_GROUP "\"><bdi>Group fedcba98, ada</bdi></a>");
    assert_shows(page, "<a href=\"/runs/6\"><bdi>Run 6, bob</bdi></a>");
    assert_shows(page, "role=\"rowheader\">Last evaluation</th><td role=\"cell\">94.53%<small>mean</small></td>");
    assert_shows(page, "<th scope=\"row\" role=\"rowheader\">Runs</th><td role=\"cell\">5</td><td role=\"cell\">1</td>");
    assert_shows(page, "<small class=\"delta\">");
    assert_shows(page, "class=\"band look-0\"");
    assert_shows(page, "<input type=\"hidden\" name=\"group\" value=\"" FIXTURE_GROUP "\">");
    // A group has no first crossing of its own, and 0 threads means that nobody knows.
    assert_shows(page, ">Time to the target, classic</th><td role=\"cell\"><span class=\"quiet\">-</span></td>");
    assert_shows(page, "<th scope=\"row\" role=\"rowheader\">Threads</th>");
    assert_hides(page, "<td role=\"cell\">0</td>");
    static const char *const bad[] = {"group=12", "group=" FIXTURE_GROUP "x", "run=x", "x=1", "run=1&run=2&run=3&run=4&run=5",
                                      "group=FEDCBA9876543210fedcba9876543210"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(ask(page_compare, NULL, bad[i]), ERR_INPUT);
    assert_int_equal(ask(page_compare, NULL, "group=00000000000000000000000000000000"), ERR_MISSING);
    json_t *slow = run_of("bob", 7);
    fixture_delay(slow, 30000000000);
    fixture_set(slow, "started_ms", json_integer(fixture_int(slow, "started_ms") - 30000));
    assert_int_equal(hand_in(slow, &bob), PROBLEM_NONE);
    page = page_of(page_compare, NULL, "run=6&run=7");
    assert_shows(page, "<small class=\"delta\">+32.6%</small>");  // half a minute of one and a half
    assert_shows(page, ">Target</th><td role=\"cell\">94.00%</td><td role=\"cell\">94.00%</td>");
    assert_hides(page, "Different targets.");
    assert_hides(page, "Energy to the target");  // neither run has any
    const char *same = strstr(page, " rows are the same for all</summary>");
    assert_non_null(same);
    assert_true(strstr(page, ">Precision</th>") > same && strstr(page, ">Time to the target, classic</th>") < same);
    assert_shows(page, ">target 94.00%</text>");
    page = page_of(page_person, "bob", NULL);  // a row per board: the better run
    assert_int_equal(times_in(page, ">CIFAR10: Training time</a>"), 1);
    assert_shows(page, "<a href=\"/runs/6\">");
}

TEST_WITH(a_group_has_a_band_and_boxes, set_up, end)
{
    hand_in_a_group();
    const char *page = page_of(page_group, FIXTURE_GROUP, NULL);
    assert_shows(page, "mean, lowest and highest of 5 runs");
    assert_shows(page, "class=\"band look-0\"");
    struct filter all = filter_plain(contest_find("cifar10"), BOARD_TRAINING_TIME, RANK_GROUP);
    struct entries rows;
    assert_int_equal(store_entries(reader, &all, &arena, &rows), 0);
    assert_int_equal(rows.count, 1);
    page = page_of(page_home, NULL, NULL);
    assert_int_equal(times_in(page, "group of 5 runs"), 1);  // one line for one upload
    assert_hides(page, "\"/runs/3\"");
}

// ---- lists
TEST_WITH(people_and_search, set_up, end)
{
    assert_shows(page_of(page_people, NULL, NULL), "Nobody yet");
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_NONE);
    const char *page = page_of(page_people, NULL, NULL);
    assert_shows(page, "<a href=\"/people/ada\"><bdi>ada</bdi></a></th><td>2</td><td><a href=\"/runs/3\">");
    assert_shows(page, "<a href=\"/people/bob\"><bdi>bob</bdi></a></th><td>1</td><td><a href=\"/runs/2\">");
    page = page_of(page_find, NULL, "q=ADA");
    assert_shows(page, "<a href=\"/people/ada\">");
    assert_hides(page, "<a href=\"/people/bob\">");
    assert_shows(page, "<a class=\"clamp\" href=\"/runs/1\">");
    assert_shows(page_of(page_find, NULL, "q=2"), "<a href=\"/runs/2\">Statement <bdi>2</bdi></a>");
    assert_shows(page_of(page_find, NULL, "q=%3Cb%3E"), "has \"<bdi>&lt;b&gt;</bdi>\" in a name");
    assert_hides(page_of(page_find, NULL, NULL), "No entry");
    assert_int_equal(ask(page_find, NULL, "q=%00"), ERR_INPUT);
    assert_int_equal(ask(page_find, NULL, "q=a&x=1"), ERR_INPUT);
    assert_int_equal(ask(page_find, NULL, "trust=imported"), ERR_INPUT);
}

TEST_WITH(commands_name_this_server, set_up, end)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_shows(page_of(page_submit, NULL, NULL), "dawn submit --server https://runs.example --handle ann");
    assert_hides(answer.body.at, "board.example");
    assert_shows(answer.body.at, "<div class=\"command\"><pre");
    assert_shows(page_of(page_home, NULL, NULL), "dawn submit --server https://runs.example --handle YOUR-NAME");
    assert_shows(page_of(page_run, "1", NULL), "dawn verify https://runs.example/runs/1");
    assert_shows(page_of(page_atom, NULL, NULL), "<link rel=\"self\" href=\"https://runs.example/feed.atom\"/>");
    assert_shows(answer.body.at, "href=\"https://runs.example/runs/1\"");
}

TEST_WITH(prices_and_addresses, set_up, end)
{
    const char *page = page_of(page_prices, NULL, NULL);
    assert_shows(page, "class=\"stem\">c7i.xlarge</th><td role=\"cell\" class=\"number\">$");
    page = page_of(page_api, NULL, NULL);
    assert_shows(page, "<code>/api/v1/statements/{id}/payload</code>");
    assert_shows(page, "<code>devices_max</code>");
    assert_shows(page, "curl -fsS https://runs.example/api/v1/tasks");
}

TEST_WITH(what_is_missing_offers_a_search, set_up, end)
{
    text_free(&answer.body);
    answer = (struct answer){0};
    page_problem(PROBLEM_NOT_FOUND, "there is no run 7", &answer);
    assert_shows(answer.body.at, "action=\"/search\"");
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
}

// ---- the newest
TEST_WITH(a_later_latency_is_news_of_its_own, set_up, end)
{
    struct entries found;
    char digest[DIGEST_HEX];
    json_t *first = run_of("ada", 1), *again;
    json_t *latencies = json_deep_copy(json_object_get(first, "latencies"));
    fixture_set(first, "latencies", json_array());
    again = json_deep_copy(first);
    digest_of(first, digest);
    assert_int_equal(hand_in_at(first, &ada, NULL, FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run_of("bob", 2), &bob, NULL, FIXTURE_NOW_MS + 1000), PROBLEM_NONE);
    assert_int_equal(store_newest(reader, NULL, TRUST_CHECKED, 9, &arena, &found), 0);
    assert_int_equal(found.count, 2);
    assert_string_equal(found.at[0].author, "bob");
    assert_int_equal(found.at[0].board, BOARD_TRAINING_TIME);
    json_object_set_new(again, "latencies", latencies);
    json_object_set_new(again, "supersedes", json_string(digest));
    assert_int_equal(hand_in_at(again, &ada, NULL, FIXTURE_NOW_MS + 2000), PROBLEM_NONE);
    assert_int_equal(store_newest(reader, NULL, TRUST_CHECKED, 9, &arena, &found), 0);
    assert_int_equal(found.count, 2);
    assert_string_equal(found.at[0].author, "ada");
    assert_int_equal(found.at[0].board, BOARD_INFERENCE_LATENCY);  // its training is older
    assert_int_equal(store_newest(reader, NULL, TRUST_CHECKED, 1, &arena, &found), 0);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.at[0].author, "ada");
}

// Both digits look like "b", and still they are two names.
TEST_WITH(numbered_people_are_told_apart, set_up, tear_down)
{
    assert_int_equal(hand_in(run_of("team6", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("teamb", 3), &bob), PROBLEM_HANDLE);
    assert_int_equal(hand_in(run_of("team8", 3), &bob), PROBLEM_NONE);
}
