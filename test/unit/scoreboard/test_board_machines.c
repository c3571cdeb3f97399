// SPDX-License-Identifier: Apache-2.0
// Measurements on the scoreboard: who may submit one, once; the pages and the JSON of their machine; withdrawals; and the check
// of the record.
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_page.h"

#include "scoreboard/api/api.h"
#include "scoreboard/pages/page.h"
#include "scoreboard/rank/ranking.h"
#include "scoreboard/routes.h"
#include "test/unit/fixture_bench.h"

#include <sqlite3.h>

static const char *page_of(handler *run, const char *word)
{
    const struct server_settings settings = {.routes = route_table, .url = "https://runs.example"};
    if (ask_page(run, (struct request){.path = "/", .word = {word}, .settings = &settings}) < 0) fail_msg("%s", error_text());
    return answer.body.at;
}

static int ask(handler *run, const char *word)
{
    const struct server_settings settings = {.routes = route_table, .url = "https://runs.example"};
    return ask_page(run, (struct request){.path = "/", .word = {word}, .settings = &settings});
}

TEST_WITH(machines_have_words, set_up, end)
{
    static const char *const cases[][3] = {
        {"NVIDIA H200", "nvidia-h200", "NVIDIA H200"},
        {"8 x NVIDIA H200", "nvidia-h200", "NVIDIA H200"},
        {"AMD EPYC 9R14, 2 threads", "amd-epyc-9r14", "AMD EPYC 9R14"},
        {"nvidia h200", "nvidia-h200", "nvidia h200"},
    };
    static const char *const alike[] = {  // the same letters, but never the same name
        "Intel Xeon 2 00GHz", "Intel(Xeon) @ 2.00GHz", "Intel-Xeon 2.00GHz", "Intel Xeon  2 00GHz", "Intel Xeon 2 00GHz ",
        "Intel Xeon 2.00GHz", "Int\xc3\xa9l Xeon 2 00GHz", "\xd0\x86ntel Xeon 2 00GHz",
    };
    char word[RANKING_MACHINE], other[RANKING_MACHINE], name[RANKING_MACHINE_NAME], large[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(ranking_machine(cases[i][0], word), cases[i][1]);
        assert_string_equal(ranking_machine_name(cases[i][0], name), cases[i][2]);
        assert_string_equal(ranking_machine_plain(cases[i][0], other), word);
    }
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        for (size_t n = 0; n < i; n++) assert_string_not_equal(ranking_machine(alike[i], word), ranking_machine(alike[n], other));
        // Nor can a name of letters alone be made to have the word of another name.
        if (i > 0) assert_non_null(strstr(ranking_machine(alike[i], word), "--"));
    }
    assert_string_equal(ranking_machine_name("Intel(R) Xeon(R) @ 2.00GHz, 1 thread", name), "Intel(R) Xeon(R) @ 2.00GHz");
    assert_int_equal(strncmp(ranking_machine("Intel(R) Xeon(R) @ 2.00GHz, 1 thread", word), "intel-r-xeon-r-2-00ghz--", 24), 0);
    assert_string_equal(ranking_machine("intel(r) xeon(r) @ 2.00GHz, 16 threads", other), word);
    assert_string_equal(ranking_machine_plain("A machine, of 2 sockets", word), "a-machine-of-2-sockets");
    assert_string_equal(ranking_machine_name("A machine, of 2 sockets", name), "A machine, of 2 sockets");
    assert_string_not_equal(ranking_machine("龍", word), ranking_machine("鳳", other));
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    assert_true(strlen(ranking_machine(large, word)) < sizeof word);
    large[100] = 'y';
    assert_string_not_equal(word, ranking_machine(large, other));
}

