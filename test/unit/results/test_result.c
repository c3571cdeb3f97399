// SPDX-License-Identifier: Apache-2.0
// The record: valid facts are stored, invalid ones refused; a killed writer loses nothing that was confirmed; strange files are
// refused with a sentence.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/common/base/file.h"
#include "submit/format/chain.h"
#include "submit/format/score/curve.h"
#include "submit/results/record.h"
#include "submit/results/result_inside.h"
#include "submit/results/stated.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

TEST_WITH(a_run_is_stored_whole, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(7, NULL);
    facts.stop_at_target = false;
    int64_t id = fixture_run(r, &facts, (const int64_t[]){5000, -1, 9400, 9399, 9512}, 5);
    results_close(r);
    struct stat info;
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", db);
    assert_int_equal(stat(journal, &info), -1);  // one file at rest

    r = open_db(RESULTS_READ);
    json_t *run;
    assert_int_equal(record_read(r, id, &run), 0);
    assert_string_equal(record_text(run, "status"), "done");
    assert_int_equal(record_int(run, "reached_step"), 75);  // 9400 of 10,000 is exactly 94%
    assert_int_equal(record_int(run, "reached_ns"), (5 + 36) * SECOND);
    assert_int_equal(record_int(run, "reached_classic_ns"), (5 + 30) * SECOND);
    assert_int_equal(record_int(run, "reached_warm_ns"), 30 * SECOND);
    assert_int_equal(record_int(run, "reached_warm_with_evaluation_ns"), 36 * SECOND);
    assert_int_equal(record_int(run, "reached_samples"), 150000);
    assert_int_equal(record_int(run, "last_score"), 9512);
    assert_int_equal(record_int(run, "official"), 1);
    assert_int_equal(record_int(run, "synthetic"), 0);
    assert_int_equal(record_int(run, "peak_memory_bytes"), 1 << 30);
    assert_string_equal(record_text(run, "recipe_json"), FIXTURE_RECIPE);
    assert_int_equal(strlen(record_text(run, "nonce")), 32);
    assert_false(record_has(run, "owner"));
    const json_t *points = json_object_get(run, "points");
    assert_int_equal(json_array_size(points), 5);
    assert_false(record_has(json_array_get(points, 1), "scores"));
    assert_int_equal(record_int(json_array_get(points, 1), "loss_micro"), 1250000);
    assert_int_equal(json_array_size(json_object_get(run, "data_sets")), 2);
    assert_string_equal(record_text(json_object_get(run, "machine_facts"), "cpu"), "Test CPU, \"fast\"");
    json_decref(run);
    results_close(r);
}

// How pictures were packed and digests found is stored when a run begins, which were damaged at its end.
TEST_WITH(pictures_are_stored, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_data data[2] = {
        {.name = "imagenette", .split = "train", .digest = DIGEST_A, .items = 9469},
        {.name = "imagenette", .split = "test", .digest = DIGEST_B, .items = 3925},
    };
    for (int s = 0; s < 2; s++) data[s].pictures = true, data[s].short_side = 160, data[s].quality = 95;
    data[0].reading = READING_REMEMBERED, data[1].reading = READING_NOW;
    struct run_facts facts = fixture_facts(7, NULL);
    struct run *run;
    json_t *record;
    facts.data = data, facts.data_count = 2;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run), damaged[2] = {3, 0};
    for (int ended = 0; ended < 2; ended++) {
        assert_int_equal(record_read(r, id, &record), 0);
        const json_t *train = json_array_get(json_object_get(record, "data_sets"), 1);  // behind "test"
        assert_string_equal(record_text(train, "split"), "train");
        assert_true(record_int(train, "short_side") == 160 && record_int(train, "quality") == 95);
        const json_t *test = json_array_get(json_object_get(record, "data_sets"), 0);
        assert_true(record_int(train, "remembered") == 1 && record_has(test, "remembered") && !record_int(test, "remembered"));
        assert_true(record_has(train, "damaged") == ended && record_int(train, "damaged") == (ended ? 3 : 0));
        json_decref(record);
        if (!ended) assert_int_equal(result_end(run, RUN_FAILED, &(struct run_end){.damaged = damaged}, NULL), 0);
    }
    assert_int_equal(number(r, "SELECT count(*) FROM pictures WHERE damaged = 0"), 1);
    facts.data = fixture_data;  // no pictures of which anything is known
    id = fixture_run(r, &facts, (const int64_t[]){9400}, 1);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_false(record_has(json_array_get(json_object_get(record, "data_sets"), 0), "short_side"));
    assert_false(record_has(json_array_get(json_object_get(record, "data_sets"), 0), "remembered"));
    json_decref(record);
    results_close(r);
}

