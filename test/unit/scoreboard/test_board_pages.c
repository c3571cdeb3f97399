// SPDX-License-Identifier: Apache-2.0
// Pages of runs and groups as they come out of a record: figures, words and links, for statements that tests signed.
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_page.h"

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/pages/run/page_run.h"

// A page's text, lent until the next call.
static const char *page_of(handler *run, const char *address, const char *word0, const char *word1, const char *query)
{
    OK(ask_page(run, (struct request){.path = address, .query = query, .word = {word0, word1}}));
    return answer.body.at;
}

static const char *run_page(int64_t sequence)
{
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)sequence);
    return page_of(page_run, "/runs/1", id, NULL, NULL);
}

// ---- a run ------------------------------------------------------------------------------------------------------------
TEST_WITH(a_latency_is_of_its_own_items, set_up, end)
{
    json_t *run = run_of("ada", 1);
    json_t *latency = fixture_item(run, "latencies", 0);
    fixture_edit(latency, "'items': 50, 'k': 13, 'eligible': 0");
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    const char *page = run_page(last.sequence);
    assert_shows(page, "Correct answers in the same pass: 26.00%");
    assert_hides(page, "0.13%");
}

TEST_WITH(a_run_has_two_costs_and_says_which_ranks, set_up, end)
{
    json_t *run = run_of("ada", 1);
    int64_t hour = 36000000;  // a cent per second
    fixture_set(run, "price.micro_usd_per_hour", json_integer(hour));
    fixture_edit(run, "'price.instance': '', 'price.source': 'user'");
    fixture_follow(run);
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    struct entries cost = board_of(BOARD_TRAINING_COST, RANK_CLASSIC);
    char ranked[BOARD_VALUE], shown[200];
    board_value(BOARD_TRAINING_COST, cost.at[0].value, ranked);
    const char *page = run_page(last.sequence);
    snprintf(shown, sizeof shown, "<dt>Cost<small>classic clock x price, used for ranking</small></dt><dd>%s<", ranked);
    assert_shows(page, shown);
    assert_shows(page, "<dt>Cost, end-to-end<small>");
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    page = page_of(page_compare, "/compare", NULL, NULL, "run=1&run=2");
    snprintf(shown, sizeof shown, "<th scope=\"row\" role=\"rowheader\">Cost, classic</th><td role=\"cell\">%s<", ranked);
    assert_shows(page, shown);
    assert_shows(page, "<th scope=\"row\" role=\"rowheader\">Cost, end-to-end</th>");
}

static json_t *run_with_energy(const char *handle, int number, int64_t joules)
{
    json_t *run = run_of(handle, number);
    fixture_set(run, "reached.energy_uj", json_integer(joules * 1000000));
    fixture_set(run, "energy_uj", json_integer(joules * 1100000));
    fixture_chain(run);
    return run;
}

// Joules to the target are a column, an order and a filter; a board without any has no such column.
TEST_WITH(energy_is_shown_where_it_is_known, set_up, end)
{
    static const char head[] = ">Energy\xc2\xa0<svg", address[] = "/boards/cifar10/training-time";
    int faults;
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_hides(page_of(page_board, address, "cifar10", "training-time", "rank=classic"), head);
    assert_int_equal(hand_in(run_with_energy("ada", 2, 4000), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_with_energy("bob", 3, 2500), &bob), PROBLEM_NONE);
    const char *page = page_of(page_board, address, "cifar10", "training-time", "rank=classic&sort=energy");
    assert_shows(page, head);
    assert_true(strstr(page, ">2.50 kJ<") < strstr(page, ">4.00 kJ<"));
    assert_shows(strstr(page, ">4.00 kJ<"), "<div data-label=\"Energy\"><span class=\"quiet\">-</span>");  // not known: last
    page = page_of(page_board, address, "cifar10", "training-time", "rank=classic&energy_max=3000");
    assert_shows(page, "<b>1</b> entry");
    assert_shows(page, "Joules at most: <bdi>3000</bdi>");
    assert_hides(page, "4.00 kJ");
    assert_hides(page_of(page_board, "/", "cifar10", "inference-latency", "rank=classic"), "energy");
    assert_shows(page_of(page_csv, "/", "cifar10", "training-time", "rank=classic&energy_max=3000"), ",2500,0,,,0\r\n");
    page = run_page(2);
    assert_shows(page, "<dt>Energy<small>to the same evaluation, as counters said</small></dt><dd>4.00 kJ<");
    assert_shows(page, "4.40 kJ, as far as it could be read");
    page = page_of(page_compare, "/compare", NULL, NULL, "run=2&run=3");
    assert_shows(page, "Energy to the target</th><td role=\"cell\">4.00 kJ</td><td role=\"cell\">2.50 kJ<small class=\"delta\">");
    assert_int_equal(store_check(store, NULL, NULL, &faults), 0);
    assert_int_equal(faults, 0);
}

