// SPDX-License-Identifier: Apache-2.0
// Exports and pages: exact figures, DAWNBench's columns, and no way from a file's text to the terminal.
#include <sqlite3.h>

#include "runtime/common/base/file.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/training_log.h"
#include "submit/results/export.h"
#include "tasks/tools/show/show.h"
#include "test/unit/test.h"
#include "test/unit/fixture_open.h"

static int64_t one_run(void)
{
    struct run_facts facts = fixture_facts(7, NULL);
    return fixture_run(r, &facts, (const int64_t[]){5123, -1, 9399, 9400}, 4);
}

static void one_latency(int64_t run, int64_t k)
{
    const struct latency_facts f = {.run = run, .weights_digest = DIGEST_C, .task = "cifar10", .model = "airbench",
                                    .precision = "f32", .device = "cpu", .target_micro = 940000, .threads = 1, .items = 10000,
                                    .warmup_items = 100, .model_ns = {900001, 2, 3, 4}, .whole_ns = {912345, 6, 7, 8}, .k = k,
                                    .views = 1, .data = &fixture_data[1], .machine = &fixture_machine,
                                    .software = &fixture_software, .price = &fixture_price};
    int64_t id;
    assert_int_equal(result_latency(r, &f, &id), 0);
}

static char *percent_of(char into[TRAINING_FIGURE], int64_t k, int64_t n)
{
    return training_log_score(into, &(struct run_metric){.name = "top1", .unit = "%", .items = n}, k);
}

TEST_WITH(figures_never_claim_too_much, setup, teardown)
{
    char text[TRAINING_FIGURE];
    assert_string_equal(percent_of(text, 9400, 10000), "94.0000");
    assert_string_equal(percent_of(text, 46999, 50000), "93.9980");
    assert_string_equal(percent_of(text, 2, 3), "66.6666");
    assert_string_equal(percent_of(text, 939999999, 1000000000), "93.9999");
    assert_string_equal(percent_of(text, 7, 7), "100.0000");
    assert_string_equal(training_log_hours(text, 3600 * SECOND), "1.0000000000");
    assert_string_equal(training_log_hours(text, 1), "0.0000000001");
    assert_string_equal(training_log_hours(text, 258 * SECOND), "0.0716666667");
    assert_string_equal(training_log_hours(text, 100000 * 3600 * SECOND), "100000.0000000000");
}

