// SPDX-License-Identifier: Apache-2.0
// Files of earlier programs (test/fixtures): a results.db of format 2, the same in format 1, and signed statements of version 1.
// All of them are read, shown, exported, submitted and verified as before.
#include <unistd.h>

#include "runtime/common/base/file.h"
#include "submit/format/check/check.h"
#include "submit/payload.h"
#include "submit/results/export.h"
#include "submit/results/result_inside.h"
#include "submit/results/result_scaling.h"
#include "tasks/tools/show/show.h"
#include "test/unit/fixture_record.h"

static const int64_t signed_runs[] = {1, 3, 4, 5, 7};
enum { SIGNED = sizeof signed_runs / sizeof *signed_runs };

static void load(int format)
{
    char *sql;
    size_t count;
    assert_int_equal(file_read("test/fixtures/results-2.sql", 1 << 20, &sql, &count), 0);
    unlink(db);
    sql_from_outside(sql);
    if (format == 1) sql_from_outside("DROP TABLE receipts; DROP TABLE outside; PRAGMA user_version = 1");
    free(sql);
}

static void says(const struct text *text, const char *words)
{
    if (text->at == NULL || strstr(text->at, words) == NULL) fail_msg("\"%s\" is not in:\n%s", words, text->at);
}

static void read_all(struct results *r)
{
    struct text text = {0};
    const struct page_style plain = {0};
    assert_int_equal(show_list(r, &show_everything, &plain, &text), 0);
    says(&text, "  cifar10  done         95.40%      4.4 s  record *\n");  // the dates before depend on today's
    says(&text, "  cifar10  interrupted  98.25%");
    says(&text, "\n* SYNTHETIC data: ");
    says(&text, "  squad    failed            -          -  unknown +\n");
    says(&text, "  squad    done         0.7612     206 ms  reader +\n");
    says(&text, "group 1: 2 of 2 runs (3 to 4)");
    assert_null(strstr(text.at, "BROKEN"));
    text_free(&text);
    for (int64_t id = 1; id <= 7; id++) {
        json_t *run;
        assert_int_equal(record_read(r, id, &run), 0);
        if (record_chain(run) < 0) fail_msg("run %d: %s", (int)id, error_text());
        assert_int_equal(record_int(run, "chain"), 1);
        json_decref(run);
        assert_int_equal(show_run(r, id, &plain, &text), 0);
        text_free(&text);
    }
    assert_int_equal(show_run(r, 7, &plain, &text), 0);
    says(&text, "0.7612 F1; target 0.7500");
    says(&text, "reached    at epoch 2 after 200 samples");
    text_free(&text);
    assert_int_equal(show_run(r, 1, &plain, &text), 0);
    says(&text, "95.40% top-1 accuracy: 1,908 of 2,000 correct, 2 views per item;");
    text_free(&text);
    assert_int_equal(export_json(r, 0, &text), 0);
    assert_null(strstr(text.at, "\"broken\""));
    text_free(&text);
}

static void a_reader_leaves_old_files_as_they_are(void **state)
{
    (void)state;
    for (int format = 1; format <= 2; format++) {
        char before[DIGEST_HEX], after[DIGEST_HEX];
        load(format);
        if (format == 1) sql_from_outside("PRAGMA user_version = 1");
        assert_int_equal(digest_file(db, before), 0);
        struct results *r = open_db(RESULTS_READ);
        if (format == 2) read_all(r);
        assert_int_equal(number(r, "SELECT count(*) FROM scores"), number(r, "SELECT count(*) FROM points"));
        results_close(r);
        assert_int_equal(digest_file(db, after), 0);
        assert_string_equal(before, after);
    }
}