TEST_WITH(headings_say_whose_and_what, set_up, end)
{
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    const char *page = run_page(1);
    assert_shows(page, "<title>94% in 1 min 33 s on 16 threads of Test CPU (run 1) - ");
    assert_shows(page, "<p class=\"lead\"><bdi>airbench</bdi> by <a href=\"/people/ada\"><bdi>ada</bdi></a> (run 1)</p>");
    assert_shows(page, "<li><a href=\"/boards/cifar10\"><bdi>CIFAR10</bdi></a></li><li aria-current=\"page\"><bdi>Run 1<");
    assert_hides(page, "from start to end");
    assert_true(strstr(page, "id=\"c-curve") < strstr(page, "<dl class=\"headline\">"));  // the curve comes first
    assert_shows(page, "<bdi>target met after 1 min ");
    assert_shows(page, "<title>other: below 0.1%");  // process and checkpoint, less than a thousandth each
    assert_hides(page, "<title>checkpoint: ");
}

TEST_WITH(an_amendment_shows_what_it_says, set_up, end)
{
    char digest[DIGEST_HEX];
    hand_in_one(digest);
    json_t *amend = about("amend", digest);
    json_object_del(amend, "note");
    fixture_set(amend, "tags", json_pack("[s, s]", "gpu", "quick"));
    fixture_edit(amend, "'code_url': 'https://example.org/x', 'team': ''");
    assert_int_equal(hand_in(amend, &ada), PROBLEM_NONE);
    const char *page = run_page(last.sequence);
    assert_shows(page, "<title>Amendment of run 1 (statement 2) - ");
    assert_shows(page, "<h1>Amendment of run 1 (statement 2)</h1>");
    assert_shows(page, "<dt>About</dt><dd><a href=\"/runs/1\">run 1</a>");
    assert_hides(page, digest);
    assert_shows(page, "checks the signature and the receipt");
    assert_shows(page, "<dt>Tags, from now on</dt><dd><bdi>gpu quick</bdi>");
    assert_shows(page, "<dt>Code, from now on</dt><dd><bdi>https://example.org/x</bdi>");
    assert_shows(page, "<dt>Team, from now on</dt><dd><span class=\"quiet\">none</span>");
    assert_hides(page, "code_url");
    assert_hides(page, "<dt>Note");
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    page = run_page(last.sequence);
    assert_shows(page, "<h1>Withdrawal of run 1 (statement 3)</h1>");
    assert_shows(page, "<dt>About</dt><dd><a href=\"/runs/1\">run 1</a>");
    assert_shows(page, "<dt>Reason</dt><dd><bdi>a mistake</bdi>");
}

