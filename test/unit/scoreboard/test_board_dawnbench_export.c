// SPDX-License-Identifier: Apache-2.0
// Own runs leave as DAWNBench's files and come back with the figures their boards show.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/board_export.h"
#include "test/unit/fixture_statement.h"

static struct store *open_store(const char *name)
{
    struct store *store;
    const struct store_settings settings = {.path = in(name), .origin = "test"};
    if (store_open(&settings, STORE_WRITE, &store) < 0) fail_msg("%s", error_text());
    return store;
}

// A run with two latencies: one quicker, the other cheaper.
static json_t *make_run(void)
{
    json_t *run = fixture_run(), *cheap = fixture_latency(), *price = json_object_get(cheap, "price");
    static const char *const names[] = {"whole_mean_ns", "whole_p50_ns", "whole_p90_ns", "whole_p99_ns"};
    json_object_del(run, "group");
    for (int i = 0; i < 4; i++) json_object_set_new(cheap, names[i], json_integer(canonical_int(cheap, names[i]) + 100001));
    json_object_set_new(price, "micro_usd_per_hour", json_integer(50000));
    json_object_set_new(price, "instance", json_string(""));
    json_object_set_new(price, "source", json_string("user"));
    int64_t total = cost_inference_micro(canonical_int(cheap, "whole_mean_ns"), 10000, 50000);
    json_object_set_new(price, "total_micro_usd", json_integer(total));
    json_array_append_new(json_object_get(run, "latencies"), cheap);
    fixture_chain(run);
    return run;
}

static void accept_run(struct store *store)
{
    struct sshkey_secret secret;
    struct statement statement;
    struct envelope envelope;
    struct acceptance acceptance;
    struct text bytes = {0};
    char signature[SSHSIG_MAX];
    sshkey_new(&secret, "ada");
    char id[SSHKEY_ID];
    json_t *run = make_run();
    json_object_set_new(run, "board_key", json_string(sshkey_id(store_key(store), id)));
    if (statement_make(run, &statement) < 0) fail_msg("%s", error_text());
    sshsig_sign(statement_namespace(STATEMENT_RUN), statement.payload, statement.count, &secret, signature);
    assert_int_equal(envelope_write(&statement, signature, NULL, &bytes), 0);
    statement_free(&statement);
    if (envelope_read(bytes.at, bytes.length, &envelope) < 0) fail_msg("%s", error_text());
    if (store_accept(store, &envelope, FIXTURE_NOW_MS, &acceptance) < 0) fail_msg("%s", error_text());
    if (acceptance.problem != PROBLEM_NONE)
        fail_msg("%s: %s %s", problem_code(acceptance.problem), acceptance.detail, acceptance.findings.at[0].text);
    free(acceptance.receipt);
    envelope_free(&envelope);
    text_free(&bytes);
}

static int count_line(void *lines, const char *line)
{
    (void)line;
    ++*(int *)lines;
    return 0;
}

static double board_value_of(struct store *store, enum board board, const char **model)
{
    static struct arena arena;
    struct reader *reader;
    struct entries entries;
    struct filter filter;
    arena_free(&arena);
    assert_int_equal(store_reader(store, &reader), 0);
    assert_int_equal(filter_read(NULL, &filter), 0);
    filter.contest = contest_find("cifar10");
    filter.board = board;
    filter.trust = TRUST_IMPORTED;
    assert_int_equal(store_entries(reader, &filter, &arena, &entries), 0);
    assert_int_equal(entries.count, 1);
    store_reader_close(reader);
    *model = entries.at[0].model;
    return entries.at[0].value;
}

static void export_to(struct store *store, const char *name, int runs, int imports)
{
    struct board_exported written;
    struct reader *reader;
    int lines = 0;
    assert_int_equal(store_reader(store, &reader), 0);
    if (board_export_dawnbench(reader, in(name), count_line, &lines, &written) < 0) fail_msg("%s", error_text());
    store_reader_close(reader);
    assert_int_equal(written.runs, runs);
    assert_int_equal(written.imports, imports);
    assert_int_equal(lines, 4);
    assert_int_equal(written.files, 4);
}

TEST_WITH(own_runs_come_back, set_up, leave)
{
    struct store *store = open_store("a.db"), *other = open_store("b.db");
    struct dawnbench_archive archive;
    int lines = 0;
    accept_run(store);
    export_to(store, "out", 3, 0);
    assert_true(file_exists(in("out/CIFAR10/train/ada_airbench_run1_dawn.tsv")));
    if (dawnbench_folder(in("out"), count_line, &lines, &archive) < 0) fail_msg("%s", error_text());
    assert_int_equal(archive.count, 3);
    assert_int_equal(archive.refused, 0);
    assert_int_equal(lines, 0);  // what this program writes has none of the oddities it reports
    char *json;
    size_t count;
    assert_int_equal(file_read(in("out/CIFAR10/train/ada_airbench_run1_dawn.json"), 1 << 16, &json, &count), 0);
    assert_non_null(strstr(json, "\"evaluatedBy\": \"harness\""));
    free(json);
    assert_int_equal(archive.at[0]->point_count, FIXTURE_EPOCHS);
    assert_true(archive.at[0]->cost_per_hour == FIXTURE_PRICE / 1e6);
    assert_string_equal(archive.at[0]->author, "ada");
    assert_int_equal(store_import(other, (const struct dawnbench_entry *const *)archive.at, archive.count, FIXTURE_NOW_MS), 0);
    for (int b = 0; b < BOARDS; b++) {
        const char *model, *model_back;
        double there = board_value_of(store, (enum board)b, &model);
        char *copy = copy_text(model);
        double back = board_value_of(other, (enum board)b, &model_back);
        assert_string_equal(copy, model_back);
        free(copy);
        if (b == BOARD_INFERENCE_LATENCY || b == BOARD_INFERENCE_COST) assert_true(back == there);
        else assert_true(back >= there && back - there < 1e-6);  // rounded up to a third of a microsecond
    }
    export_to(other, "again", 0, 3);
    for (int i = 0; i < archive.count; i++) dawnbench_free(archive.at[i]);
    free(archive.at);
    store_close(store);
    store_close(other);
}
