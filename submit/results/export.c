// SPDX-License-Identifier: Apache-2.0
// Export to JSON, CSV and DAWNBench's JSON + TSV. Invariant: nothing is written that the record does not hold, and a file is
// written whole or not at all. Cost: the whole record is held in memory, a few kilobytes per run.
#include "submit/results/export.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/file.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/training_log.h"
#include "submit/results/group_text.h"
#include "submit/results/result_inside.h"

enum { COLUMNS_MOST = 80 };

const char *const export_tables[] = {"runs",     "groups",    "metrics",  "parts",  "points",  "scores",  "losses",
                                     "segments", "data_sets", "pictures", "files", "readings", "latencies", "machines",
                                     "software", "receipts", "outside", "energy", "replays", "tickets", "places",
                                     "labels", "commitments", "deletions", "benches", "bench_repeats", "bench_memory",
                                     "bench_operators", "bench_receipts", "scalings", "scaling_reductions", NULL};
static const char *const per_run_tables[] = {"metrics",   "parts",     "points",   "scores",  "losses", "segments", "data_sets",
                                             "pictures", "files", "readings", "latencies", "receipts", "outside", "energy",
                                             "replays", "tickets", "places", "labels", "commitments", NULL};

static bool among(const char *const names[], const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static int add_runs(struct results *r, int64_t id, json_t *runs)
{
    json_t *list;
    TRY(record_rows(r, "SELECT id FROM runs WHERE ?1 IN (0, id) ORDER BY id", id, &list));
    size_t i;
    json_t *row;
    int rc = 0;
    json_array_foreach(list, i, row)
    {
        json_t *record;
        rc = record_read(r, record_int(row, "id"), &record);
        if (rc < 0) break;
        if (record_chain(record) < 0) json_object_set_new(record, "broken", json_string(error_text()));
        json_array_append_new(runs, record);
    }
    json_decref(list);
    return rc;
}

int export_groups(struct results *r, int64_t id, json_t **rows)
{
    json_t *row, *runs;
    size_t i;
    TRY(record_rows(r, "SELECT * FROM groups WHERE ?1 IN (0, id) ORDER BY id", id, rows));
    json_array_foreach(*rows, i, row)
    {
        struct group_facts facts;
        int rc = record_group(r, record_int(row, "id"), &runs, &facts);
        if (rc < 0) {
            json_decref(*rows);
            *rows = NULL;
            return rc;
        }
        json_object_update_new(row, group_text_json(&facts));
        json_decref(runs);
    }
    return 0;
}

static int add_rest(struct results *r, json_t *whole)
{
    json_t *rows;
    TRY(export_groups(r, 0, &rows));
    json_object_set_new(whole, "groups", rows);
    TRY(record_rows(r, "SELECT * FROM latencies WHERE run IS NULL ORDER BY id", 0, &rows));
    json_object_set_new(whole, "latencies", rows);
    static const char *const tables[] = {"deletions", "benches", "bench_repeats", "bench_memory", "bench_operators",
                                         "bench_receipts", "scalings", "scaling_reductions"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT * FROM %s", tables[i]);
        TRY(record_rows(r, sql, 0, &rows));
        json_object_set_new(whole, tables[i], rows);
    }
    return 0;
}

int export_json(struct results *r, int64_t id, struct text *into)
{
    json_t *runs = json_array();
    json_t *whole = json_pack("{s:s, s:i, s:o}", "type", "dawn-results", "format", RESULT_FORMAT, "runs", runs);
    int rc = add_runs(r, id, runs);
    if (rc == 0 && id == 0) rc = add_rest(r, whole);
    if (rc == 0) {
        char *text = json_dumps(whole, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
        if (text == NULL) rc = fail(ERR_MEMORY, "not enough memory to write the record as JSON");
        else text_add(into, "%s\n", text);
        free(text);
    }
    json_decref(whole);
    return rc;
}

static void csv_query(const char *table, int64_t id, char sql[256])
{
    if (id != 0 && strcmp(table, "runs") == 0) snprintf(sql, 256, "SELECT * FROM runs WHERE id = ?");
    else if (id != 0 && among(per_run_tables, table)) snprintf(sql, 256, "SELECT * FROM %s WHERE run = ?", table);
    else snprintf(sql, 256, "SELECT * FROM %s", table);
}

void export_rows(const json_t *rows, const char *const names[], struct text *into)
{
    json_t *row;
    size_t i;
    for (int c = 0; names[c] != NULL; c++) text_add(into, "%s%s", c == 0 ? "" : ",", names[c]);
    text_add(into, "\n");
    json_array_foreach((json_t *)rows, i, row)
    {
        for (int c = 0; names[c] != NULL; c++) {
            const json_t *value = json_object_get(row, names[c]);
            text_add(into, "%s", c == 0 ? "" : ",");
            if (json_is_integer(value)) text_add(into, "%lld", (long long)json_integer_value(value));
            else if (json_is_real(value)) text_add(into, "%.15g", json_real_value(value));
            else if (json_is_boolean(value)) text_add(into, "%d", json_is_true(value));
            else if (json_is_string(value)) text_csv(into, json_string_value(value));
        }
        text_add(into, "\n");
    }
}

// Adds to each run: 1 if a hash of it does not follow from its figures, else 0.
static int add_broken(struct results *r, json_t *rows)
{
    json_t *row, *run;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        TRY(record_read(r, record_int(row, "id"), &run));
        json_object_set_new(row, "broken", json_boolean(record_chain(run) < 0));
        json_decref(run);
    }
    return 0;
}

// Writes the columns and the computed members: the chain's verdict of runs, the figures of groups.
static int write_table(struct results *r, const char *table, const char *sql, json_t *rows, struct text *into)
{
    const char *names[COLUMNS_MOST + 1] = {NULL};
    static const char *const broken[] = {"broken", NULL}, *const none[] = {NULL};
    const char *const *more = strcmp(table, "runs") == 0 ? broken : strcmp(table, "groups") == 0 ? group_text_members : none;
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "read the record");
    int count = 0;
    for (int c = 0; c < sqlite3_column_count(statement) && count < COLUMNS_MOST; c++)
        if (strcmp(sqlite3_column_name(statement, c), "owner") != 0) names[count++] = sqlite3_column_name(statement, c);
    for (; *more != NULL && count < COLUMNS_MOST; more++) names[count++] = *more;
    export_rows(rows, names, into);
    sqlite3_finalize(statement);
    return 0;
}