TEST_WITH(a_recorded_run_s_build_is_the_recorder_s, set_up, end)
{
    json_t *run = run_of("ada", 1);
    assert_int_equal(hand_in(json_deep_copy(run), &ada), PROBLEM_NONE);
    assert_hides(run_page(1), "Recorder");
    json_decref(run);
    run = run_of("ada", 2);
    fixture_edit(run, "'division': 'open', 'evaluated_by': 'self'");
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    const char *page = run_page(2), *program = strstr(page, "<h3>Program</h3>"), *recorder = strstr(page, "<h3>Recorder (DAWN)");
    assert_true(program != NULL && recorder != NULL && program < recorder);
    assert_true(strstr(page, "<dt>Precision</dt>") < recorder && strstr(page, "<dt>Commit</dt>") > recorder);
    assert_true(strstr(page, "<dt>Compiler</dt>") > recorder);
    static const char mark[] = "<small>self-evaluated</small>";
    page = page_of(page_board, "/boards/cifar10/training-time", "cifar10", "training-time", "trust=imported");
    const char *first = strstr(page, mark);
    assert_true(first != NULL && strstr(first + 1, mark) == NULL);  // on its row, and on no other
    assert_hides(page_of(page_board, "/boards/cifar10/training-time", "cifar10", "training-time", "trust=checked"), mark);
}