// The chain is computed again from the stored figures, as a server will.
TEST_WITH(the_stored_chain_recomputes, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(7, NULL);
    int64_t id = fixture_run(r, &facts, (const int64_t[]){5000, -1, 9400}, 3);
    json_t *run, *point;
    assert_int_equal(record_read(r, id, &run), 0);
    struct chain chain;
    char hex[DIGEST_HEX];
    assert_int_equal(record_chain(run), 0);
    json_t *stated = stated_run(run);
    assert_int_equal(chain_bind(&chain, stated), 0);
    chain_hex(&chain, hex);
    assert_string_equal(hex, record_text(run, "chain_root"));
    size_t i;
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        chain_add(&chain, &(struct chain_point){.step = record_int(point, "step"),
                                                .epoch_micro = record_int(point, "epoch_micro"),
                                                .metrics = &fixture_metric,
                                                .metric_count = 1,
                                                .t_ns = record_int(point, "t_ns"),
                                                .classic_ns = record_int(point, "classic_ns"),
                                                .warm_ns = record_int(point, "warm_ns"),
                                                .warm_with_evaluation_ns = record_int(point, "warm_with_evaluation_ns"),
                                                .samples = record_int(point, "samples"),
                                                .score = {curve_score(point, &fixture_metric)},
                                                .loss_micro = record_int(point, "loss_micro")});
        chain_hex(&chain, hex);
        assert_string_equal(hex, record_text(point, "hash"));
    }
    assert_int_equal(chain_end(&chain, stated, hex), 0);
    assert_string_equal(hex, record_text(run, "chain_end"));
    json_decref(stated);
    json_decref(run);
    results_close(r);
}

