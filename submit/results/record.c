// SPDX-License-Identifier: Apache-2.0
// Rows of results.db as JSON. Invariant: values keep their stored form, integers as integers. Cost: one query per table; a run
// is a few kilobytes.
#include "submit/results/record.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "submit/format/score/curve.h"
#include "submit/results/result_inside.h"

int64_t record_int(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

bool record_is_outside(const json_t *run)
{
    return record_has(run, "outside") || strcmp(record_text(run, "device"), "outside") == 0;
}

bool record_group_is_outside(const json_t *runs)
{
    size_t i;
    json_t *run;
    json_array_foreach((json_t *)runs, i, run)
        if (record_is_outside(run)) return true;
    return false;
}

bool record_has(const json_t *row, const char *key)
{
    return json_object_get(row, key) != NULL;
}

const char *record_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static int read_row(struct results *r, sqlite3_stmt *statement, json_t *row)
{
    bool lives = true;
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const char *name = sqlite3_column_name(statement, i);
        int type = sqlite3_column_type(statement, i);
        if (strcmp(name, "owner") == 0) {
            lives = type == SQLITE_TEXT && result_owner_lives((const char *)sqlite3_column_text(statement, i));
            continue;
        }
        if (type == SQLITE_NULL) continue;
        const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, i) : NULL;
        if (text != NULL && strlen(text) != (size_t)sqlite3_column_bytes(statement, i))
            return fail(ERR_DATABASE, "%s holds text in column %s with a NUL in it", r->path, name);
        json_t *value = type == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(statement, i)) : json_string(text);
        if (json_object_set_new(row, name, value) != 0)
            return fail(ERR_DATABASE, "%s holds text in column %s that is not valid UTF-8", r->path, name);
    }
    if (!lives && strcmp(record_text(row, "status"), "running") == 0) {
        json_object_set_new(row, "status", json_string("interrupted"));
        json_object_set_new(row, "message", json_string("the process ended unexpectedly"));
    }
    return 0;
}

int record_rows(struct results *r, const char *sql, int64_t id, json_t **rows)
{
    sqlite3_stmt *statement;
    *rows = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "read the record");
    if (sqlite3_bind_parameter_count(statement) > 0) sqlite3_bind_int64(statement, 1, id);
    json_t *all = json_array();
    int rc = 0, step;
    while (rc == 0 && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *row = json_object();
        rc = read_row(r, statement, row);
        json_array_append_new(all, row);
    }
    if (rc == 0 && step != SQLITE_DONE) rc = result_fail(r, "read the record");
    sqlite3_finalize(statement);
    if (rc == 0) *rows = all;
    else json_decref(all);
    return rc;
}

// All columns of a run, the last score of the board's metric and the time of the last point.
#define RUN_COLUMNS                                                                                                    \
    "SELECT runs.*, (SELECT score FROM scores WHERE run = runs.id AND metric = 0 ORDER BY step DESC LIMIT 1) AS last_score," \
    " p.t_ns AS last_ns, p.classic_ns AS last_classic_ns, p.warm_ns AS last_warm_ns,"                                  \
    " p.warm_with_evaluation_ns AS last_warm_with_evaluation_ns, p.samples AS last_samples,"                           \
    " (SELECT uj FROM energy WHERE run = runs.id AND step = runs.reached_step) AS reached_energy_uj,"                  \
    " (SELECT head FROM replays WHERE run = runs.id) AS replay_of, labels.name, labels.note, labels.tags"              \
    " FROM runs LEFT JOIN labels ON labels.run = runs.id LEFT JOIN points AS p ON p.run = runs.id AND p.step = "       \
    "(SELECT max(step) FROM points WHERE run = runs.id) "

static int add_rows(struct results *r, json_t *record, const char *key, const char *sql, int64_t id)
{
    json_t *rows;
    TRY(record_rows(r, sql, id, &rows));
    json_object_set_new(record, key, rows);
    return 0;
}

