// SPDX-License-Identifier: Apache-2.0
// What people see of a record: curves with labels on both axes, groups, comparisons, documents.
#include <sqlite3.h>

#include "submit/results/export.h"
#include "submit/results/group_text.h"
#include "submit/results/stated.h"
#include "tasks/tools/report/report.h"
#include "tasks/tools/show/compare.h"
#include "tasks/tools/show/document.h"
#include "tasks/tools/show/plot.h"
#include "tasks/tools/show/show.h"
#include "test/unit/test.h"
#include "test/unit/fixture_open.h"

static void has(const struct text *text, const char *words)
{
    if (text->at == NULL || strstr(text->at, words) == NULL) fail_msg("\"%s\" is not in:\n%s", words, text->at);
}

// ---- curves

TEST(curves_have_labels)
{
    const double x[] = {0.5, 2, 4, 8}, y[] = {0.1, 0.5, 0.8, 0.9};
    for (int unicode = 0; unicode < 2; unicode++) {
        const struct plain_style style = {.unicode = unicode != 0};
        const struct plot plot = {.metric = &fixture_metric, .target = 0.8, .series = {{'*', x, y, 4}}, .count = 1};
        struct text text = {0};
        plot_text(&text, &plot, 6, 56, &style);
        assert_int_equal(count_lines(&text, !unicode), 6 + 2);
        has(&text, "   90.00% ");
        has(&text, "   10.00% ");
        has(&text, " target\n");
        has(&text, " 0      1      2      3      4     5      6      7      8 epoch\n");
        text_free(&text);
    }
}

// In ASCII each point is a mark of its own, in its row and column.
TEST(points_are_where_they_belong)
{
    const double x[] = {1, 2, 3}, y[] = {1, 2, 3};
    const struct plain_style plain = {0};
    const struct plot plot = {.target = NAN, .series = {{'*', x, y, 3}}, .count = 1};
    struct text text = {0};
    plot_text(&text, &plot, 3, 31, &plain);
    static const char *const want = "    3.0000 |                         .....*\n"
                                    "           |               .....*....\n"
                                    "    1.0000 |          *....\n"
                                    "           +-----+----+----+----+----+----+\n"
                                    "            0    0.5  1    1.5  2    2.5  3 epoch\n";
    if (strncmp(text.at, want, strlen(want))) fail_msg("%s", text.at);
    text_free(&text);
}

// A point that misses the target by less than a row is not drawn on the target's line.
TEST(a_miss_is_beside_the_target)
{
    const double x[] = {1, 2, 3}, y[] = {0.3, 0.6, 0.9}, down[] = {0.9, 0.6, 0.33}, met[] = {0.3, 0.6, 0.94};
    struct run_metric loss = fixture_metric;
    const struct plot near = {.metric = &fixture_metric, .target = 0.94, .series = {{'*', x, y, 3}}, .count = 1};
    const struct plot meets = {.metric = &fixture_metric, .target = 0.94, .series = {{'*', x, met, 3}}, .count = 1};
    const struct plot low = {.metric = &loss, .target = 0.3, .series = {{'*', x, down, 3}}, .count = 1};
    const struct plain_style plain = {0};
    struct text text = {0};
    plot_text(&text, &near, 8, 31, &plain);
    has(&text, "    94.00% |------------------------------- target\n");
    has(&text, "           |                           ...*\n");
    text_free(&text);
    loss.lower_is_better = true;
    plot_text(&text, &low, 8, 31, &plain);
    has(&text, "    30.00% |------------------------------- target\n");
    text_free(&text);
    plot_text(&text, &meets, 8, 31, &plain);
    has(&text, "* target\n");
    text_free(&text);
}

TEST(little_is_drawn_as_little)
{
    const struct plain_style plain = {0};
    const double x[] = {1e-3, 2e-3}, flat[] = {0.5, 0.5};
    struct text text = {0};
    plot_text(&text, &(struct plot){.target = NAN, .series = {{'*', x, flat, 1}}, .count = 1}, 4, 30, &plain);
    assert_null(text.at);
    plot_text(&text, &(struct plot){.target = NAN, .series = {{'*', x, flat, 2}}, .count = 1}, 4, 30, &plain);
    assert_non_null(strchr(text.at, '*'));
    text_free(&text);
    const double far[] = {1, 9e12}, wild[] = {-1e9, 1e9};
    plot_text(&text, &(struct plot){.target = 0, .series = {{'*', far, wild, 2}}, .count = 1}, 99, 999, &plain);
    assert_non_null(text.at);
    text_free(&text);
}