TEST_WITH(statuses_follow_the_points, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    static const struct {
        int64_t k;
        enum run_status given, stored;
    } cases[] = {{9400, RUN_DONE, RUN_DONE}, {9399, RUN_DONE, RUN_MISSED}, {9400, RUN_MISSED, RUN_DONE},
                 {-1, RUN_DONE, RUN_MISSED}, {9999, RUN_INTERRUPTED, RUN_INTERRUPTED}, {9999, RUN_FAILED, RUN_FAILED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_facts facts = fixture_facts((int64_t)i, NULL);
        struct run *run;
        enum run_status stored;
        assert_int_equal(result_begin(r, &facts, &run), 0);
        struct run_point point = fixture_point(1, cases[i].k);
        assert_int_equal(result_point(run, &point), 0);
        assert_int_equal(result_end(run, cases[i].given, NULL, &stored), 0);
        assert_int_equal(stored, cases[i].stored);
    }
    assert_int_equal(number(r, "SELECT count(*) FROM runs WHERE status = 'missed'"), 2);
    assert_int_equal(number(r, "SELECT count(*) FROM machines"), 1);  // shared
    assert_int_equal(number(r, "SELECT count(*) FROM software"), 1);
    results_close(r);
}

TEST_WITH(wrong_figures_are_refused, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    struct run *run;
    facts.target_micro = 94000000;  // given as 94
    assert_int_equal(result_begin(r, &facts, &run), ERR_USAGE);
    facts = fixture_facts(1, NULL);
    const struct run_metric nothing = {.name = "top1", .unit = "%", .items = -1};
    facts.metrics = &nothing;
    assert_int_equal(result_begin(r, &facts, &run), ERR_INPUT);
    facts = fixture_facts(1, NULL);
    assert_int_equal(result_begin(r, &facts, &run), 0);
    struct run_point point = fixture_point(2, 10001);
    assert_int_equal(result_point(run, &point), ERR_INPUT);
    point = fixture_point(2, 10000);
    assert_int_equal(result_point(run, &point), 0);
    assert_int_equal(result_point(run, &point), ERR_INPUT);  // the same epoch
    point.step = 75, point.epoch_micro = 3000000;
    assert_int_equal(result_point(run, &point), ERR_INPUT);  // time stands still
    point = fixture_point(3, 5);
    point.loss = 0.0 / 0.0;
    assert_int_equal(result_point(run, &point), 0);
    point = fixture_point(4, 5);
    point.loss = -1e300;
    assert_int_equal(result_point(run, &point), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM points WHERE loss_micro = 1000000000000000"), 2);
    assert_int_equal(number(r, "SELECT count(*) FROM points"), 3);
    assert_int_equal(result_end(run, RUN_FAILED, &(struct run_end){.message = "the loss is not a number"}, NULL), 0);
    results_close(r);
}

TEST_WITH(the_stopwatch_is_stored, setup, leave)
{
    struct stopwatch sw;
    stopwatch_from_now(&sw);
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, &sw);
    struct run *run;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    for (int64_t epoch = 1; epoch <= 3; epoch++) {
        stopwatch_enter(&sw, SEGMENT_TRAIN);
        stopwatch_enter(&sw, SEGMENT_EVALUATE);
        struct run_point point = {.step = epoch, .clocks = stopwatch_enter(&sw, SEGMENT_CHECKPOINT), .samples = epoch,
                                  .score = {9}};
        assert_int_equal(result_point(run, &point), 0);
        assert_int_equal(number(r, "SELECT max(end_ns) FROM segments"), point.clocks.end_to_end_ns);
    }
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    // Without gaps, from 0 on, and the open segment is there too.
    assert_int_equal(number(r, "SELECT count(*) FROM segments AS a WHERE start_ns > 0 AND NOT EXISTS"
                               " (SELECT 1 FROM segments AS b WHERE b.number = a.number - 1 AND b.end_ns = a.start_ns)"), 0);
    assert_int_equal(number(r, "SELECT min(start_ns) FROM segments"), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM segments WHERE segment = 'evaluate'"), 3);
    assert_int_equal(number(r, "SELECT segment = 'checkpoint' FROM segments ORDER BY number DESC LIMIT 1"), 1);
    assert_true(number(r, "SELECT max(end_ns) > (SELECT max(t_ns) FROM points) FROM segments") == 1);
    results_close(r);
    stopwatch_free(&sw);
}

static void write_until_killed(int say)
{
    struct results *r;
    struct run *run;
    struct run_facts facts = fixture_facts(1, NULL);
    facts.stop_at_target = false;
    if (results_open(db, RESULTS_WRITE, &r) < 0 || result_begin(r, &facts, &run) < 0) _exit(1);
    for (int64_t epoch = 1;; epoch++) {
        struct run_point point = fixture_point(epoch, epoch % 9400);
        if (result_point(run, &point) < 0) _exit(2);
        if (write(say, &epoch, sizeof epoch) != sizeof epoch) _exit(3);
    }
}

// A real kill -9, at random moments: every point that was confirmed to the writer is there afterwards.
TEST_WITH(kill_9_loses_nothing_that_was_promised, setup, leave)
{
    for (int round = 0; round < 8; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) write_until_killed(pipes[1]);
        close(pipes[1]);
        int64_t promised = 0, epoch;
        while (promised < 2 + 3 * round && read(pipes[0], &epoch, sizeof epoch) == sizeof epoch) promised = epoch;
        struct timespec a_moment = {.tv_nsec = 137000 * round};
        nanosleep(&a_moment, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        while (read(pipes[0], &epoch, sizeof epoch) == sizeof epoch) promised = epoch;
        close(pipes[0]);

        // A reader first, while the writer may not even have been collected; then a writer, which marks the run.
        struct results *r = open_db(RESULTS_READ);
        int64_t id = number(r, "SELECT max(id) FROM runs"), stored = number(r, "SELECT max(step) / 25 FROM points WHERE run ="
                                                                              " (SELECT max(id) FROM runs)");
        assert_true(stored == promised || stored == promised + 1);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        json_t *run;
        assert_int_equal(record_read(r, id, &run), 0);
        assert_string_equal(record_text(run, "status"), "interrupted");
        assert_int_equal(json_array_size(json_object_get(run, "points")), stored);
        json_decref(run);
        assert_int_equal(number(r, "SELECT count(*) FROM runs WHERE status = 'running'"), 1);  // a reader writes nothing
        results_close(r);

        r = open_db(RESULTS_WRITE);
        assert_int_equal(number(r, "SELECT count(*) FROM runs WHERE status = 'interrupted'"), round + 1);
        sqlite3_stmt *check;
        assert_int_equal(sqlite3_prepare_v2(result_connection(r), "PRAGMA integrity_check", -1, &check, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(check), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
        sqlite3_finalize(check);
        results_close(r);
    }
}

TEST_WITH(a_living_run_stays_running, setup, leave)
{
    struct results *a = open_db(RESULTS_WRITE), *b;
    struct run_facts facts = fixture_facts(1, NULL);
    struct run *run;
    assert_int_equal(result_begin(a, &facts, &run), 0);
    b = open_db(RESULTS_WRITE);  // another program, at the same time
    assert_int_equal(number(b, "SELECT count(*) FROM runs WHERE status = 'running'"), 1);
    struct run_point point = fixture_point(1, 9500);
    assert_int_equal(result_point(run, &point), 0);
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    assert_int_equal(number(b, "SELECT count(*) FROM runs WHERE status = 'done'"), 1);
    results_close(b);
    results_close(a);
}

TEST_WITH(groups_are_announced_and_judged, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    const struct group_plan plan = {.task = "cifar10", .model = "airbench", .recipe = "default", .target_micro = 940000,
                                    .planned = 5};
    int64_t group;
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM runs"), 0);
    for (int64_t i = 1; i <= 5; i++) {
        struct run_facts facts = fixture_facts(100 + i, NULL);
        facts.group = group;
        facts.group_index = i;
        facts.stop_at_target = false;
        fixture_run(r, &facts, (const int64_t[]){9300, 9390 + 10 * i}, 2);
        if (i == 4) {
            json_t *runs;
            struct group_facts judged;
            assert_int_equal(record_group(r, group, &runs, &judged), 0);
            assert_int_equal(judged.verdict, GROUP_UNFINISHED);
            json_decref(runs);
        }
    }
    assert_int_equal(result_group_end(r, group), 0);
    assert_int_equal(number(r, "SELECT status = 'done' FROM groups"), 1);
    json_t *runs;
    struct group_facts judged;
    assert_int_equal(record_group(r, group, &runs, &judged), 0);
    assert_int_equal(json_array_size(runs), 5);
    json_decref(runs);
    assert_int_equal(judged.verdict, GROUP_MET);  // 94.00 ... 94.40 with sigma .16: p = .024
    assert_true(judged.p > 0.02 && judged.p < 0.03);
    assert_true(judged.seconds.mean > 28.99 && judged.seconds.mean < 29.01);

    struct run_facts facts = fixture_facts(9, NULL);
    facts.group = group;
    facts.group_index = 5;
    struct run *run;
    assert_int_equal(result_begin(r, &facts, &run), ERR_DATABASE);  // the place is taken
    assert_int_equal(result_group_begin(r, &(struct group_plan){.planned = 0}, &group), ERR_USAGE);
    assert_int_equal(result_group_begin(r, &plan, &group), 0);
    assert_int_equal(result_group_end(r, group), 0);
    assert_int_equal(number(r, "SELECT status = 'interrupted' FROM groups WHERE id = 2"), 1);  // nothing was run
    results_close(r);
}

TEST_WITH(latencies_and_who_may_compete, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    int64_t run = fixture_run(r, &facts, (const int64_t[]){9400}, 1), id;
    struct latency_facts f = {.run = run, .weights_digest = DIGEST_C, .task = "cifar10", .model = "airbench", .precision = "f32",
                              .device = "cpu", .target_micro = 940000, .threads = 1, .items = 10000, .warmup_items = 100,
                              .model_ns = {900000, 890000, 950000, 1200000}, .whole_ns = {910000, 900000, 960000, 1300000},
                              .k = 9400, .views = 1, .data = &fixture_data[1], .machine = &fixture_machine,
                              .software = &fixture_software};
    assert_int_equal(result_latency(r, &f, &id), 0);
    assert_int_equal(number(r, "SELECT eligible FROM latencies WHERE id = 1"), 1);
    f.k = 9399;
    assert_int_equal(result_latency(r, &f, &id), 0);
    assert_int_equal(number(r, "SELECT eligible FROM latencies WHERE id = 2"), 0);
    f.k = f.items = 9999;  // not the whole test set
    assert_int_equal(result_latency(r, &f, &id), 0);
    assert_int_equal(number(r, "SELECT eligible FROM latencies WHERE id = 3"), 0);
    f.items = f.k = 10000;
    f.data = &fixture_synthetic[1];
    f.run = 0;
    assert_int_equal(result_latency(r, &f, &id), 0);
    assert_int_equal(number(r, "SELECT eligible + (run IS NOT NULL) FROM latencies WHERE id = 4"), 0);
    f.k = 10001;
    assert_int_equal(result_latency(r, &f, &id), ERR_INPUT);
    f.k = 1;
    f.run = 77;  // no such run
    assert_int_equal(result_latency(r, &f, &id), ERR_DATABASE);
    assert_int_equal(number(r, "SELECT count(*) FROM latencies"), 4);
    results_close(r);
}

// Which number of items makes a test set whole is the contest's to say, and a value is no share of the items it is over.
TEST_WITH(latencies_are_held_against_the_contest, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    int64_t id;
    const struct run_data few = {.name = "cifar10", .split = "test", .digest = DIGEST_B, .items = 100, .official = true};
    const struct run_data dev = {.name = "squad", .split = "test", .digest = DIGEST_B, .items = 10570, .official = true};
    struct latency_facts f = {.weights_digest = DIGEST_C, .task = "cifar10", .model = "airbench", .precision = "f32",
                              .device = "cpu", .target_micro = 940000, .threads = 1, .items = 100, .warmup_items = 1,
                              .model_ns = {2, 2, 2, 2}, .whole_ns = {3, 3, 3, 3}, .k = 100, .views = 1, .data = &few,
                              .machine = &fixture_machine, .software = &fixture_software};
    assert_false(result_eligible(&f));
    f.task = "squad", f.data = &dev, f.items = 10570, f.target_micro = 750000, f.k = 750000;
    assert_true(result_eligible(&f));
    if (result_latency(r, &f, &id) < 0) fail_msg("%s", error_text());
    f.k = 749999;
    assert_false(result_eligible(&f));
    // Samples that a task makes of its test set: the contest says how many.
    const struct run_data wiki = {.name = "wiki-sample", .split = "test", .digest = DIGEST_B, .items = 32, .official = true};
    f.task = "wiki-mlm", f.data = &wiki, f.items = 1000, f.k = 750000;
    assert_true(result_eligible(&f));
    f.items = 32;
    assert_false(result_eligible(&f));
    results_close(r);
}

static void refused(enum results_mode mode, const char *because)
{
    struct results *r = (struct results *)db;
    assert_int_equal(results_open(db, mode, &r), ERR_DATABASE);
    assert_null(r);
    if (strstr(error_text(), because) == NULL) fail_msg("\"%s\" says nothing of \"%s\"", error_text(), because);
    assert_non_null(strstr(error_text(), "results.db"));
}

TEST_WITH(strange_files_are_met_with_a_sentence, setup, leave)
{
    refused(RESULTS_READ, "no record");
    assert_int_equal(file_write(db, "", 0), 0);
    refused(RESULTS_READ, "empty");
    assert_int_equal(file_write(db, "This is a letter, not a database, and it is long enough to be looked at.\n", 72), 0);
    refused(RESULTS_READ, "not a database");
    refused(RESULTS_WRITE, "not a database");
    char *bytes;
    size_t count;
    assert_int_equal(file_read(db, 1000, &bytes, &count), 0);
    assert_int_equal(count, 72);  // untouched
    free(bytes);
    unlink(db);
    sql_from_outside("CREATE TABLE books (title TEXT)");
    refused(RESULTS_WRITE, "another program");
    unlink(db);
    make_one();
    sql_from_outside("PRAGMA user_version = 99");
    refused(RESULTS_WRITE, "of format 99, and this DAWN reads format 1 alone");
    refused(RESULTS_READ, "of format 99, and this DAWN reads format 1 alone");
    sql_from_outside("PRAGMA user_version = 0");
    refused(RESULTS_WRITE, "another program");
    sql_from_outside("PRAGMA user_version = 1; CREATE VIEW extra AS SELECT 1");
    refused(RESULTS_READ, "altered");
    sql_from_outside("DROP VIEW extra; CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM runs; END");
    refused(RESULTS_WRITE, "altered");
    sql_from_outside("DROP TRIGGER t; ALTER TABLE runs ADD COLUMN nice TEXT");
    refused(RESULTS_WRITE, "altered");
    unlink(db);
    assert_int_equal(mkdir(db, 0700), 0);
    refused(RESULTS_WRITE, "cannot");
    rmdir(db);
}

TEST_WITH(a_short_file_is_damaged, setup, leave)
{
    make_one();
    struct stat info;
    assert_int_equal(stat(db, &info), 0);
    assert_int_equal(truncate(db, info.st_size / 4), 0);
    struct results *r;
    int rc = results_open(db, RESULTS_READ, &r);
    json_t *run;
    if (rc == 0) {  // the first pages may still be whole
        rc = record_read(r, 1, &run);
        if (rc == 0) json_decref(run);
        results_close(r);
    }
    assert_int_equal(rc, ERR_DATABASE);
}

TEST_WITH(a_read_only_file_can_be_read, setup, leave)
{
    make_one();
    assert_int_equal(chmod(db, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {  // root may write anything, so another user tries
        if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
        struct results *r;
        int rc = results_open(db, RESULTS_WRITE, &r);
        if (rc != ERR_DATABASE || strstr(error_text(), "read-only") == NULL) _exit(1);
        if (results_open(db, RESULTS_READ, &r) != 0) _exit(2);
        json_t *runs;
        if (record_list(r, &runs) != 0 || json_array_size(runs) != 1) _exit(3);
        json_decref(runs);
        results_close(r);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH(a_reader_can_not_write, setup, leave)
{
    make_one();
    struct results *r = open_db(RESULTS_READ);
    struct run_facts facts = fixture_facts(2, NULL);
    struct run *run;
    assert_int_equal(result_begin(r, &facts, &run), ERR_DATABASE);
    assert_int_equal(number(r, "SELECT count(*) FROM runs"), 1);
    results_close(r);
}

// No matter what a strange file makes of our statements: they write nothing in a reader, go on for no longer than they may, and
// take no more memory.
TEST_WITH(no_statement_goes_too_far, setup, leave)
{
    static const char *const deeds[] = {"ATTACH ':memory:' AS other", "CREATE TEMP TABLE t (a)", "DROP TABLE points",
                                        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM points; END",
                                        "CREATE VIEW v AS SELECT 1", "DELETE FROM runs", "BEGIN"};
    make_one();
    for (int writes = 0; writes < 2; writes++) {
        struct results *r = open_db(writes ? RESULTS_WRITE : RESULTS_READ);
        for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
            if (!writes || i < 5)
                assert_int_equal(sqlite3_exec(result_connection(r), deeds[i], NULL, NULL, NULL), SQLITE_AUTH);
        r->patience_ns = SECOND / 100;
        json_t *rows;
        const char *endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
        assert_fails(record_rows(r, endless, 0, &rows), ERR_DATABASE, "busy for too long");
        r->patience_ns = 60 * SECOND;
        const char *large = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30)"
                            " SELECT i FROM n ORDER BY zeroblob(15000000 + i) || i DESC";
        assert_fails(record_rows(r, large, 0, &rows), ERR_DATABASE, "memory");
        results_close(r);
    }
}

// Every table and column of the schema stands in docs/results-format.md, and nothing else does.
TEST_WITH(the_document_is_complete, setup, leave)
{
    char *text;
    size_t size;
    assert_int_equal(file_read("docs/results-format.md", 1 << 20, &text, &size), 0);
    struct results *r = open_db(RESULTS_WRITE);
    sqlite3_stmt *columns;
    int64_t found = 0, documented = 0;
    const char *sql = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'";
    assert_int_equal(sqlite3_prepare_v2(result_connection(r), sql, -1, &columns, NULL), SQLITE_OK);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        char heading[96], row[96];
        snprintf(heading, sizeof heading, "### Table `%s`\n", (const char *)sqlite3_column_text(columns, 0));
        snprintf(row, sizeof row, "\n| `%s` | ", (const char *)sqlite3_column_text(columns, 1));
        const char *section = strstr(text, heading);
        if (section == NULL) fail_msg("no section for %s", heading);
        const char *end = strstr(section + 1, "\n### "), *at = strstr(section, row);
        if (at == NULL || (end != NULL && at > end)) fail_msg("%s lacks %s", heading, row);
        found++;
    }
    sqlite3_finalize(columns);
    results_close(r);
    for (const char *at = text; (at = strstr(at, "\n| `")) != NULL; at++) documented++;
    free(text);
    assert_int_equal(found, documented);
    assert_true(found > 100);
}