static int add_metrics(struct results *r, json_t *run)
{
    return add_rows(r, run, "metrics",
                    "SELECT name, unit, lower_is_better, items FROM metrics WHERE run = ? ORDER BY number",
                    record_int(run, "id"));
}

// Reads runs with the values that every reader needs.
static int read_runs(struct results *r, const char *sql, int64_t id, json_t **runs)
{
    json_t *rows, *run;
    size_t i;
    *runs = NULL;
    TRY(record_rows(r, sql, id, &rows));
    int rc = 0;
    json_array_foreach(rows, i, run)
    {
        rc = add_metrics(r, run);
        if (rc < 0) break;
    }
    if (rc == 0) *runs = rows;
    else json_decref(rows);
    return rc;
}

int record_list(struct results *r, json_t **runs)
{
    return read_runs(r, RUN_COLUMNS "ORDER BY runs.id", 0, runs);
}

int record_group(struct results *r, int64_t group, json_t **runs, struct group_facts *facts)
{
    json_t *groups;
    TRY(record_rows(r, "SELECT * FROM groups WHERE id = ?", group, &groups));
    int64_t planned = record_int(json_array_get(groups, 0), "planned");
    int64_t target = record_int(json_array_get(groups, 0), "target_micro");
    json_decref(groups);
    TRY(read_runs(r, RUN_COLUMNS "WHERE group_id = ? ORDER BY group_index", group, runs));
    size_t count = json_array_size(*runs);
    struct group_run *list = zalloc((count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const json_t *run = json_array_get(*runs, i);
        struct run_metric board = curve_board(run);
        bool outside = strcmp(record_text(run, "device"), "outside") == 0;  // an outside program owns its data, so nothing is
                                                                            // claimed about them
        list[i] = (struct group_run){
            .seed = record_int(run, "seed"),
            .ns = record_int(run, "last_ns"),
            .k = record_int(run, "last_score"),
            .items = board.items,
            .lower = board.lower_is_better,
            .finished = curve_ended(run) && record_has(run, "last_score"),
            .synthetic = record_int(run, "synthetic") != 0,
            .custom = record_int(run, "official") == 0 && !outside,
            .stopped_at_target = record_int(run, "stop_at_target") != 0};
    }
    group_judge(list, (int)count, (int)planned, target, facts);
    free(list);
    return 0;
}

// Like add_rows, for a query that finds one row.
static int add_one(struct results *r, json_t *record, const char *key, const char *sql, int64_t id)
{
    json_t *rows;
    TRY(record_rows(r, sql, id, &rows));
    if (json_array_size(rows) > 0) json_object_set(record, key, json_array_get(rows, 0));
    json_decref(rows);
    return 0;
}

// Gives each point a list of its rows. Both are ordered by step.
static int add_to_points(struct results *r, json_t *record, const char *name, const char *sql, int64_t id)
{
    json_t *points = json_object_get(record, "points"), *rows, *row;
    size_t i, at = 0;
    TRY(record_rows(r, sql, id, &rows));
    json_array_foreach(rows, i, row)
    {
        while (at < json_array_size(points) && record_int(json_array_get(points, at), "step") < record_int(row, "step")) at++;
        json_t *point = json_array_get(points, at), *list = json_object_get(point, name);
        if (point == NULL || record_int(point, "step") != record_int(row, "step")) continue;
        if (list == NULL) json_object_set_new(point, name, list = json_array());
        json_object_del(row, "step");
        json_array_append(list, row);
    }
    json_decref(rows);
    return 0;
}

static int read_parts(struct results *r, json_t *record, int64_t id)
{
    TRY(add_rows(r, record, "data_sets",
                 "SELECT name, split, digest, items, official, synthetic, short_side, quality, damaged, (SELECT remembered"
                 " FROM readings WHERE readings.run = data_sets.run AND part = data_sets.split) AS remembered FROM data_sets"
                 " LEFT JOIN pictures USING (run, split) WHERE run = ?", id));
    TRY(add_rows(r, record, "files",
                 "SELECT kind, name, digest, bytes, (SELECT remembered FROM readings WHERE readings.run = files.run"
                 " AND part = files.kind) AS remembered FROM files WHERE run = ?", id));
    TRY(add_rows(r, record, "places",
                 "SELECT step, rank, machine, machine_number, device, threads FROM places WHERE run = ? ORDER BY step, rank",
                 id));
    TRY(add_rows(r, record, "points",
                 "SELECT step, epoch_micro, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples, stall_ns, loss_micro,"
                 " hash FROM points WHERE run = ? ORDER BY step",
                 id));
    TRY(add_to_points(r, record, "scores",
                      "SELECT step, name AS metric, score FROM scores JOIN metrics USING (run) WHERE number = metric AND run = ?"
                      " ORDER BY step, metric", id));
    TRY(add_to_points(r, record, "losses", "SELECT step, name, loss FROM losses WHERE run = ? ORDER BY step, number", id));
    TRY(add_rows(r, record, "energy", "SELECT step, uj FROM energy WHERE run = ? ORDER BY step", id));
    TRY(add_rows(r, record, "work", "SELECT samples, flops_per_sample FROM parts WHERE run = ? ORDER BY number", id));
    TRY(add_rows(r, record, "segments", "SELECT segment, start_ns, end_ns FROM segments WHERE run = ? ORDER BY number", id));
    TRY(add_rows(r, record, "latencies", "SELECT * FROM latencies WHERE run = ? ORDER BY id", id));
    json_t *latency;
    size_t i;
    json_array_foreach(json_object_get(record, "latencies"), i, latency)
        TRY(add_one(r, latency, "machine_facts", "SELECT * FROM machines WHERE id = ?", record_int(latency, "machine")));
    TRY(add_one(r, record, "machine_facts", "SELECT * FROM machines WHERE id = ?", record_int(record, "machine")));
    TRY(add_one(r, record, "software_facts", "SELECT * FROM software WHERE id = ?", record_int(record, "software")));
    if (record_has(record, "group_id"))
        TRY(add_one(r, record, "group", "SELECT * FROM groups WHERE id = ?", record_int(record, "group_id")));
    TRY(add_one(r, record, "ticket", "SELECT statement, board_key, proof FROM tickets WHERE run = ?", id));
    TRY(add_one(r, record, "outside", "SELECT command, framework, devices FROM outside WHERE run = ?", id));
    TRY(add_rows(r, record, "receipts", "SELECT * FROM receipts WHERE run = ? ORDER BY id", id));
    return 0;
}

int record_read(struct results *r, int64_t id, json_t **record)
{
    json_t *rows;
    *record = NULL;
    TRY(read_runs(r, RUN_COLUMNS "WHERE runs.id = ?", id, &rows));
    json_t *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    if (row == NULL) return fail(ERR_USAGE, "there is no run %lld in %s", (long long)id, r->path);
    int rc = read_parts(r, row, id);
    if (rc == 0) *record = row;
    else json_decref(row);
    return rc;
}

// The newest run of that name. Names with other characters are of no dawn and would reach the terminal with a suggestion.
static int find_named(struct results *r, const char *name, int64_t *id)
{
    json_t *rows, *row;
    size_t i;
    *id = 0;
    TRY(record_rows(r, "SELECT max(run) AS run, name FROM labels WHERE name NOT GLOB '*[^!-~]*' GROUP BY name ORDER BY run", 0,
                    &rows));
    const char **names = zalloc((json_array_size(rows) + 1) * sizeof *names);
    json_array_foreach(rows, i, row)
    {
        names[i] = record_text(row, "name");
        if (strcmp(names[i], name) == 0) *id = record_int(row, "run");
    }
    int rc = *id > 0 ? 0 : fail_unknown(ERR_USAGE, "run", name, names, "a run has a number, and \"last\" is the last");
    free(names);
    json_decref(rows);
    return rc;
}

int record_namesakes(struct results *r, const char *word, int64_t id)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT name FROM labels WHERE name = (SELECT name FROM labels WHERE run = ?1)", id, &rows));
    int count = strcmp(record_text(json_array_get(rows, 0), "name"), word) == 0 ? (int)json_array_size(rows) : 0;
    json_decref(rows);
    return count;
}