// ---- digests

TEST_WITH(remembered_digests_are_shown, setup, teardown)
{
    const struct plain_style plain = {0};
    struct run_data data[2] = {fixture_data[0], fixture_data[1]};
    const struct run_file files[] = {{"vocab", "vocab.txt", DIGEST_C, 231508, READING_REMEMBERED}};
    struct run_facts facts = fixture_facts(7, NULL);
    struct text text = {0};
    data[0].reading = READING_REMEMBERED, data[1].reading = READING_NOW;
    facts.data = data, facts.files = files, facts.file_count = 1;
    assert_int_equal(show_run(r, fixture_run(r, &facts, (const int64_t[]){9400}, 1), &plain, &text), 0);
    has(&text, "cifar10 test: 10,000 items, official; cifar10 train: 50,000 items,\n             official, digest remembered\n");
    has(&text, "vocab.txt (232 kB, digest remembered)");
    text_free(&text);
}

// ---- groups

TEST(one_run_has_no_spread)
{
    struct group_run runs[2] = {{.seed = 1, .ns = 250 * SECOND, .k = 9603, .items = 10000, .finished = true},
                                {.seed = 2, .ns = 252 * SECOND, .k = 9604, .items = 10000, .finished = true}};
    struct group_facts f;
    struct text text = {0};
    group_judge(runs, 1, 5, 940000, &f);
    group_text(&text, &fixture_metric, &f);
    has(&text, "mean 96.03% top-1 accuracy, sigma -, 95% interval -, p = -\n");
    has(&text, "mean 4 min 10 s, sigma -, 95% interval -\n");
    has(&text, "not official: not every announced run has a result");
    text_free(&text);
    group_judge(runs, 2, 2, 940000, &f);
    group_text(&text, &fixture_metric, &f);
    has(&text, "mean 96.03% top-1 accuracy, sigma 0.01%");  // 96.035%, towards the worse
    has(&text, "mean 4 min 11 s, sigma 1.5 s");
    text_free(&text);
}

// ---- pages of runs

TEST_WITH(a_run_with_one_evaluation_has_its_loss, setup, teardown)
{
    const struct run_facts facts = fixture_facts(7, NULL);
    int64_t id = fixture_run(r, &facts, (const int64_t[]){-1, -1, 9417}, 3);
    struct text text = {0};
    assert_int_equal(show_run(r, id, &(struct plain_style){0}, &text), 0);
    has(&text, "training loss, 3 points\n");
    assert_null(strstr(text.at, " evaluations\n"));
    text_free(&text);
}

// Every named loss is in the record and its chain, in the statement, and on each page.
TEST_WITH(named_losses_are_kept_and_shown, setup, teardown)
{
    static const struct run_loss losses[] = {{"move", 1.25}, {"reply", 0.5}};
    const struct run_facts facts = fixture_facts(7, NULL);
    struct run *run;
    struct text text = {0};
    json_t *record;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    const int64_t id = result_id(run);
    for (int i = 0; i < 2; i++) {
        struct run_point point = fixture_point(i + 1, 9400);
        point.losses = losses, point.loss_count = 2 - i;  // the last batches have no row of the second
        assert_int_equal(result_point(run, &point), 0);
    }
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_int_equal(record_chain(record), 0);
    json_t *stated = stated_run(record), *point = json_array_get(json_object_get(stated, "points"), 0);
    assert_int_equal(json_array_size(json_object_get(point, "losses")), 2);
    assert_int_equal(show_run(r, id, &(struct plain_style){0}, &text), 0);
    has(&text, "move 1.2500, reply -\n");
    text_free(&text);
    assert_int_equal(document_page(r, id, SHEET_MARKDOWN, &text), 0);
    has(&text, "| loss move | loss reply |");
    text_free(&text);
    assert_int_equal(export_json(r, id, &text), 0);
    has(&text, "\"reply\"");
    text_free(&text);
    assert_int_equal(report_write(r, SHEET_HTML, NULL, &text), 0);
    has(&text, "cifar10: move training loss");
    text_free(&text);
    json_decref(stated);
    json_decref(record);
}