int export_csv(struct results *r, const char *table, int64_t id, struct text *into)
{
    BUG_IF(!among(export_tables, table));  // the name becomes part of an SQL statement
    char sql[256];
    json_t *rows;
    csv_query(table, id, sql);
    if (strcmp(table, "groups") == 0) TRY(export_groups(r, 0, &rows));
    else TRY(record_rows(r, sql, id, &rows));
    int rc = strcmp(table, "runs") == 0 ? add_broken(r, rows) : 0;
    if (rc == 0) rc = write_table(r, table, sql, rows, into);
    json_decref(rows);
    return rc;
}

// Converts an exact text of a figure to a JSON number. Only DAWNBench's own format has reals.
static json_t *micro_number(int64_t micro)
{
    return json_real((double)micro / 1e6);
}

static void safe_word(char *word)
{
    for (; *word != 0; word++)
        if (!isalnum((unsigned char)*word) && *word != '-') *word = '-';
}

static json_t *entry(const json_t *run, const json_t *row, const struct export_entry *e, const char *time_key)
{
    const json_t *machine = json_object_get(run, "machine_facts");
    const json_t *outside = json_object_get(run, "outside");
    char hardware[600], date[16], memory[TEXT_FIGURE], threads[40] = "";
    time_t when = (time_t)(record_int(row, time_key) / 1000);
    struct tm day;
    gmtime_r(&when, &day);
    strftime(date, sizeof date, "%Y-%m-%d", &day);
    if (record_int(row, "threads") > 0)  // unknown for an outside program
        snprintf(threads, sizeof threads, "%lld threads of ", (long long)record_int(row, "threads"));
    snprintf(hardware, sizeof hardware, "%s%s / %s%s%s%s%s", threads, record_text(machine, "cpu"),
             text_size(memory, (double)record_int(machine, "memory_bytes")),
             *record_text(machine, "gpu") ? " / " : "", record_text(machine, "gpu"),
             record_has(row, "price_instance") ? " / " : "", record_text(row, "price_instance"));
    const char *framework = record_is_outside(run) ? "unknown" : "DAWN";
    if (outside != NULL) framework = record_text(outside, "framework");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", "v1.0", "author", e->author ? e->author : "",
                     "authorEmail", "", "framework", framework, "codeURL", e->code_url ? e->code_url : "", "model",
                     record_text(row, "model"), "hardware", hardware, "timestamp", date);
}

