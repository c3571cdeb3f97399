// SPDX-License-Identifier: Apache-2.0
// Reports of made-up records: their contents, a stranger's text, and files without anything to report.
#include "tasks/tools/report/report.h"
#include "submit/results/result_bench.h"
#include "submit/results/result_scaling.h"
#include "tasks/tools/show/sheet.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static void says(const struct text *text, const char *words)
{
    if (text->at == NULL || strstr(text->at, words) == NULL) fail_msg("\"%s\" is not in:\n%s", words, text->at);
}

static void never_says(const struct text *text, const char *words)
{
    if (strstr(text->at, words) != NULL) fail_msg("\"%s\" is in it", words);
}

static int64_t add_bench(struct results *r, int64_t batch, int64_t step_ns, const char *model)
{
    static const struct bench_repeat repeats[] = {{.step_ns = 1000000, .judged = true, .accepted = true}};
    static const struct bench_memory memory[] = {{"weights", 4 << 20}, {"workspace", 1 << 20}};
    static const struct bench_operator operators[] = {
        {"conv", "forward", 8, 400000, 4000000000, 20000000, 100000},
        {"conv", "backward", 16, 500000, 8000000000, 40000000, 200000},
        {"adamw", "update", 4, 100000, 1000000, 50000000, 50000},
    };
    const struct bench_facts f = {
        .task = "cifar10", .samples = "images", .data = "cifar10", .model = model, .recipe = "default",
        .recipe_json = "{}", .precision = "bf16", .device = "cpu", .size = "32 x 32", .fusion = true, .whole = true, .threads = 2,
        .batch = batch, .ignored = 20, .timed = 100, .step_ns = step_ns, .step_low_ns = step_ns - 10,
        .step_high_ns = step_ns + 10,
        .others_micro = 20000, .flops = 12000000000, .bytes = 110000000, .bound_ns = step_ns / 2, .peak_flops = 2000000000000,
        .peak_bytes = 20000000000, .memory_bytes = 1000000 * batch, .repeats = repeats, .repeat_count = 1, .memory = memory,
        .memory_count = 2, .operators = operators, .operator_count = 3, .machine = &fixture_machine,
        .software = &fixture_software,
    };
    int64_t id;
    if (result_bench_add(r, &f, &id) < 0) fail_msg("%s", error_text());
    return id;
}

static void fill(struct results *r, const char *model)
{
    struct run_facts facts = fixture_facts(1, NULL);
    facts.model = model;
    fixture_run(r, &facts, (const int64_t[]){5000, 9300, 9500}, 3);
    add_bench(r, 8, 9000000, model);
    add_bench(r, 8, 5000000, model);  // measured again: the later one counts
    add_bench(r, 16, 9000000, model);
    add_bench(r, 32, 17000000, model);
}

TEST_WITH(test_html, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    fill(r, "airbench");
    if (report_write(r, SHEET_HTML, NULL, &text) < 0) fail_msg("%s", error_text());
    says(&text, "<!DOCTYPE html>");
    says(&text, "@media print");
    says(&text, "prefers-color-scheme: dark");
    says(&text, "cifar10: score over end-to-end time");
    says(&text, "cifar10: training loss over end-to-end time");
    says(&text, "All runs of this task that have a curve.");
    says(&text, "Measured steps and their line.");
    says(&text, "batch_<wbr>size_<wbr>per_<wbr>device</th>");  // a head on one line makes the table wider than paper
    says(&text, "cpu with 2 threads");
    says(&text, ">1600.00</td>");  // 8 images in 5 ms
    never_says(&text, ">888.89</td>");
    says(&text, ">2000.00</td>");  // 1 / a: 1 ms for two images more
    says(&text, "Roofline of one step");
    says(&text, "conv backward, 16 nodes, 0.500 ms");
    says(&text, "Memory by class at batch 32");
    says(&text, "Test CPU, &quot;fast&quot;");
    // One file that needs no other and runs nothing.
    never_says(&text, "<script");
    never_says(&text, "<link");
    never_says(&text, "http:");
    never_says(&text, "https:");
    never_says(&text, "nan");
    text_free(&text);
    results_close(r);
}

// Six runs and steps that fall with the batch: the charts name the runs that they leave out, end their lines with the run, and
// have no line through the steps.
TEST_WITH(test_charts_draw_no_more_than_there_is, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    struct run_facts facts = fixture_facts(1, NULL);
    for (int i = 0; i < 6; i++) fixture_run(r, &facts, (const int64_t[]){5000, 9300, 9500}, i < 5 ? 2 : 3);
    add_bench(r, 8, 9000000, "record"), add_bench(r, 16, 5000000, "record"), add_bench(r, 32, 7000000, "record");
    assert_int_equal(report_write(r, SHEET_HTML, NULL, &text), 0);
    says(&text, "<p>The newest 4 of the 6 runs of this task that have a curve; 2 are left out.</p>");
    const char *line = strstr(text.at, "look-1\" d=\"M");  // the fifth run, which ended before the sixth
    if (line == NULL) fail_msg("no second line");
    assert_int_equal(strcspn(line + 11, "\"H"), strcspn(line + 11, "\""));
    says(&text, "Measured steps, not on a line.");
    never_says(&text, "a b + c");
    text_free(&text);
    results_close(r);
}