// A run whose process is gone has no end: its known time is not all of its time.
TEST_WITH(an_open_run_has_no_shares, setup, teardown)
{
    struct stopwatch sw;
    struct run *run;
    struct text text = {0};
    stopwatch_start_at(&sw, 0, SEGMENT_PROCESS);
    stopwatch_enter_at(&sw, SEGMENT_INIT, 22000000);
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, 40000000);
    const struct run_facts facts = fixture_facts(7, &sw);
    assert_int_equal(result_begin(r, &facts, &run), 0);
    assert_int_equal(result_checkpoint(run), 0);
    assert_int_equal(show_run(r, result_id(run), &(struct plain_style){0}, &text), 0);
    has(&text, "\nWhere the first 40 ms went: no more was recorded yet\n");
    has(&text, "  running    for ");
    has(&text, "; no epoch is done yet\n");
    assert_null(strstr(text.at, "100.0%"));
    text_free(&text);
    assert_int_equal(result_end(run, RUN_INTERRUPTED, &(struct run_end){0}, NULL), 0);
    stopwatch_free(&sw);
}

// ---- comparisons

TEST(keys_that_differ_are_named)
{
    json_t *a = json_pack("{ss}", "recipe_json", "{\"about\": \"x\", \"data\": {\"batch\": 512}, \"schedule\": {\"epochs\": 8}, "
                                                 "\"widths\": [1, 2]}");
    json_t *b = json_pack("{ss}", "recipe_json", "{\"about\": \"y\", \"data\": {\"batch\": 512, \"crop\": 4}, "
                                                 "\"schedule\": {\"epochs\": 10.5}, \"widths\": [1, 3]}");
    struct text text = {0};
    differ_text(&text, (const json_t *const[]){a, b}, (const int64_t[]){1, 2}, 2, &(struct plain_style){0});
    has(&text, "schedule.epochs: 8 -> 10.5\n");
    has(&text, "  data.crop  - -> 4\n");
    has(&text, "widths     [1, 2] -> [1, 3]\n");
    assert_null(strstr(text.at, "batch"));
    assert_null(strstr(text.at, "about"));
    text_free(&text);
    json_decref(a);
    json_decref(b);
}

static int64_t add_group(int runs, int64_t seed, int64_t k)
{
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
                                    .planned = runs};
    int64_t group;
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    for (int i = 0; i < runs; i++) {
        struct run_facts facts = fixture_facts(seed + i, NULL);
        facts.group = group, facts.group_index = i + 1;
        fixture_run(r, &facts, (const int64_t[]){5000, k + i}, 2);
    }
    return group;
}