TEST_WITH(a_key_says_what_ended_it, set_up, end)
{
    char id[2][SSHKEY_ID], words[300];
    struct acceptance done;
    sshkey_id(&ada.key, id[0]);
    sshkey_id(&eve.key, id[1]);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_shows(page_of(page_person, "/", "ada", NULL, NULL), "In use since <a href=\"/runs/1\">statement 1</a></p>");
    assert_int_equal(hand_in_at(rotate_to(&eve, "ada"), &ada, &eve, FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(store_revoke(store, id[1], "lost", FIXTURE_NOW_MS, &done), 0);
    free(done.receipt);
    const char *page = page_of(page_person, "/", "ada", NULL, NULL);
    snprintf(words, sizeof words, "; replaced by <span class=\"digest\">%s</span> (<a href=\"/runs/2\">statement 2</a>)", id[1]);
    assert_shows(page, words);
    assert_shows(page, "introduced by <a href=\"/runs/2\">statement 2</a>; <strong>revoked</strong> "
                       "(<a href=\"/runs/3\">statement 3</a>): <q><bdi>lost</bdi></q></p>");
    page = run_page(3);  // nobody's: the server's own
    assert_shows(page, "<h1>Revocation of a key (statement 3)</h1>");
    assert_shows(page, "<dt>Author</dt><dd>this server</dd>");
    assert_shows(page, "-I test -n revoke-v1@dawn");
    snprintf(words, sizeof words, "<dt>Key</dt><dd><span class=\"digest\">%s</span>", id[1]);
    assert_shows(page, words);
    assert_hides(page, "href=\"/people/\"");
    assert_hides(page_of(page_log, "/log", NULL, NULL, NULL), "href=\"/people/\"");
    assert_shows(run_page(2), "<dt>New key</dt>");
}

// A run that failed does not look like others in lists, nor one whose key was revoked since.
TEST_WITH(what_became_of_runs_and_keys_is_shown, set_up, end)
{
    char id[SSHKEY_ID];
    json_t *failed = run_of("ada", 1);
    json_object_del(failed, "reached");
    json_object_del(json_object_get(failed, "price"), "total_micro_usd");
    fixture_set(failed, "points", json_array());
    fixture_set(failed, "status", json_string("failed"));
    fixture_set(failed, "note", json_string("\"status\":\"interrupted\""));
    fixture_chain(failed);
    assert_int_equal(hand_in(failed, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    const char *page = page_of(page_log, "/log", NULL, NULL, NULL);
    assert_shows(page, ">failed</td>");
    assert_hides(page, "<td>interrupted</td>");
    assert_hides(page_of(page_run, "/", "2", NULL, NULL), "revoked later");
    json_t *revoke = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", "test", "key",
                               sshkey_id(&ada.key, id), "reason", "stolen", "made_ms", (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(hand_in(revoke, &ada), PROBLEM_NONE);
    assert_shows(page_of(page_run, "/", "2", NULL, NULL), "revoked later</strong> by <a href=\"/runs/3\">");
}

// ---- a group ----------------------------------------------------------------------------------------------------------
TEST_WITH(an_official_group_as_rows, set_up, end)
{
    hand_in_a_group();
    for (int i = 0; i < BOARDS; i++) {
        char mean[BOARD_VALUE + 16];
        struct entries rows = board_of((enum board)i, RANK_GROUP);
        const char *page = page_of(page_board, "/", "cifar10", board_word((enum board)i), "rank=group");
        snprintf(mean, sizeof mean, "<strong>%.40s</strong>", board_value((enum board)i, rows.at[0].value, mean + 8));
        assert_shows(page, "<b>1</b> entry");
        assert_shows(page, "href=\"/groups/" FIXTURE_GROUP "\"");
        assert_shows(page, "95% interval of the mean of 5 runs; p &lt; 0.01\">");
        // Of the last evaluations, not of the first that met the target; a latency's own.
        assert_shows(page, i == BOARD_TRAINING_TIME || i == BOARD_TRAINING_COST ? "94.53%" : "94.50%");
    }
    const char *page = page_of(page_home, "/", NULL, NULL, NULL);
    assert_shows(page, "href=\"/groups/" FIXTURE_GROUP "\"");
    assert_shows(page, "href=\"/boards/cifar10/training-time/history?rank=group\"");
    page = page_of(page_task, "/", "cifar10", NULL, NULL);
    assert_shows(page, "<small>mean of 5 runs</small>");
    assert_shows(page_of(page_board, "/", "cifar10", "training-time", NULL), "p &lt; 0.01");  // groups first
    page = page_of(page_board, "/", "cifar10", "training-time", "rank=classic");
    assert_hides(page, "p &lt; 0.01");  // its runs alone
}

TEST_WITH(an_official_group_as_a_page, set_up, end)
{
    hand_in_a_group();
    const char *page = page_of(page_group, "/", FIXTURE_GROUP, NULL, NULL);
    assert_shows(page, "<h1><bdi>94.53% in 2 min 03 s, the mean of 5 runs, on 16 threads of Test CPU</bdi></h1>");
    assert_shows(page, "<strong>Official:</strong>");
    assert_shows(page, "<dd>5 of 5</dd>");
    assert_shows(page, "<small>end-to-end, whole schedule; 95% interval 2 min 0");
    assert_shows(page, "<small>top-1 accuracy, of the last evaluations; 95% interval 94.5");
    assert_shows(page, "; standard deviation 0.0");
    assert_shows(page, "</small></dt><dd>94.53%");
    assert_shows(page, "run 3 of the group: 94.53%");
    assert_shows(page, "class=\"level level-0\"");
    assert_shows(page, "class=\"level level-1\"");
    assert_hides(page, ">1.2<");  // there is no such run
    assert_hides(page, ">1.5<");
    for (int i = 1; i <= 5; i++) {
        char row[80];
        snprintf(row, sizeof row, "<th scope=\"row\">%d</th><td><a href=\"/runs/%d\">", i, i);
        assert_shows(page, row);
    }
    assert_hides(page, "announced, and not reported");
    char digest[DIGEST_HEX];
    struct stored stored;
    assert_int_equal(store_statement(reader, "2", &arena, &stored), 0);
    snprintf(digest, sizeof digest, "%s", stored.digest);
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    page = page_of(page_group, "/", FIXTURE_GROUP, NULL, NULL);
    assert_shows(page, "<strong>Not official:</strong>");
    assert_shows(page, "<td>withdrawn</td>");
}

// ---- feeds and files --------------------------------------------------------------------------------------------------
TEST_WITH(names_in_a_feed_outlive_a_rebuilt_record, set_up, end)
{
    hand_in_a_group();
    const char *feed = page_of(page_atom_task, "/boards/cifar10/feed.atom", "cifar10", NULL, NULL);
    assert_shows(feed, "<id>tag:test,2026:cifar10/group%20" FIXTURE_GROUP "</id>");
    assert_shows(feed, "href=\"http://THIS-SITE/groups/" FIXTURE_GROUP "\"");
    assert_shows(feed, "<category term=\"checked\"/>");
    assert_null(strstr(strstr(feed, "<entry>") + 1, "<entry>"));  // five runs and their group, sent together
}

TEST_WITH(what_is_not_known_is_an_empty_cell, set_up, end)
{
    struct dawnbench_entry *e;
    static const char json[] = "{\"version\": \"v1.0\", \"author\": \"A\", \"framework\": \"F\", \"model\": \"M\", "
                               "\"hardware\": \"a machine\", \"timestamp\": \"2018-01-01\"}",
                      tsv[] = "epoch\thours\ttop1Accuracy\n1\t1\t94.5\n";
    assert_int_equal(dawnbench_read(contest_find("cifar10"), true, "x", json, strlen(json), tsv, strlen(tsv), &e), 0);
    assert_int_equal(store_import(store, (const struct dawnbench_entry *const[]){e}, 1, FIXTURE_NOW_MS), 0);
    dawnbench_free(e);
    const char *csv = page_of(page_csv, "/boards/cifar10/training-time.csv", "cifar10", "training-time", "trust=imported");
    assert_string_equal(answer.file_name, "cifar10-training-time.csv");
    assert_shows(csv, ",value,unit,low,high,cost,accuracy,p,runs,");
    assert_shows(csv, ",3600,s,3600,3600,,0.945,,1,");
    assert_shows(csv, ",sequence,devices,views,flags,self_evaluated,energy,objections_upheld,drawn_waits_ms,"
                      "repeated_epoch_micro,repeated_differs\r\n");
    assert_shows(csv, ",,,,0,0,,0,,,0\r\n");
}

TEST_WITH(f1_is_no_percentage, set_up, end)
{
    struct dawnbench_entry *e;
    static const char json[] = "{\"version\": \"v1.0\", \"author\": \"A\", \"framework\": \"F\", \"model\": \"M\", "
                               "\"hardware\": \"a machine\", \"timestamp\": \"2018-01-01\"}",
                      tsv[] = "epoch\thours\tf1Score\n1\t1\t0.5\n2\t2\t0.7612\n";
    assert_int_equal(dawnbench_read(contest_find("squad"), true, "x", json, strlen(json), tsv, strlen(tsv), &e), 0);
    assert_int_equal(store_import(store, (const struct dawnbench_entry *const[]){e}, 1, FIXTURE_NOW_MS), 0);
    dawnbench_free(e);
    const struct request request = {
        .path = "/", .word = {"SQuAD", "train", "x"}, .store = store, .reader = reader};
    assert_int_equal(page_archive(&request, &answer), 0);
    assert_shows(answer.body.at, ">0.7<");  // of the axis
    assert_hides(answer.body.at, "%</text>");
    assert_shows(page_of(page_board, "/", "squad", "training-time", "trust=imported"), ">0.7612</div>");
    char score[TEXT_FIGURE];
    assert_string_equal(page_score_text(contest_find("squad"), 0.7612, score), "0.7612");
    assert_string_equal(page_score_text(contest_find("cifar10"), 0.7612, score), "76.12%");
    assert_true(shown_score(contest_find("squad"), 0.75) == 0.75 && shown_score(contest_find("cifar10"), 0.75) == 75);
}

TEST_WITH(scores_are_cut_off, set_up, end)
{
    char into[TEXT_FIGURE];
    const struct contest *cifar = contest_find("cifar10"), *squad = contest_find("squad");
    assert_string_equal(page_score_text(cifar, 46499.0 / 50000, into), "92.99%");
    assert_string_equal(page_score_text(cifar, 0.94, into), "94.00%");
    assert_string_equal(page_score_text(cifar, 9417.0 / 10000, into), "94.17%");
    assert_string_equal(page_score_text(squad, 0.749999, into), "0.7499");
    for (int k = 0; k <= 10000; k++) {
        char wanted[TEXT_FIGURE];
        snprintf(wanted, sizeof wanted, "%d.%02d%%", k / 100, k % 100);
        assert_string_equal(page_score_text(cifar, k / 10000.0, into), wanted);
    }
}

TEST_WITH(one_is_no_plural, set_up, end)
{
    assert_int_equal(hand_in(group_run_of("ada", 1, 1), &ada), PROBLEM_NONE);
    const char *page = page_of(page_log, "/log", NULL, NULL, NULL);
    assert_shows(page, "<b>1</b> statement: <b>1</b> run alone or in <b>1</b> group, by <b>1</b> person.");
    assert_shows(page_of(page_home, "/", NULL, NULL, NULL),
                 "<b>1</b> signed run by <b>1</b> person, and <b>0</b> imported entries.");
    json_t *run = run_of("ada", 2);
    fixture_set(fixture_item(run, "latencies", 0), "threads", json_integer(1));
    assert_int_equal(hand_in(run, &ada), PROBLEM_NONE);
    assert_shows(run_page(last.sequence), "1 thread: 10,000 items one at a time");
}

// ---- order of rows ----------------------------------------------------------------------------------------------------
// A quick self-evaluated run, a flagged one, an entry of the archive and a checked run: the last is the record.
TEST_WITH(only_checked_figures_are_headlines, set_up, end)
{
    struct dawnbench_entry *e;
    static const char json[] = "{\"version\": \"v1.0\", \"author\": \"Old\", \"framework\": \"F\", \"model\": \"M\", "
                               "\"hardware\": \"old V100\", \"timestamp\": \"2018-01-01\"}",
                      tsv[] = "epoch\thours\ttop1Accuracy\n1\t0.0001\t94.5\n";
    json_t *self = run_of("bob", 1), *flagged = run_of("eve", 2);
    fixture_edit(self, "'division': 'open', 'evaluated_by': 'self'");
    fixture_set(flagged, "software.dirty", json_integer(1));
    assert_int_equal(hand_in(self, &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(flagged, &eve), PROBLEM_NONE);
    assert_int_equal(dawnbench_read(contest_find("cifar10"), true, "x", json, strlen(json), tsv, strlen(tsv), &e), 0);
    assert_int_equal(store_import(store, (const struct dawnbench_entry *const[]){e}, 1, FIXTURE_NOW_MS), 0);
    dawnbench_free(e);
    const char *page = page_of(page_board, "/", "cifar10", "training-time", NULL);
    assert_shows(page, "No checked run yet.");
    assert_shows(page, "?rank=classic&amp;trust=imported\">Show 3 more entries</a>");
    assert_shows(page_of(page_task, "/", "cifar10", NULL, NULL), "old V100");
    page = page_of(page_home, "/", NULL, NULL, NULL);
    assert_hides(page, "bob");
    assert_shows(page, "aria-label=\"Record over time: 1 from 0.36 s to 0.36 s\"");
    assert_shows(page, "old V100");  // the archive leads, in grey, until a checked entry does
    assert_hides(page, "<tr role=\"row\" class=\"\">");
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_NONE);
    static const char *const others[] = {">bob<", ">eve<", ">Old<"};
    page = page_of(page_home, "/", NULL, NULL, NULL);
    assert_shows(page, "<tr role=\"row\" class=\"\">");
    assert_true(strstr(page, "href=\"/boards/cifar10\"") < strstr(page, "No checked entry yet"));  // tasks with a leader first
    for (size_t o = 0; o < 3; o++) assert_hides(page, others[o]);
    const struct {
        handler *run;
        const char *word[2];
    } views[] = {{page_task, {"cifar10"}}, {page_board, {"cifar10", "training-time"}},
                 {page_history, {"cifar10", "training-time"}}, {page_board, {"cifar10", "inference-latency"}},
                 {page_pareto, {"cifar10"}}, {page_csv, {"cifar10", "training-time"}}};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        page = page_of(views[i].run, "/", views[i].word[0], views[i].word[1], NULL);
        assert_shows(page, views[i].run == page_csv ? ",ada," : ">ada<");
        for (size_t o = 0; o < 3; o++) assert_hides(page, others[o]);
        if (views[i].run != page_csv) assert_shows(page, "trust=imported\"");  // one click away
        page = page_of(views[i].run, "/", views[i].word[0], views[i].word[1], "trust=imported");
        assert_shows(page, views[i].run == page_csv ? ",Old," : i == 3 || i == 4 ? ">eve<" : ">Old<");
    }
    page = page_of(page_board, "/", "cifar10", "training-time", NULL);
    assert_shows(page, "<tr role=\"row\" class=\"first\"><td role=\"cell\" class=\"place\"><div data-label=\"Place\">1</div>");
    page = page_of(page_board, "/", "cifar10", "training-time", "trust=imported");
    assert_shows(page, "<div data-label=\"Place\">4</div>");
    assert_shows(page, "<tr role=\"row\" class=\"unchecked\">");
    assert_hides(page, "class=\"first\"");
    page = run_page(1);
    assert_shows(page, " of all entries</td>");
    assert_hides(run_page(3), " of all entries</td>");
}

// ---- how to begin -----------------------------------------------------------------------------------------------------
TEST_WITH(an_empty_board_says_what_leads_onto_it, set_up, end)
{
    const char *page = page_of(page_board, "/", "cifar10", "training-time", NULL);
    assert_shows(page, "dawn train cifar10 --cost-per-hour PRICE");
    assert_shows(page, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
    assert_hides(page, "--instance");
    assert_hides(page, "dawn infer");
    page = page_of(page_board, "/", "cifar10", "inference-cost", "rank=group");
    assert_shows(page, "dawn train cifar10 --runs 5");
    assert_shows(page, "dawn infer cifar10 --latency");
    page = page_of(page_board, "/", "squad", "training-time", NULL);
    assert_shows(page, "dawn train squad --cost-per-hour PRICE");
    page = page_of(page_board, "/", "gpt-char", "training-time", NULL);
    assert_shows(page, "dawn data fetch shakespeare\ndawn train gpt-char --cost-per-hour PRICE");
    page = page_of(page_board, "/", "fineweb-gpt", "training-time", NULL);
    assert_shows(page, "dawn train fineweb-gpt --data FOLDER --cost-per-hour PRICE");
    assert_hides(page, "dawn data fetch");
    page = page_of(page_board, "/", "demo", "training-time", NULL);
    assert_shows(page, "dawn train cifar10 --data synthetic --cost-per-hour");
    static const char *const never[][2] = {
        {"inference-latency", NULL}, {"inference-cost", "rank=group"}};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        page = page_of(page_board, "/", "demo", never[i][0], never[i][1]);
        assert_shows(page, "data that the program drew itself");  // texts, too
        assert_shows(page, "this board stays empty");
        assert_hides(page, "Be the first");
        assert_hides(page, "dawn train");
    }
    page = page_of(page_board, "/", "demo", "training-time", "rank=group");
    assert_shows(page, "dawn train cifar10 --data synthetic --runs 5");
    page = page_of(page_home, "/", NULL, NULL, NULL);
    assert_shows(page, "dawn submit --dry-run --handle YOUR-NAME");
    assert_shows(page, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
}

TEST_WITH(a_document_has_its_contents, set_up, end)
{
    const char *page = page_of(page_rules, "/rules", NULL, NULL, NULL);
    assert_shows(page, "<li><a href=\"#groups-the-official-result\">Groups: the official result</a></li>");
}

TEST_WITH(the_demonstration_has_a_target, set_up, end)
{
    assert_shows(page_of(page_task, "/", "cifar10", NULL, NULL), "at least 94.00%");
    assert_shows(page_of(page_task, "/", "demo", NULL, NULL), "at least 94.00%");
}