TEST_WITH(test_markdown_and_csv, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    fill(r, "airbench");
    assert_int_equal(report_write(r, SHEET_MARKDOWN, NULL, &text), 0);
    says(&text, "| node\\_num | gpu\\_num\\_per\\_node | batch\\_size\\_per\\_device | samples/s | speedup |");
    says(&text, "| 1 | 1 | 8 | 1600.00 | 1.00 |");
    says(&text, "| 1 | 1 | 32 | 1882.35 | 1.00 |");
    text_free(&text);
    assert_int_equal(report_write(r, SHEET_CSV, NULL, &text), 0);
    says(&text, "task,model,setting,node_num,gpu_num_per_node,batch_size_per_device,samples/s,speedup,step_ns,memory_bytes,"
                "noise\ncifar10,airbench,cpu bf16,1,1,8,1600.00,1.00,5000000,8000000,0\n");
    text_free(&text);
    results_close(r);
}

static void add_scaling(struct results *r, const char *model, int64_t *sweep, int64_t processes, int64_t step_ns)
{
    static const double bytes[] = {4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20};
    double seconds[5];
    for (int i = 0; i < 5; i++) seconds[i] = 1e-3 + bytes[i] * 1e-9;  // half a millisecond per message, 1 GB/s
    const struct scaling_facts f = {
        .sweep = *sweep, .task = "cifar10", .samples = "images", .data = "cifar10", .model = model, .recipe = "default",
        .precision = "bf16", .device = "cpu", .size = "32 x 32", .noise = true, .threads = 1, .batch = 100,
        .processes = processes, .machines = 1, .step_ns = step_ns, .gradient_bytes = 8000000, .exchanges = 3,
        .reduce_bytes = bytes, .reduce_seconds = seconds, .reduce_count = processes > 1 ? 5 : 0, .machine = &fixture_machine,
        .software = &fixture_software};
    int64_t id;
    if (result_scaling_add(r, &f, &id) < 0) fail_msg("%s", error_text());
    if (*sweep == 0) *sweep = id;
}

// A record that has nothing else, and one with two commands.
TEST_WITH(test_scaling, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    int64_t first = 0, second = 0;
    add_scaling(r, "airbench", &first, 1, 100000000);
    add_scaling(r, "airbench", &first, 2, 125000000);
    if (report_write(r, SHEET_HTML, NULL, &text) < 0) fail_msg("%s", error_text());
    says(&text, "<h2>Scaling</h2>");
    says(&text, ">1.60</td>");
    says(&text, ">80.0%</td>");
    says(&text, "Predicted from reductions of 2 processes: 0.0005 s for a message, 1");
    says(&text, "GB/s, r2 1.0000; 3 reductions per step. ");
    says(&text, "With 2 processes the model gives a step of 111 ms, measured are 125 ms<");
    says(&text, ">1024</td>");
    never_says(&text, "nan");
    text_free(&text);
    add_scaling(r, "other", &second, 2, 125000000);  // without a single process there is no prediction
    assert_int_equal(report_write(r, SHEET_MARKDOWN, NULL, &text), 0);
    says(&text, "## Scaling");
    says(&text, "| 1 | 2 | 100 | 1600.00 | 1.60 | 80.0% | 1 |");
    says(&text, "| 1 | 2 | 100 | 1600.00 | 2.00 | 100.0% | 1 |");
    text_free(&text);
    assert_int_equal(report_write(r, SHEET_CSV, NULL, &text), 0);
    says(&text, "cifar10,airbench,cpu bf16,1,2,100,1600.00,1.60,125000000,,1\n");
    text_free(&text);
    results_close(r);
}

TEST_WITH(test_text_of_strangers, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct text text = {0};
    fill(r, "</style><script>alert(1)</script>|`x` # head");
    add_bench(r, 64, 1000000, "two\n# lines");
    assert_int_equal(report_write(r, SHEET_HTML, NULL, &text), 0);
    never_says(&text, "<script");
    says(&text, "&lt;script&gt;");
    text_free(&text);
    assert_int_equal(report_write(r, SHEET_MARKDOWN, NULL, &text), 0);
    never_says(&text, "<script");
    never_says(&text, "\n# lines");
    says(&text, "\\|\\`x\\` \\# head");
    text_free(&text);
    results_close(r);
}

TEST_WITH(test_nothing_to_report, setup, leave)
{
    struct text text = {0};
    struct results *r = open_db(RESULTS_WRITE);
    assert_fails(report_write(r, SHEET_HTML, NULL, &text), ERR_DATABASE, "nothing to report");
    struct run_facts facts = fixture_facts(1, NULL);
    fixture_run(r, &facts, NULL, 0);  // a run without a point
    assert_int_equal(report_write(r, SHEET_HTML, NULL, &text), 0);
    never_says(&text, "<svg");
    text_free(&text);
    assert_fails(report_write(r, SHEET_CSV, NULL, &text), ERR_DATABASE, "no measurement");
    results_close(r);
}

TEST_WITH(test_sheets, setup, leave)
{
    struct sheet s;
    struct text text = {0};
    sheet_begin(&s, "T & t", "name|#value");
    sheet_add(&s, "%s", "a,\"b\"");
    sheet_add(&s, "%d", 1);
    sheet_add(&s, "%s", "");
    sheet_add(&s, "%d", 2);
    assert_int_equal(sheet_rows(&s), 2);
    sheet_print(&s, SHEET_CSV, &text);
    assert_string_equal(text.at, "name,value\n\"a,\"\"b\"\"\",1\n,2\n");
    text_free(&text);
    sheet_print(&s, SHEET_HTML, &text);
    says(&text, "<caption>T &amp; t</caption>");
    says(&text, "<td class=\"number value\">1</td>");
    text_free(&text);
    sheet_free(&s);
}