int record_find(struct results *r, const char *word, int64_t *id)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT max(id) AS last FROM runs", 0, &rows));
    int64_t last = record_int(json_array_get(rows, 0), "last");
    json_decref(rows);
    if (last == 0) return fail(ERR_DATABASE, "no run has been recorded in %s yet", r->path);
    if (strcmp(word, "last") == 0) {
        *id = last;
        return 0;
    }
    if (text_to_int(word, 1, INT64_MAX, id) < 0) return find_named(r, word, id);
    TRY(record_rows(r, "SELECT id FROM runs WHERE id = ?", *id, &rows));
    bool there = json_array_size(rows) > 0;
    json_decref(rows);
    if (!there) return fail(ERR_USAGE, "there is no run %s in %s; the last is %lld", word, r->path, (long long)last);
    return 0;
}

// The processes from `step` on.
static int count_places(const json_t *record, int64_t step, int *machines)
{
    int count = 0;
    size_t i;
    json_t *process;
    *machines = 1;
    json_array_foreach(json_object_get(record, "places"), i, process)
    {
        if (record_int(process, "step") != step) continue;
        count++;
        if (record_int(process, "machine_number") >= *machines) *machines = (int)record_int(process, "machine_number") + 1;
    }
    return count > 0 ? count : 1;
}