TEST_WITH(json_round_trips_exactly, setup, teardown)
{
    int64_t id = one_run();
    one_latency(id, 9400);
    struct text text = {0};
    assert_int_equal(export_json(r, 0, &text), 0);
    json_t *whole = json_loads(text.at, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(whole);
    const json_t *run = json_array_get(json_object_get(whole, "runs"), 0);
    assert_int_equal(record_int(run, "flops_per_sample"), 123456789);
    assert_int_equal(record_int(run, "energy_uj"), 123456789);
    assert_int_equal(record_int(json_array_get(json_object_get(run, "points"), 3), "t_ns"), 53 * SECOND);
    assert_int_equal(record_int(json_array_get(json_object_get(run, "latencies"), 0), "whole_mean_ns"), 912345);
    assert_null(strstr(text.at, "owner"));
    assert_null(strstr(text.at, "null"));
    json_t *again;
    assert_int_equal(record_read(r, id, &again), 0);
    assert_true(json_equal(run, again));
    json_decref(again);
    json_decref(whole);
    text_free(&text);
}

TEST_WITH(csv_has_a_line_a_row, setup, teardown)
{
    int64_t id = one_run();
    struct text text = {0};
    assert_int_equal(export_csv(r, "points", id, &text), 0);
    assert_memory_equal(text.at, "run,step,epoch_micro,t_ns,classic_ns,warm_ns,warm_with_evaluation_ns,samples,stall_ns,"
                                 "loss_micro,hash\n",
                        102);
    assert_non_null(strstr(text.at, "\n1,25,1000000,17000000000,15000000000,10000000000,12000000000,50000,0,2500000,"));
    assert_non_null(strstr(text.at, "\n1,50,2000000,29000000000,25000000000,20000000000,24000000000,100000,0,1250000,"));
    text_free(&text);
    assert_int_equal(export_csv(r, "scores", id, &text), 0);
    assert_non_null(strstr(text.at, "run,step,metric,score\n1,25,0,5123\n1,75,0,"));  // the second was not evaluated
    text_free(&text);
    assert_int_equal(export_csv(r, "machines", 0, &text), 0);
    assert_non_null(strstr(text.at, ",\"Test CPU, \"\"fast\"\"\",avx2 avx512f,1,4,2,"));
    text_free(&text);
    assert_int_equal(export_csv(r, "runs", 0, &text), 0);
    assert_null(strstr(text.at, "owner"));
    assert_non_null(strstr(text.at, ",\"{\"\"data\"\":{\"\"batch\"\":2000},\"\"schedule\"\":{\"\"epochs\"\":10}}\","));
    text_free(&text);
    for (int i = 0; export_tables[i] != NULL; i++) {
        assert_int_equal(export_csv(r, export_tables[i], 0, &text), 0);
        text_free(&text);
    }
}

static char *slurp(const char *name)
{
    char path[256], *bytes;
    size_t count;
    snprintf(path, sizeof path, "%s/out/CIFAR10/%s", folder, name);
    if (file_read(path, 1 << 20, &bytes, &count) < 0) fail_msg("%s", error_text());
    return bytes;
}

TEST_WITH(dawnbench_gets_its_columns, setup, teardown)
{
    int64_t id = one_run();
    one_latency(id, 9400);
    one_latency(id, 9399);  // not eligible: not exported
    char to[96];
    snprintf(to, sizeof to, "%s/out", folder);
    const struct export_entry entry = {.author = "A. Person", .code_url = "https://example.org/code"};
    struct text written = {0};
    assert_int_equal(export_dawnbench(r, id, to, &entry, &written), 0);
    int files = 0;
    for (const char *c = written.at; *c != 0; c++) files += *c == '\n';
    assert_int_equal(files, 3);
    text_free(&written);
    char *tsv = slurp("train/A--Person_airbench-run1_cpu_dawn.tsv");
    assert_string_equal(tsv, "epoch\thours\ttop1Accuracy\n"
                             "1\t0.0041666667\t51.2300\n"
                             "3\t0.0097222223\t93.9900\n"
                             "4\t0.0125000000\t94.0000\n");
    free(tsv);
    char *json = slurp("train/A--Person_airbench-run1_cpu_dawn.json");
    json_t *o = json_loads(json, 0, NULL);
    assert_string_equal(record_text(o, "version"), "v1.0");
    assert_string_equal(record_text(o, "author"), "A. Person");
    assert_string_equal(record_text(o, "authorEmail"), "");
    assert_string_equal(record_text(o, "codeURL"), "https://example.org/code");
    assert_true(json_number_value(json_object_get(o, "costPerHour")) == 0.34);
    assert_int_equal(strlen(record_text(o, "timestamp")), 10);
    assert_string_equal(record_text(json_object_get(o, "misc"), "evaluatedBy"), "harness");
    json_decref(o);
    free(json);
    json = slurp("inference/A--Person_airbench-run1_cpu_dawn_latency1.json");
    o = json_loads(json, 0, NULL);
    assert_true(json_number_value(json_object_get(o, "latency")) == 0.912345);
    assert_true(json_number_value(json_object_get(o, "top1Accuracy")) == 94.0);
    double cost = json_number_value(json_object_get(o, "cost"));
    assert_true(cost > 8.6165e-8 && cost < 8.6167e-8);  // 0.912345 / 3.6e6 x 0.08925
    json_decref(o);
    free(json);
}

// An outside program has no data sets in the record: nothing can be said of them, and the entry says who evaluated.
TEST_WITH(outside_runs_leave_as_such, setup, teardown)
{
    struct run_facts facts = fixture_facts(7, NULL);
    struct run *run;
    facts.device = "outside", facts.task = "squad", facts.data_count = 0, facts.views = facts.threads = 0;
    facts.metrics = &contest_find("squad")->board;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run);
    assert_int_equal(result_outside(run, "python train.py", "PyTorch 2.4", 1), 0);
    const struct run_point point = fixture_point(1, 750000);
    assert_int_equal(result_point(run, &point), 0);
    assert_int_equal(result_end(run, RUN_DONE, &(struct run_end){0}, NULL), 0);
    char to[96], path[256], *bytes;
    size_t count;
    snprintf(to, sizeof to, "%s/out", folder);
    if (export_dawnbench(r, id, to, &(struct export_entry){0}, NULL) < 0) fail_msg("%s", error_text());
    snprintf(path, sizeof path, "%s/SQuAD/train/dawn_airbench-run1_outside_dawn.tsv", to);
    assert_int_equal(file_read(path, 1 << 16, &bytes, &count), 0);
    assert_string_equal(bytes, "epoch\thours\tf1Score\n1\t0.0041666667\t0.750000\n");
    free(bytes);
    snprintf(path, sizeof path, "%s/SQuAD/train/dawn_airbench-run1_outside_dawn.json", to);
    assert_int_equal(file_read(path, 1 << 16, &bytes, &count), 0);
    json_t *o = json_loads(bytes, 0, NULL);
    const json_t *misc = json_object_get(o, "misc");
    assert_string_equal(record_text(o, "framework"), "PyTorch 2.4");
    assert_string_equal(record_text(misc, "evaluatedBy"), "self");
    assert_false(record_has(misc, "evaluationViews"));  // not known
    assert_null(strstr(record_text(o, "hardware"), "threads"));
    assert_true(record_has(o, "codeURL"));
    json_decref(o);
    free(bytes);
    struct text text = {0};
    assert_int_equal(show_run(r, id, &(struct plain_style){0}, &text), 0);
    assert_non_null(strstr(text.at, "0.7500 F1; target 0.9400"));
    for (const char *zero = text.at; (zero = strstr(zero, " 0 ")) != NULL; zero++) fail_msg("an unstated number: %.40s", zero);
    text_free(&text);
}