static int write_json(const char *path, json_t *value, struct text *written)
{
    char *text = json_dumps(value, JSON_INDENT(4) | JSON_REAL_PRECISION(12));
    if (text == NULL) return fail(ERR_MEMORY, "not enough memory to write %s", path);
    int rc = file_write(path, text, strlen(text));
    free(text);
    if (rc == 0 && written != NULL) text_add(written, "%s\n", path);
    return rc;
}

// Leaves out an unknown number of views instead of writing 0.
static json_t *miscellany(const json_t *run)
{
    json_t *misc = json_pack("{s:s, s:s, s:s, s:I}", "evaluatedBy", record_is_outside(run) ? "self" : "harness", "recipe",
                             record_text(run, "recipe"), "precision", record_text(run, "precision"), "seed",
                             (json_int_t)record_int(run, "seed"));
    if (record_int(run, "views") > 0) json_object_set_new(misc, "evaluationViews", json_integer(record_int(run, "views")));
    json_object_set_new(misc, "commit", json_string(record_text(json_object_get(run, "software_facts"), "commit_name")));
    json_object_set_new(misc, "nonce", json_string(record_text(run, "nonce")));
    json_object_set_new(misc, "clock", json_string("classic: loading and initialising count, evaluation does not"));
    return misc;
}

static int write_training(const json_t *run, const char *stem, const struct export_entry *e, struct text *written)
{
    struct text tsv = {0};
    char path[4096];
    training_log(run, &tsv);
    snprintf(path, sizeof path, "%s.tsv", stem);
    int rc = file_write(path, tsv.at, tsv.length);
    text_free(&tsv);
    TRY(rc);
    if (written != NULL) text_add(written, "%s\n", path);
    json_t *out = entry(run, run, e, "started_ms");
    if (out == NULL) return fail(ERR_INPUT, "the author's name or the address of the code is not valid UTF-8");
    if (record_has(run, "price_micro_per_hour"))
        json_object_set_new(out, "costPerHour", micro_number(record_int(run, "price_micro_per_hour")));
    json_object_set_new(out, "misc", miscellany(run));
    snprintf(path, sizeof path, "%s.json", stem);
    rc = write_json(path, out, written);
    json_decref(out);
    return rc;
}