int record_processes(const json_t *record, int *machines)
{
    return count_places(record, 0, machines);
}

bool record_moved(const json_t *record)
{
    int machines, now, count = record_processes(record, &machines);
    const json_t *places = json_object_get(record, "places");
    for (size_t i = 0; i < json_array_size(places); i++) {
        int64_t step = record_int(json_array_get(places, i), "step");
        if (count_places(record, step, &now) != count || now != machines) return true;
    }
    return false;
}

char *record_weights(const struct results *r, const json_t *run)
{
    const char *name = record_text(run, "checkpoint"), *slash = strrchr(r->path, '/');
    char *path = NULL;
    if (!*name) return NULL;
    int folder = slash && name[0] != '/' ? (int)(slash - r->path + 1) : 0;
    if (asprintf(&path, "%.*s%s", folder, r->path, name) < 0) BUG("out of memory");
    return path;
}

int record_folder(struct results *r, int64_t id, char **path)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT path FROM folders WHERE run = ?", id, &rows));
    const char *known = record_text(json_array_get(rows, 0), "path");
    *path = *known ? copy_text(known) : NULL;
    json_decref(rows);
    return 0;
}

int record_find_weights(struct results *r, const char *task, int64_t *id)
{
    json_t *rows, *row;
    size_t i;
    *id = 0;
    TRY(record_rows(r, "SELECT id, task, checkpoint FROM runs WHERE checkpoint IS NOT NULL ORDER BY id DESC", 0, &rows));
    json_array_foreach(rows, i, row)
    {
        char *path = record_weights(r, row);
        bool wanted = task == NULL || strcmp(record_text(row, "task"), task) == 0;
        if (*id == 0 && wanted && path && file_exists(path)) *id = record_int(row, "id");
        free(path);
    }
    json_decref(rows);
    if (*id > 0) return 0;
    return fail(ERR_DATABASE, "no run%s%s in %s has weights: none finished, or --save \"\" kept them from being written",
                task ? " of task " : "", task ? task : "", r->path);
}