TEST_WITH(synthetic_runs_stay_at_home, setup, teardown)
{
    struct run_facts facts = fixture_facts(7, NULL);
    facts.data = fixture_synthetic;
    int64_t id = fixture_run(r, &facts, (const int64_t[]){9900}, 1);
    char to[96];
    snprintf(to, sizeof to, "%s/out", folder);
    assert_fails(export_dawnbench(r, id, to, &(struct export_entry){0}, NULL), ERR_INPUT, "synthetic");
    assert_int_equal(access(to, F_OK), -1);
    facts = fixture_facts(8, NULL);
    id = fixture_run(r, &facts, (const int64_t[]){-1}, 1);
    assert_int_equal(export_dawnbench(r, id, to, &(struct export_entry){0}, NULL), ERR_INPUT);
    const struct plain_style style = {0};
    struct text text = {0};
    assert_int_equal(show_run(r, 1, &style, &text), 0);
    assert_non_null(strstr(text.at, "SYNTHETIC DATA"));
    text_free(&text);
    assert_int_equal(show_list(r, &show_everything, &style, &text), 0);
    assert_non_null(strstr(text.at, "SYNTHETIC"));
    text_free(&text);
}

TEST_WITH(pages_fit_a_terminal, setup, teardown)
{
    struct stopwatch sw;
    stopwatch_start_at(&sw, 0, SEGMENT_PROCESS);
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, SECOND / 10);
    stopwatch_enter_at(&sw, SEGMENT_EVALUATE, 40 * SECOND);
    stopwatch_enter_at(&sw, SEGMENT_CHECKPOINT, 53 * SECOND);
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
                                    .planned = 2};
    int64_t group;
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    struct run_facts facts = fixture_facts(7, &sw);
    facts.group = group;
    facts.group_index = 1;
    struct machine_facts hostile = fixture_machine;
    memset(hostile.cpu_flags, 'x', sizeof hostile.cpu_flags - 1);
    for (int i = 7; i < 150; i += 8) hostile.cpu_flags[i] = ' ';
    facts.machine = &hostile;
    int64_t k[100], id;
    for (int i = 0; i < 100; i++) k[i] = 4000 + 55 * i;
    id = fixture_run(r, &facts, k, 100);
    one_latency(id, 9399);
    static const char owned[] = "UPDATE machines SET cpu = 'CPU \033[2J\033]0;owned\007 \xc2\x9b" "31m'";  // in a stranger's file
    assert_int_equal(sqlite3_exec(result_connection(r), owned, NULL, NULL, NULL), SQLITE_OK);
    for (int s = 0; s < 2; s++) {
        const struct plain_style style = {.unicode = s == 1};
        struct text text = {0};
        assert_int_equal(show_run(r, id, &style, &text), 0);
        count_lines(&text, s == 0);
        assert_null(strchr(text.at, '\033'));
        assert_null(strstr(text.at, "\xc2\x9b"));
        assert_non_null(strstr(text.at, "NOT ELIGIBLE"));
        assert_non_null(strstr(text.at, "1 of 2 announced runs finished"));
        assert_non_null(strstr(text.at, "94.45% top-1 accuracy: 9,445 of 10,000"));
        text_free(&text);
        assert_int_equal(show_list(r, &show_everything, &style, &text), 0);
        count_lines(&text, s == 0);
        text_free(&text);
    }
    stopwatch_free(&sw);
}

TEST_WITH(runs_are_found_by_name, setup, teardown)
{
    int64_t id;
    assert_int_equal(record_find(r, "last", &id), ERR_DATABASE);
    one_run();
    one_run();
    assert_int_equal(record_find(r, "last", &id), 0);
    assert_int_equal(id, 2);
    assert_int_equal(record_find(r, "1", &id), 0);
    assert_int_equal(id, 1);
    static const char *const wrong[] = {"3", "0", "-1", "1x", "", "first", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(record_find(r, wrong[i], &id), ERR_USAGE);
}
