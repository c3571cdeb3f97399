// SPDX-License-Identifier: Apache-2.0
// Pages of runs and groups as they come out of a record: figures, words and links, for statements that tests signed.
#include "test/unit/fixture_board.h"

#include "scoreboard/routes.h"

static struct answer answer;

// A page's text, lent until the next call.
static const char *page_of(handler *run, const char *address, const char *word0, const char *word1, const char *query)
{
    const struct request request = {
        .path = address, .query = query, .word = {word0, word1}, .store = store, .reader = reader};
    text_free(&answer.body);
    answer = (struct answer){0};
    if (run(&request, &answer) < 0) GIVE_UP("%s", error_text());
    return answer.body.at;
}

static const char *run_page(int64_t sequence)
{
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)sequence);
    return page_of(page_run, "/runs/1", id, NULL, NULL);
}

static void assert_shows(const char *page, const char *what)
{
    if (strstr(page, what) == NULL) GIVE_UP("no \"%s\" in:\n%s", what, page);
}

static void assert_hides(const char *page, const char *what)
{
    const char *at = strstr(page, what);
    if (at != NULL) GIVE_UP("\"%s\" stands in the page: %.200s", what, at);
}

static int end(void **state)
{
    text_free(&answer.body);
    return tear_down(state);
}

// ---- a run ------------------------------------------------------------------------------------------------------------
static void a_latency_is_of_its_own_items(void **state)
{
    (void)state;
    json_t *run = run_of("ada", 1);
    json_t *latency = fixture_item(run, "latencies", 0);
    fixture_set(latency, "items", json_integer(50));
    fixture_set(latency, "k", json_integer(13));
    fixture_set(latency, "eligible", json_integer(0));
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    const char *page = run_page(last.sequence);
    assert_shows(page, "Right answers in the same pass: 26.00%");
    assert_hides(page, "0.13%");
}

// ---- how to begin -----------------------------------------------------------------------------------------------------
static void an_empty_board_says_what_leads_onto_it(void **state)
{
    (void)state;
    const char *page = page_of(page_board, "/", "cifar10", "training-time", NULL);
    assert_shows(page, "dawn train cifar10 --cost-per-hour PRICE");
    assert_shows(page, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
    assert_hides(page, "--instance");
    assert_hides(page, "dawn infer");
    page = page_of(page_board, "/", "cifar10", "inference-cost", "rank=group");
    assert_shows(page, "dawn train cifar10 --runs 5");
    assert_shows(page, "dawn infer cifar10 --latency");
    page = page_of(page_board, "/", "squad", "training-time", NULL);  // nothing of DAWN's trains it
    assert_hides(page, "dawn train");
    assert_shows(page, "also with a program of your own");
    page = page_of(page_board, "/", "demo", "training-time", NULL);
    assert_shows(page, "dawn train cifar10 --data synthetic --cost-per-hour");
    static const char *const never[][2] = {
        {"training-time", "rank=group"}, {"inference-latency", NULL}, {"inference-cost", "rank=group"}};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        page = page_of(page_board, "/", "demo", never[i][0], never[i][1]);
        assert_shows(page, "this board stays empty");
        assert_hides(page, "Be the first");
        assert_hides(page, "dawn train");
    }
    page = page_of(page_home, "/", NULL, NULL, NULL);
    assert_shows(page, "dawn submit --dry-run --handle YOUR-NAME");
    assert_shows(page, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
}

static void the_demonstration_has_no_target_of_its_own(void **state)
{
    (void)state;
    assert_shows(page_of(page_task, "/", "cifar10", NULL, NULL), "at least 94.00%");
    const char *page = page_of(page_task, "/", "demo", NULL, NULL);
    assert_shows(page, "<dt>Target</dt><dd>each run&#39;s own</dd>");
    assert_hides(page, "94.00%");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_latency_is_of_its_own_items),
        TEST(an_empty_board_says_what_leads_onto_it),
        TEST(the_demonstration_has_no_target_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