TEST_WITH(a_measurement_is_taken_once, set_up, end)
{
    assert_int_equal(hand_in(fixture_bench("ada", 1), &ada), PROBLEM_NONE);  // the first that the key ever signed
    assert_int_equal(last.sequence, 1);
    assert_false(last.again);
    assert_int_equal(hand_in(fixture_bench("ada", 1), &ada), PROBLEM_NONE);
    assert_true(last.again);
    assert_int_equal(hand_in(fixture_bench("bob", 1), &bob), PROBLEM_CONFLICT);
    assert_non_null(strstr(last.detail, "has been submitted as statement 1"));
    assert_int_equal(hand_in(fixture_bench("ada", 2), &bob), PROBLEM_HANDLE);
    assert_int_equal(hand_in(fixture_bench("eve", 2), &ada), PROBLEM_KEY_TAKEN);
    assert_int_equal(hand_in(fixture_bench("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(last.sequence, 2);
    json_t *fast = fixture_bench("ada", 3);
    fixture_set_setting(fast, 1, "step_ns", json_integer(1000000));
    assert_int_equal(hand_in(fast, &ada), PROBLEM_CHECKS);
    json_t *flagged = fixture_bench("ada", 3);
    fixture_set(flagged, "software.dirty", json_integer(1));
    assert_int_equal(hand_in(flagged, &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);
    json_t *superlinear = fixture_scaling("ada", 4);
    json_object_set_new(fixture_item(superlinear, "scaling", 0), "step_ns", json_integer(70000000));
    assert_int_equal(hand_in(superlinear, &ada), PROBLEM_NONE);
    assert_string_equal(check_code(last.findings.at[0].check), "superlinear");
    assert_shows(page_of(page_run, "4"), "Flag: superlinear.</strong> <bdi>scaling 1: an efficiency of ");
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 0);  // on no board
    assert_whole();
}

TEST_WITH(a_machine_has_a_page, set_up, end)
{
    assert_shows(page_of(page_machines, NULL), "Nothing yet");
    assert_int_equal(ask(page_machine, "test-cpu"), ERR_MISSING);
    assert_int_equal(hand_in(run_of("bob", 7), &bob), PROBLEM_NONE);
    assert_shows(page_of(page_machine, "test-cpu"), "Nobody has submitted a measurement");
    assert_shows(answer.body.at, "href=\"/runs/1\"");
    assert_shows(page_of(page_run, "1"), "<a href=\"/machines/test-cpu\"><bdi>Test CPU, ");
    json_t *flagged = fixture_bench("ada", 1);
    fixture_set(flagged, "software.dirty", json_integer(1));
    fixture_set_setting(flagged, 0, "accepted", json_integer(3));
    fixture_set_setting(flagged, 0, "fusion", json_integer(0));
    fixture_set_setting(flagged, 0, "energy_uj", json_integer(640000));
    assert_int_equal(hand_in(flagged, &ada), PROBLEM_NONE);
    const char *page = page_of(page_machines, NULL);
    assert_shows(page, "<a href=\"/machines/test-cpu\"><bdi>Test CPU</bdi></a></th><td role=\"cell\" "
                       "data-label=\"Uploads on boards\">1</td><td role=\"cell\" data-label=\"Measurements\">1</td>");
    assert_shows(page, "dawn submit --bench all --server https://runs.example");
    page = page_of(page_machine, "test-cpu");
    assert_shows(page, "Self-measured.");
    assert_shows(page, "<a href=\"/runs/2\">CIFAR10, <bdi>airbench</bdi></a><small><bdi>32 x 32</bdi></small>");
    assert_shows(page, "<b>1280.0</b> <bdi>images</bdi>/s</td>");  // 512 in 0.4 s
    assert_shows(page, "<b>1066.7</b> <bdi>images</bdi>/s<small>not steady</small></td>");
    assert_shows(page, "<small>not fused</small>");
    assert_shows(page, "Test CPU, 16 threads");
    assert_shows(page, "0123456789ab</bdi>");
    assert_shows(page, "<a href=\"/people/ada\">");
    page = page_of(page_run, "2");
    assert_shows(page, "Measurement of CIFAR10, airbench");
    assert_shows(page, "<a href=\"/machines/test-cpu\"><bdi>Test CPU, 16 threads</bdi></a>");
    assert_shows(page, ">0.01 J</td>");
    assert_shows(page, "3 of 7");
    assert_shows(page, "Flag: sources-changed.");
    assert_shows(page, "-n bench-v1@dawn");
    assert_hides(page, "cost board");
    assert_shows(page_of(page_log, NULL), ">bench</td>");
    assert_shows(page_of(page_person, "ada"), ">bench</td>");
}

// Somebody measures under a name with the same letters: another page. The page of a name is called as its first statement says.
static json_t *bench_on(const char *handle, int number, const char *cpu)
{
    json_t *bench = fixture_bench(handle, number);
    fixture_set(bench, "hardware.cpu", json_string(cpu));
    return bench;
}

TEST_WITH(a_name_is_a_claim, set_up, end)
{
    char word[RANKING_MACHINE], address[RANKING_MACHINE + 32];
    assert_int_equal(hand_in(bench_on("ada", 1, "Test CPU"), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(bench_on("eve", 2, "Test-CPU"), &eve), PROBLEM_NONE);
    assert_int_equal(hand_in(bench_on("bob", 3, "TEST cpu"), &bob), PROBLEM_NONE);
    const char *page = page_of(page_machine, "test-cpu");
    assert_shows(page, "<h1><bdi>Test CPU</bdi></h1>");
    assert_shows(page, "nobody confirms it");
    assert_shows(page, "\"/runs/1\"");
    assert_shows(page, "\"/runs/3\"");
    assert_hides(page, "\"/runs/2\"");
    ranking_machine("Test-CPU", word);
    page = page_of(page_machine, word);
    assert_shows(page, "<h1><bdi>Test-CPU</bdi></h1>");
    assert_hides(page, "\"/runs/1\"");
    snprintf(address, sizeof address, "href=\"/machines/%s\"", word);
    assert_shows(page_of(page_machines, NULL), address);
    assert_shows(answer.body.at, "nobody confirms them");
    assert_whole();
}

static int ask_part(handler *run, const char *word, const char *query)
{
    const struct server_settings settings = {.routes = route_table, .url = "https://runs.example"};
    return ask_page(run, (struct request){.path = "/", .query = query, .word = {word}, .settings = &settings});
}

// Machines that change while somebody reads the list move to its first page, and shift no other.
TEST_WITH(pages_of_machines_do_not_shift, set_up, end)
{
    struct machines some;
    char seen[64] = "", cpu[16];
    for (int i = 1; i <= 5; i++) {
        snprintf(cpu, sizeof cpu, "CPU %d", i);
        assert_int_equal(hand_in_at(bench_on("ada", i, cpu), &ada, NULL, FIXTURE_NOW_MS + i), PROBLEM_NONE);
    }
    assert_int_equal(store_machines(reader, NULL, 2, &arena, &some), 0);
    for (int number = 6;; number++) {
        for (int i = 0; i < some.count; i++) strcat(strcat(seen, some.at[i].word), " ");
        if (some.next == NULL) break;
        snprintf(cpu, sizeof cpu, "CPU %d", number);
        assert_int_equal(hand_in_at(bench_on("ada", number, cpu), &ada, NULL, FIXTURE_NOW_MS + number), PROBLEM_NONE);
        assert_int_equal(store_machines(reader, some.next, 2, &arena, &some), 0);
    }
    assert_string_equal(seen, "cpu-5 cpu-4 cpu-3 cpu-2 cpu-1 ");
    assert_int_equal(some.total, 7);
}

// What anybody may upload has an end on each page.
TEST_WITH(long_lists_come_in_pages, set_up, end)
{
    char cpu[32], query[48];
    enum { OTHERS = 101 };
    for (int i = 1; i <= OTHERS; i++) {
        snprintf(cpu, sizeof cpu, "CPU %d", i);
        assert_int_equal(hand_in(bench_on("ada", i, cpu), &ada), PROBLEM_NONE);
    }
    for (int i = 1; i <= 55; i++) assert_int_equal(hand_in(fixture_bench("ada", OTHERS + i), &ada), PROBLEM_NONE);
    const char *page = page_of(page_machines, NULL);
    snprintf(query, sizeof query, "before=%lld.cpu-98", (long long)FIXTURE_NOW_MS);  // words of one moment are in their order
    assert_shows(page, query);
    assert_int_equal(ask_part(page_machines, NULL, query), 0);
    assert_shows(answer.body.at, "href=\"/machines\">First page");
    assert_hides(answer.body.at, "Earlier");
    assert_int_equal(ask_part(page_machines, NULL, "before=1.z"), 0);
    assert_shows(answer.body.at, "Nothing more");
    assert_int_equal(ask_part(page_machines, NULL, "before=x.y"), ERR_INPUT);
    assert_int_equal(ask_part(api_machines, NULL, "before=12"), ERR_INPUT);
    assert_int_equal(ask_part(api_machines, NULL, "before=9999999999999999999999999.y"), ERR_INPUT);
    assert_int_equal(ask_part(api_machines, NULL, "after=1"), ERR_INPUT);
    assert_int_equal(ask_part(api_machines, NULL, "before=1.a&before=1.b"), ERR_INPUT);
    json_t *value = json_loads(page_of(api_machines, NULL), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "machines")), 102);
    assert_int_equal(canonical_int(value, "total"), 102);
    assert_true(json_is_null(json_object_get(value, "next")));
    json_decref(value);
    assert_int_equal(ask_part(api_machines, NULL, query), 0);
    value = json_loads(answer.body.at, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "machines")), 2);
    json_decref(value);
    page = page_of(page_machine, "test-cpu");
    assert_shows(page, "href=\"/machines/test-cpu?before=107\">Older");
    assert_shows(page, "\"/runs/107\"");
    assert_hides(page, "\"/runs/106\"");
    assert_int_equal(ask_part(page_machine, "test-cpu", "before=107"), 0);
    assert_shows(answer.body.at, "\"/runs/106\"");
    assert_hides(answer.body.at, "Older");
    value = json_loads(page_of(api_machine, "test-cpu"), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "benches")), 50);
    snprintf(query, sizeof query, "before=%lld", (long long)canonical_int(value, "next"));
    json_decref(value);
    assert_int_equal(ask_part(api_machine, "test-cpu", query), 0);
    value = json_loads(answer.body.at, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "benches")), 5);
    json_decref(value);
}