static int write_inference(const json_t *run, const json_t *latency, const struct contest *contest, const char *stem,
                           const struct export_entry *e, struct text *written)
{
    char path[4096], figure[TRAINING_FIGURE];
    json_t *out = entry(run, latency, e, "measured_ms");
    if (out == NULL) return fail(ERR_INPUT, "the author's name or the address of the code is not valid UTF-8");
    int64_t mean = record_int(latency, "whole_mean_ns");
    json_object_set_new(out, "latency", micro_number(mean));  // nanoseconds are millionths of a millisecond
    if (record_has(latency, "price_micro_per_hour")) {
        double dollars = (double)record_int(latency, "price_micro_per_hour") / 1e6;
        json_object_set_new(out, "cost", json_real((double)mean / 3.6e12 * dollars));
    }
    struct run_metric measured = contest->board;
    measured.items = contest_is_share(contest) ? 0 : record_int(latency, "items");
    training_log_score(figure, &measured, record_int(latency, "k"));
    json_object_set_new(out, contest->dawnbench_column, json_real(strtod(figure, NULL)));
    json_object_set_new(out, "misc",
                        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "precision", record_text(latency, "precision"), "threads",
                                  (json_int_t)record_int(latency, "threads"), "p50_ns",
                                  (json_int_t)record_int(latency, "whole_p50_ns"), "p90_ns",
                                  (json_int_t)record_int(latency, "whole_p90_ns"), "p99_ns",
                                  (json_int_t)record_int(latency, "whole_p99_ns"), "without_preprocessing_mean_ns",
                                  (json_int_t)record_int(latency, "model_mean_ns")));
    snprintf(path, sizeof path, "%s_latency%lld.json", stem, (long long)record_int(latency, "id"));
    int rc = write_json(path, out, written);
    json_decref(out);
    return rc;
}

// An outside program owns its data, so the data are not checked. The entry names the evaluator.
static int check_run(const json_t *run, const struct contest *contest)
{
    long long id = (long long)record_int(run, "id");
    if (record_chain(run) < 0) {
        char why[ERROR_TEXT_MAX];
        snprintf(why, sizeof why, "%s", error_text());
        return fail(ERR_INPUT, "run %lld has been changed since it was recorded: %s", id, why);
    }
    if (record_int(run, "synthetic") != 0)
        return fail(ERR_INPUT, "run %lld was trained on synthetic data, which DAWNBench does not list: nothing was exported",
                    id);
    if (record_int(run, "official") == 0 && !record_is_outside(run))
        return fail(ERR_INPUT, "run %lld was trained on other data than the published set: nothing was exported", id);
    if (contest == NULL || contest->dawnbench_column == NULL)
        return fail(ERR_UNSUPPORTED, "DAWNBench had no format for the task %s", record_text(run, "task"));
    if (!record_has(run, "last_score")) return fail(ERR_INPUT, "run %lld has no evaluation to export", id);
    return 0;
}

static int write_files(const json_t *run, const char *folder, const struct export_entry *e, struct text *written)
{
    char path[3072], stem[4000], name[160], author[64], device[64];
    const struct contest *contest = contest_find(record_text(run, "task"));
    TRY(check_run(run, contest));
    snprintf(author, sizeof author, "%.60s", e->author != NULL && *e->author ? e->author : "dawn");
    safe_word(author);
    snprintf(name, sizeof name, "%.60s-run%lld", record_text(run, "model"), (long long)record_int(run, "id"));
    safe_word(name);
    if (snprintf(path, sizeof path, "%s/%s/train", folder, contest->title) >= (int)sizeof path)
        return fail(ERR_USAGE, "the folder's name is too long");
    TRY(file_make_folder(path));
    snprintf(device, sizeof device, "%s", record_text(run, "device"));
    safe_word(device);
    snprintf(stem, sizeof stem, "%s/%s_%s_%s_dawn", path, author, name, device);
    TRY(write_training(run, stem, e, written));
    snprintf(path, sizeof path, "%s/%s/inference", folder, contest->title);
    size_t i;
    json_t *latency;
    json_array_foreach(json_object_get(run, "latencies"), i, latency)
    {
        if (record_int(latency, "eligible") == 0) continue;
        TRY(file_make_folder(path));
        snprintf(stem, sizeof stem, "%s/%s_%s_%s_dawn", path, author, name, device);
        TRY(write_inference(run, latency, contest, stem, e, written));
    }
    return 0;
}

int export_dawnbench(struct results *r, int64_t id, const char *folder, const struct export_entry *e, struct text *written)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    int rc = write_files(run, folder, e, written);
    json_decref(run);
    return rc;
}