TEST_WITH(groups_are_tested, setup, teardown)
{
    int64_t a = add_group(3, 1, 9400), b = add_group(3, 11, 9500), one = add_group(1, 21, 9500);
    struct text text = {0};
    const struct plain_style plain = {0};
    assert_int_equal(compare_groups(r, (const int64_t[]){a, b}, 2, &plain, &text), 0);
    count_lines(&text, true);
    has(&text, "  score, mean                           94.01%          95.01%");
    has(&text, ": the means differ\n");
    has(&text, "  time       cannot be tested");  // made-up clocks are all the same
    has(&text, "Settings, recipe, machine and program are the same.");
    text_free(&text);
    assert_int_equal(compare_json(r, true, (const int64_t[]){a, b}, 2, &text), 0);
    json_t *o = json_loads(text.at, 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "compares")), "groups");
    assert_int_equal(record_int(json_object_get(o, "second"), "finished"), 3);
    assert_true(json_real_value(json_object_get(o, "score_p")) < 0.01);
    assert_null(json_object_get(o, "seconds_p"));
    assert_int_equal(json_array_size(json_object_get(o, "differences")), 0);
    json_decref(o);
    text_free(&text);
    assert_int_equal(compare_groups(r, (const int64_t[]){a, one}, 2, &plain, &text), 0);
    has(&text, "  score      cannot be tested");
    text_free(&text);
    const int64_t three[] = {a, b, one};
    assert_int_equal(compare_groups(r, three, 3, &plain, &text), 0);
    count_lines(&text, true);
    has(&text, "g1         3 of 3     94.01%");
    assert_non_null(strstr(strstr(text.at, "\ng2"), "e-"));  // p of its score
    text_free(&text);
    assert_int_equal(compare_json(r, true, three, 3, &text), 0);
    o = json_loads(text.at, 0, NULL);
    const json_t *list = json_object_get(o, "groups");
    assert_true(json_real_value(json_object_get(json_array_get(list, 1), "score_p")) < 0.01);
    assert_null(json_object_get(json_array_get(list, 2), "score_p"));
    json_decref(o);
    text_free(&text);
    assert_int_equal(compare_groups(r, (const int64_t[]){a, 9}, 2, &plain, &text), ERR_USAGE);
    text_free(&text);
    static const char changed[] = "UPDATE scores SET score = 9999 WHERE run = 2";
    assert_int_equal(sqlite3_exec(result_connection(r), changed, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(compare_groups(r, (const int64_t[]){a, b}, 2, &plain, &text), 0);
    has(&text, "  BROKEN     run 2 has been changed: point ");
    text_free(&text);
}

TEST_WITH(long_seeds_leave_room, setup, teardown)
{
    struct run_facts facts = fixture_facts(12345678901234, NULL);
    facts.data = fixture_synthetic, facts.model = "network-of-ours";
    fixture_run(r, &facts, (const int64_t[]){5000, 9400}, 2);
    struct text text = {0};
    assert_int_equal(show_list(r, &show_everything, &(struct plain_style){0}, &text), 0);
    count_lines(&text, true);
    has(&text, " 123456..  ");
    has(&text, "  network-of-ours *\n");
    text_free(&text);
}

TEST_WITH(runs_are_compared, setup, teardown)
{
    struct run_facts facts = fixture_facts(7, NULL);
    int64_t a = fixture_run(r, &facts, (const int64_t[]){5000, 9400}, 2);
    struct machine_facts other = fixture_machine;
    strcpy(other.cpu, "Other CPU");
    facts.machine = &other, facts.seed = 8, facts.precision = "f32";
    int64_t b = fixture_run(r, &facts, (const int64_t[]){5000, 8000, 9500}, 3);
    for (int unicode = 0; unicode < 2; unicode++) {
        struct text text = {0};
        assert_int_equal(compare_runs(r, (const int64_t[]){a, b}, 2, &(struct plain_style){.unicode = unicode != 0}, &text), 0);
        count_lines(&text, !unicode);
        has(&text, "  to target, end-to-end                 29.0 s          41.0 s         1.414\n");
        has(&text, "  top-1 accuracy                        94.00%          95.00%");
        has(&text, unicode ? "  precision  bf16 → f32\n" : "  precision  bf16 -> f32\n");
        has(&text, "\nMachine facts that differ\n");
        has(&text, "\ntop-1 accuracy: A is run 1, B is run 2\n");
        text_free(&text);
    }
    const int64_t three[] = {a, b, a};
    for (int unicode = 0; unicode < 2; unicode++) {
        struct text text = {0};
        assert_int_equal(compare_runs(r, three, 3, &(struct plain_style){.unicode = unicode != 0}, &text), 0);
        count_lines(&text, !unicode);
        has(&text, "2       done             95.00%       41.0 s    1.414");
        has(&text, "  precision  bf16 (1, 1), f32 (2)\n");
        has(&text, "\ntop-1 accuracy: A is run 1, B is run 2, C is run 1\n");
        text_free(&text);
    }
    struct text values = {0};
    assert_int_equal(compare_json(r, false, three, 3, &values), 0);
    json_t *o = json_loads(values.at, 0, NULL), *one;
    size_t i, seen = 0;
    assert_int_equal(record_int(json_array_get(json_object_get(o, "runs"), 1), "reached_ns"), 41 * SECOND);
    json_array_foreach(json_object_get(o, "differences"), i, one)
    {
        if (strcmp(record_text(one, "name"), "precision")) continue;
        assert_string_equal(json_string_value(json_array_get(json_object_get(one, "values"), 1)), "f32");
        seen++;
    }
    assert_int_equal(seen, 1);
    json_decref(o);
    text_free(&values);
    const struct run_metric fewer = {.name = "top1", .unit = "%", .items = 2000};
    facts.metrics = &fewer;
    int64_t few = fixture_run(r, &facts, (const int64_t[]){1000, 1900}, 2);
    struct text of_others = {0};
    assert_int_equal(compare_runs(r, (const int64_t[]){a, few}, 2, &(struct plain_style){0}, &of_others), 0);
    has(&of_others, "  top-1 accuracy                        94.00%          95.00%");
    text_free(&of_others);
    facts.task = "squad", facts.metrics = &fixture_metric;
    int64_t c = fixture_run(r, &facts, (const int64_t[]){5000}, 1);
    struct text text = {0};
    assert_fails(compare_runs(r, (const int64_t[]){a, c}, 2, &(struct plain_style){0}, &text), ERR_USAGE, "different tasks");
    text_free(&text);
}

// ---- a stranger's record

#define OWNED "x\033[2J\033]0;owned\007\xc2\x9b" "31m\x7f\nrun 9  good"

// Puts terminal codes before every text of every table but those that name rows.
static void spoil(const char *table, const char *column)
{
    char sql[256];
    if (strcmp(column, "owner") == 0 || strcmp(column, "nonce") == 0) return;
    snprintf(sql, sizeof sql, "UPDATE %s SET %s = ?1 || %s", table, column, column);
    sqlite3_stmt *update;
    assert_int_equal(sqlite3_prepare_v2(result_connection(r), sql, -1, &update, NULL), SQLITE_OK);
    sqlite3_bind_text(update, 1, OWNED, -1, SQLITE_STATIC);
    sqlite3_step(update);  // a table may refuse it
    sqlite3_finalize(update);
}

static void spoil_texts(void)
{
    sqlite3_stmt *tables, *columns;
    assert_int_equal(sqlite3_exec(result_connection(r), "PRAGMA ignore_check_constraints = 1", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(result_connection(r), "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &tables,
                                        NULL), SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        char sql[128];
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", table);
        assert_int_equal(sqlite3_prepare_v2(result_connection(r), sql, -1, &columns, NULL), SQLITE_OK);
        while (sqlite3_step(columns) == SQLITE_ROW)
            if (strcmp((const char *)sqlite3_column_text(columns, 2), "TEXT") == 0)
                spoil(table, (const char *)sqlite3_column_text(columns, 1));
        sqlite3_finalize(columns);
    }
    sqlite3_finalize(tables);
}

static void assert_tame(struct text *text, bool bold)
{
    for (const char *c = text->at; c != NULL && *c != 0; c++) {
        const unsigned char next = (unsigned char)c[1];
        if (bold && (strncmp(c, "\033[1m", 4) == 0 || strncmp(c, "\033[0m", 4) == 0)) continue;
        const bool c1 = (unsigned char)*c == 0xc2 && next >= 0x80 && next <= 0x9f;
        if ((*c > 0 && *c < ' ' && *c != '\n') || *c == 0x7f || c1) fail_msg("a terminal would obey:\n%s", text->at);
    }
    if (text->at != NULL && strstr(text->at, "\nrun 9  good") != NULL) fail_msg("a text begins a line:\n%s", text->at);
    text_free(text);
}

TEST_WITH(no_text_of_a_record_steers_a_terminal, setup, teardown)
{
    const int64_t group = add_group(2, 1, 9400), other = add_group(2, 11, 9500);
    struct run_facts facts = fixture_facts(7, NULL);
    const int64_t run = fixture_run(r, &facts, (const int64_t[]){5000, 9400}, 2);
    const struct latency_facts latency = {
        .run = run, .weights_digest = DIGEST_C, .task = "cifar10", .model = "airbench", .precision = "f32", .device = "cpu",
        .target_micro = 940000, .threads = 1, .items = 10000, .model_ns = {9, 2, 3, 4}, .whole_ns = {9, 6, 7, 8}, .k = 9400,
        .views = 1, .data = &fixture_data[1], .machine = &fixture_machine, .software = &fixture_software};
    int64_t id;
    assert_int_equal(result_latency(r, &latency, &id), 0);
    static const char other_recipe[] = "UPDATE runs SET recipe_json = '{\"\\u001b[2J\":{\"a\\u009b\":1}}' WHERE id = 1";
    spoil_texts();
    assert_int_equal(sqlite3_exec(result_connection(r), other_recipe, NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < 4; i++) {
        const struct plain_style style = {.bold = i % 2 != 0, .unicode = i / 2 != 0};
        struct text text = {0};
        assert_int_equal(show_run(r, run, &style, &text), 0);
        assert_tame(&text, style.bold);
        assert_int_equal(show_run(r, 1, &style, &text), 0);
        assert_tame(&text, style.bold);
        assert_int_equal(compare_runs(r, (const int64_t[]){1, run}, 2, &style, &text), 0);
        assert_tame(&text, style.bold);
        assert_int_equal(compare_groups(r, (const int64_t[]){group, other}, 2, &style, &text), 0);
        assert_tame(&text, style.bold);
        assert_int_equal(show_list(r, &show_everything, &style, &text), 0);
        assert_tame(&text, style.bold);
        assert_int_equal(compare_json(r, false, (const int64_t[]){1, run}, 2, &text), 0);
        assert_tame(&text, false);
        assert_int_equal(show_list_json(r, &show_everything, &text), 0);
        assert_tame(&text, false);
    }
}

// ---- documents

TEST_WITH(documents_quote_what_they_show, setup, teardown)
{
    struct run_facts facts = fixture_facts(7, NULL);
    struct machine_facts hostile = fixture_machine;
    strcpy(hostile.cpu, "</table><script>alert(1)</script> & \"CPU\" | `x` [2J");
    facts.machine = &hostile;
    int64_t id = fixture_run(r, &facts, (const int64_t[]){5000, 9400}, 2);
    struct text text = {0};
    assert_int_equal(document_page(r, id, SHEET_HTML, &text), 0);
    assert_null(strstr(text.at, "<script"));
    has(&text, "&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;CPU&quot;");
    has(&text, "<path class=\"line look-0\" d=\"");
    text_free(&text);
    assert_int_equal(document_page(r, id, SHEET_MARKDOWN, &text), 0);
    has(&text, "&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; \"CPU\" \\| \\`x\\` \\[2J");
    has(&text, "\n| 2 | 1.2500 | 94.00% | 29.0 s |");
    text_free(&text);
    assert_int_equal(document_svg(r, id, &text), 0);
    assert_true(strncmp(text.at, "<svg xmlns=", 11) == 0);
    text_free(&text);
    int64_t one = fixture_run(r, &facts, (const int64_t[]){9400}, 1);
    assert_int_equal(document_svg(r, one, &text), ERR_INPUT);
    text_free(&text);
    assert_int_equal(document_page(r, one, SHEET_HTML, &text), 0);
    text_free(&text);
}

static void change_loss(int64_t run)
{
    sqlite3 *outside;
    char sql[96];
    snprintf(sql, sizeof sql, "UPDATE points SET loss_micro = loss_micro + 1 WHERE run = %lld", (long long)run);
    assert_int_equal(sqlite3_open(db, &outside), SQLITE_OK);
    assert_int_equal(sqlite3_exec(outside, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(outside);
}

TEST_WITH(changed_runs_are_no_reference, setup, teardown)
{
    struct run_facts facts = fixture_facts(7, NULL);
    struct text text = {0};
    facts.stop_at_target = false;
    int64_t first = fixture_run(r, &facts, (const int64_t[]){5000, 9401}, 2);
    facts.seed = 8;
    int64_t second = fixture_run(r, &facts, (const int64_t[]){5000, 9402}, 2);
    assert_int_equal(show_reference(r, 0, &text), 0);
    has(&text, "9401");
    has(&text, "9402");
    text_free(&text);
    change_loss(first);
    assert_int_equal(show_reference(r, 0, &text), 0);
    assert_null(strstr(text.at, "9401"));
    has(&text, "9402");
    text_free(&text);
    assert_int_equal(show_reference(r, first, &text), ERR_MISSING);
    change_loss(second);
    assert_int_equal(show_reference(r, 0, &text), ERR_MISSING);
}