TEST_WITH(a_scaling_has_a_page, set_up, end)
{
    assert_int_equal(hand_in(fixture_scaling("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.flags, 1);  // nothing bounds its figures
    assert_int_equal(hand_in(fixture_scaling("bob", 1), &bob), PROBLEM_CONFLICT);
    json_t *other = fixture_scaling("bob", 1);
    json_object_set_new(fixture_item(other, "scaling", 2), "step_ns", json_integer(65000000));
    assert_int_equal(hand_in(other, &bob), PROBLEM_NONE);  // other figures of the same moment
    json_t *odd = fixture_scaling("eve", 2);
    json_object_set_new(fixture_item(odd, "scaling", 1), "processes", json_integer(1));
    assert_int_equal(hand_in(odd, &eve), PROBLEM_CHECKS);
    const char *page = page_of(page_machine, "test-cpu");
    assert_shows(page, "data-label=\"Speedup\">2.50</td><td role=\"cell\" data-label=\"Efficiency\">62.5%</td>");
    assert_shows(page, "<b>4000.0</b> <bdi>images</bdi>/s");  // 4 x 64 in 64 ms
    assert_hides(page, "Training steps of one batch");
    page = page_of(page_run, "1");
    assert_shows(page, "Scaling of CIFAR10, airbench (statement 1)");
    assert_shows(page, "Speedup over the number of processes");
    assert_shows(page, "data-label=\"Efficiency\">80.0%</td>");
    assert_whole();
}

TEST_WITH(a_machine_as_json, set_up, end)
{
    assert_int_equal(hand_in(run_of("bob", 7), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(fixture_bench("ada", 1), &ada), PROBLEM_NONE);
    json_t *value = json_loads(page_of(api_machines, NULL), 0, NULL);
    const json_t *line = json_array_get(json_object_get(value, "machines"), 0);
    assert_string_equal(canonical_text(line, "machine"), "test-cpu");
    assert_int_equal(canonical_int(line, "entries"), 1);
    assert_int_equal(canonical_int(line, "benches"), 1);
    json_decref(value);
    value = json_loads(page_of(api_machine, "test-cpu"), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "entries")), 1);
    const json_t *bench = json_array_get(json_object_get(value, "benches"), 0);
    assert_int_equal(canonical_int(bench, "sequence"), 2);
    assert_int_equal(json_array_size(canonical_at(bench, "payload.settings")), 2);
    json_decref(value);
    assert_int_equal(ask(api_machine, "another"), ERR_MISSING);
}

TEST_WITH(a_measurement_can_be_withdrawn, set_up, end)
{
    char digest[DIGEST_HEX], *message = NULL;
    struct text said = {0};
    sqlite3 *db;
    json_t *bench = fixture_bench("ada", 1);
    digest_of(bench, digest);
    assert_int_equal(hand_in(bench, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(fixture_bench("bob", 2), &bob), PROBLEM_NONE);
    assert_int_equal(hand_in(about("amend", digest), &ada), PROBLEM_CONFLICT);
    assert_int_equal(hand_in(about("withdraw", digest), &bob), PROBLEM_NOT_YOURS);
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    json_t *again = about("withdraw", digest);
    fixture_set(again, "reason", json_string("once more"));
    assert_int_equal(hand_in(again, &ada), PROBLEM_CONFLICT);
    const char *page = page_of(page_machine, "test-cpu");
    assert_hides(page, "\"/runs/1\"");
    assert_shows(page, "\"/runs/2\"");
    assert_shows(page_of(page_run, "1"), "<strong>Withdrawn</strong>");
    assert_shows(page_of(page_run, "3"), "Withdrawal of measurement 1 (statement 3)");
    assert_shows(page_of(page_log, NULL), ">withdrawn</td>");
    assert_int_equal(hand_in(fixture_bench("ada", 1), &ada), PROBLEM_NONE);  // the same bytes: the same receipt, and no more
    assert_true(last.again);
    assert_whole();
    close_all();
    open_all();
    assert_shows(page_of(page_machines, NULL), "boards\">0</td><td role=\"cell\" data-label=\"Measurements\">1</td>");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE benches SET withdrawn = 0, machine = 'another' WHERE sequence = 1", NULL, NULL,
                                  &message), SQLITE_OK);
    sqlite3_close(db);
    assert_true(faults_of(&said) > 0);
    assert_non_null(strstr(said.at, "measurement 1 "));
    text_free(&said);
}

static int64_t newest_of_all(struct store *of)
{
    struct machines all;
    struct reader *one;
    assert_int_equal(store_reader(of, &one), 0);
    assert_int_equal(store_machines(one, NULL, 10, &arena, &all), 0);
    assert_int_equal(all.count, 1);
    store_reader_close(one);
    return all.at[0].newest_ms;
}

// The list of machines reads no statement for the moment of a measurement.
TEST_WITH(a_measurement_keeps_its_moment, set_up, end)
{
    assert_int_equal(hand_in_at(fixture_bench("ada", 1), &ada, NULL, FIXTURE_NOW_MS + 5), PROBLEM_NONE);
    assert_int_equal(newest_of_all(store), FIXTURE_NOW_MS + 5);
    do_sql("UPDATE statements SET accepted_ms = 1");
    assert_int_equal(newest_of_all(store), FIXTURE_NOW_MS + 5);
    do_sql("UPDATE benches SET accepted_ms = 2");
    assert_fault("measurement 1 : accepted_ms is \"2\"");
}