static void a_writer_brings_them_up_to_date(void **state)
{
    (void)state;
    for (int format = 1; format <= 2; format++) {
        load(format);
        results_close(open_db(RESULTS_WRITE));
        struct results *r = open_db(RESULTS_WRITE);  // and again
        assert_int_equal(number(r, "PRAGMA user_version"), RESULT_FORMAT);
        assert_int_equal(number(r, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        assert_int_equal(number(r, "SELECT count(*) FROM segments"), 57);  // rows that refer to a table that was made anew stay
        assert_int_equal(number(r, "SELECT count(*) FROM latencies"), 1);
        if (format == 2) read_all(r);
        struct run_facts facts = fixture_facts(9, NULL);
        int64_t id = fixture_run(r, &facts, (const int64_t[]){9100, 9450}, 2);
        json_t *run;
        assert_int_equal(record_read(r, id, &run), 0);
        assert_int_equal(record_int(run, "chain"), 3);
        assert_int_equal(record_chain(run), 0);
        json_decref(run);
        results_close(r);
    }
}

// A measurement of format 11 does not say among how many reductions its bytes are divided. Its predictions counted one.
static void format_11_counts_no_exchanges(void **state)
{
    (void)state;
    struct results *r = open_db(RESULTS_WRITE);
    const struct scaling_facts f = {.task = "cifar10", .samples = "images", .data = "cifar10", .model = "record",
                                    .recipe = "cifar10", .precision = "bf16", .device = "cpu", .size = "32 x 32",
                                    .threads = 1, .batch = 8, .processes = 1, .machines = 1, .step_ns = 1000000,
                                    .gradient_bytes = 8000, .exchanges = 4, .machine = &fixture_machine,
                                    .software = &fixture_software};
    int64_t id;
    assert_int_equal(result_scaling_add(r, &f, &id), 0);
    assert_int_equal(number(r, "SELECT exchanges FROM scalings"), 4);
    results_close(r);
    sql_from_outside("ALTER TABLE scalings DROP COLUMN exchanges; DROP TABLE folders; PRAGMA user_version = 11");
    r = open_db(RESULTS_WRITE);
    assert_int_equal(number(r, "SELECT exchanges FROM scalings"), 1);
    results_close(r);
}

// Format 6 did not say how digests were found. Its runs say nothing of it, and their chains hold.
static void format_6_has_no_readings(void **state)
{
    (void)state;
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(9, NULL);
    int64_t id = fixture_run(r, &facts, (const int64_t[]){9100, 9450}, 2);
    results_close(r);
    sql_from_outside("DROP TABLE folders; DROP TABLE tickets; DROP TABLE commitments;"
                     "DROP TABLE scaling_reductions; DROP TABLE scalings; DROP TABLE bench_receipts;"
                     "DROP TABLE places; DROP TABLE readings; PRAGMA user_version = 6");
    for (int writes = 0; writes < 2; writes++) {
        json_t *run;
        r = open_db(writes ? RESULTS_WRITE : RESULTS_READ);
        assert_int_equal(record_read(r, id, &run), 0);
        assert_false(record_has(json_array_get(json_object_get(run, "data_sets"), 0), "remembered"));
        assert_int_equal(record_chain(run), 0);
        json_decref(run);
        results_close(r);
    }
}

static void half_of_the_way_is_no_format(void **state)
{
    (void)state;
    struct results *r;
    load(1);
    sql_from_outside("CREATE TABLE outside (a)");
    assert_int_equal(results_open(db, RESULTS_READ, &r), ERR_DATABASE);
    assert_non_null(strstr(error_text(), "altered"));
    assert_int_equal(results_open(db, RESULTS_WRITE, &r), ERR_DATABASE);
    assert_non_null(strstr(error_text(), "altered"));
}

// A program of before that is still training must not lose its tables.
static void a_living_writer_is_waited_for(void **state)
{
    (void)state;
    char words[256], owner[128];
    struct results *r = open_db(RESULTS_WRITE);
    snprintf(owner, sizeof owner, "%s", r->owner);  // this process lives
    results_close(r);
    load(2);
    snprintf(words, sizeof words, "UPDATE runs SET status = 'running', owner = '%s' WHERE id = 2", owner);
    sql_from_outside(words);
    assert_int_equal(results_open(db, RESULTS_WRITE, &r), ERR_DATABASE);
    assert_non_null(strstr(error_text(), "an older program is writing a run"));
    results_close(open_db(RESULTS_READ));
    sql_from_outside("UPDATE runs SET owner = 'gone/1/1' WHERE id = 2");
    results_close(open_db(RESULTS_WRITE));
}

// Figures that no program wrote cannot be brought to another format: a sentence, and the file is as it was.
static void wild_figures_are_met_with_a_sentence(void **state)
{
    (void)state;
    struct results *r;
    char before[DIGEST_HEX], after[DIGEST_HEX];
    load(2);
    sql_from_outside("PRAGMA ignore_check_constraints = 1; UPDATE points SET epoch = -5 WHERE run = 1");
    assert_int_equal(digest_file(db, before), 0);
    assert_int_equal(results_open(db, RESULTS_READ, &r), ERR_DATABASE);
    assert_int_equal(results_open(db, RESULTS_WRITE, &r), ERR_DATABASE);
    assert_int_equal(digest_file(db, after), 0);
    assert_string_equal(before, after);
    load(2);
    sql_from_outside("UPDATE points SET epoch = 9007199254740993 WHERE run = 1");  // times a million, no integer
    r = open_db(RESULTS_READ);
    results_close(r);
}

static char *fixture(int64_t run, const char *tail, size_t *count)
{
    char path[96], *bytes;
    snprintf(path, sizeof path, "test/fixtures/statements-1/run-%d.json%s", (int)run, tail);
    if (file_read(path, 1 << 20, &bytes, count) < 0) fail_msg("%s", error_text());
    return bytes;
}

// The statement of an old run is, byte for byte, the one that the earlier program made of it.
static void old_runs_are_submitted_as_before(void **state)
{
    (void)state;
    load(2);
    const struct payload_words words = {.board = "board.example", .handle = "ada"};
    for (int writes = 0; writes < 2; writes++) {
        struct results *r = open_db(writes ? RESULTS_WRITE : RESULTS_READ);
        for (int i = 0; i < SIGNED; i++) {
            struct statement s;
            size_t count;
            char *before = fixture(signed_runs[i], "", &count);
            if (payload_run(r, signed_runs[i], &words, &s) < 0) fail_msg("%s", error_text());
            assert_int_equal(s.count, count);
            assert_memory_equal(s.payload, before, count);
            statement_free(&s);
            free(before);
        }
        results_close(r);
    }
}

static void old_statements_stay_valid(void **state)
{
    (void)state;
    for (int i = 0; i < SIGNED; i++) {
        struct statement s;
        struct findings f;
        struct sshkey key;
        size_t count, signature_count;
        char *payload = fixture(signed_runs[i], "", &count), *signature = fixture(signed_runs[i], ".sig", &signature_count);
        if (statement_read(payload, count, &s) < 0) fail_msg("%s", error_text());
        if (sshsig_verify(signature, signature_count, statement_namespace(s.type), payload, count, &key) < 0)
            fail_msg("%s", error_text());
        check_statement(&s, canonical_int(s.json, "ended_ms"), &f);
        for (int n = 0; n < f.count; n++)
            if (check_level(f.at[n].check) == CHECK_REJECT) fail_msg("%s: %s", check_code(f.at[n].check), f.at[n].text);
        statement_free(&s);
        free(payload);
        free(signature);
    }
}

// k = 2,400 of 2,000 items used to be shown as 120.00%, and as nothing else.
static void a_changed_record_is_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *deed, *fault;
    } cases[] = {
        {"UPDATE scores SET score = 2400 WHERE run = 1", "point 0, epoch 1: its hash is"},
        {"UPDATE points SET t_ns = t_ns - 1 WHERE run = 1", "point 0, epoch 1: its hash is"},
        {"UPDATE points SET step = 2 WHERE run = 1; UPDATE scores SET step = 2 WHERE run = 1", "its hash is"},
        {"UPDATE runs SET seed = 5 WHERE id = 1", "the root is"},
        {"UPDATE runs SET reached_ns = reached_ns - 1 WHERE id = 1", "reached_ns does not follow"},
        {"UPDATE runs SET reached_step = NULL WHERE id = 1", "reached_step does not follow"},
        {"UPDATE runs SET recipe_json = '{}' WHERE id = 1", "the recipe does not match its digest"},
        {"UPDATE runs SET target_micro = 900000 WHERE id = 1", "the task's digest does not follow"},
        {"UPDATE metrics SET items = 1900 WHERE run = 1", "the task's digest does not follow"},
        {"UPDATE runs SET nonce = char(10) || 'x' WHERE id = 1", "is not text that DAWN writes"},
        {"UPDATE runs SET chain = 2 WHERE id = 1", "the root is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load(2);
        results_close(open_db(RESULTS_WRITE));
        sql_from_outside(cases[i].deed);
        struct results *r = open_db(RESULTS_READ);
        struct text text = {0};
        json_t *run;
        assert_int_equal(record_read(r, 1, &run), 0);
        if (record_chain(run) != ERR_INPUT || strstr(error_text(), cases[i].fault) == NULL)
            fail_msg("%s: %s", cases[i].deed, error_text());
        json_decref(run);
        assert_int_equal(show_run(r, 1, &(struct page_style){0}, &text), 0);
        says(&text, "BROKEN");
        text_free(&text);
        assert_int_equal(show_list(r, &show_everything, &(struct page_style){0}, &text), 0);
        says(&text, " BROKEN\n");
        says(&text, "1 run was changed since");
        text_free(&text);
        assert_int_equal(export_json(r, 1, &text), 0);
        says(&text, "\"broken\": ");
        text_free(&text);
        results_close(r);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_reader_leaves_old_files_as_they_are), TEST(a_writer_brings_them_up_to_date),
        TEST(format_6_has_no_readings),              TEST(format_11_counts_no_exchanges),
        TEST(half_of_the_way_is_no_format),          TEST(wild_figures_are_met_with_a_sentence),
        TEST(a_living_writer_is_waited_for),
        TEST(old_runs_are_submitted_as_before),      TEST(old_statements_stay_valid),
        TEST(a_changed_record_is_noticed),
    };
    return cmocka_run_group_tests_name("old_records", tests, NULL, NULL);
}
