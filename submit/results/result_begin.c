// SPDX-License-Identifier: Apache-2.0
// Begins a run in the record: its facts, its machine and program, the root of its chain. One transaction.
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "submit/format/score/contest.h"
#include "submit/results/record.h"
#include "submit/results/result_inside.h"
#include "submit/results/stated.h"

static int find_row(struct results *r, const char *sql, const char *digest, int64_t *id)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) return result_fail(r, "find the machine");
    sqlite3_bind_text(statement, 1, digest, -1, SQLITE_STATIC);
    int rc = sqlite3_step(statement);
    int failed = rc == SQLITE_ROW ? 0 : result_fail(r, "find the machine");
    if (rc == SQLITE_ROW) *id = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return failed;
}

int result_machine(struct results *r, const struct machine_facts *given, int64_t *id)
{
    struct machine_facts read;
    if (given == NULL) {
        machine_read(&read);
        given = &read;
    }
    const struct machine_facts *m = given;
    struct text all = {0};
    char digest[DIGEST_HEX];
#define TEXT(name, what) text_add(&all, "%s\n", m->name);
#define NUMBER(name, most, what) text_add(&all, "%lld\n", (long long)m->name);
    MACHINE_FACT_LIST
#undef TEXT
#undef NUMBER
    digest_bytes(all.at, all.length, digest);
    text_free(&all);
#define TEXT(name, what) ", " #name
#define NUMBER(name, most, what) ", " #name
    static const char columns[] = "INSERT OR IGNORE INTO machines (digest" MACHINE_FACT_LIST ") VALUES (?";
#undef TEXT
#undef NUMBER
#define TEXT(name, what) ",?"
#define NUMBER(name, most, what) ",?"
    static const char values[] = MACHINE_FACT_LIST ")";
#undef TEXT
#undef NUMBER
#define TEXT(name, what) "t"
#define NUMBER(name, most, what) "i"
    static const char types[] = "t" MACHINE_FACT_LIST;
#undef TEXT
#undef NUMBER
    struct text sql = {0};
    text_add(&sql, "%s%s", columns, values);
#define TEXT(name, what) , m->name
#define NUMBER(name, most, what) , m->name
    int rc = result_do(r, "record the machine", sql.at, types, digest MACHINE_FACT_LIST);
#undef TEXT
#undef NUMBER
    text_free(&sql);
    TRY(rc);
    return find_row(r, "SELECT id FROM machines WHERE digest = ?", digest, id);
}

int result_software(struct results *r, const struct software_facts *s, int64_t *id)
{
    struct text all = {0};
    text_add(&all, "%s\n%d\n%s\n%s\n%s\n%s\n", s->commit, s->dirty, s->compiler, s->flags, s->binary_digest, s->libraries);
    char digest[DIGEST_HEX];
    digest_bytes(all.at, all.length, digest);
    text_free(&all);
    TRY(result_do(r, "record the software",
                  "INSERT OR IGNORE INTO software (digest, commit_name, dirty, compiler, flags, binary_digest, libraries)"
                  " VALUES (?,?,?,?,?,?,?)",
                  "ttitttt", digest, s->commit, (int64_t)s->dirty, s->compiler, s->flags, s->binary_digest, s->libraries));
    return find_row(r, "SELECT id FROM software WHERE digest = ?", digest, id);
}

void result_keep_metrics(struct run *run, const struct run_metric *metrics, int count)
{
    run->metric_count = count;
    for (int i = 0; i < count; i++) {
        run->metrics[i] = metrics[i];
        run->metrics[i].name = copy_text(metrics[i].name);
        run->metrics[i].unit = copy_text(metrics[i].unit);
    }
}

static int check_facts(const struct run_facts *f)
{
    BUG_IF(f->metric_count < 1 || f->metric_count > RUN_METRICS_MAX);
    bool count = f->metrics[0].items != 0;
    if (f->target_micro < 1 || (count && f->target_micro > 1000000))
        return fail(ERR_USAGE, "the target must be above 0 and at most 1,000,000 millionths; got %lld",
                    (long long)f->target_micro);
    for (int m = 0; m < f->metric_count; m++)
        if (f->metrics[m].items < 0) return fail(ERR_INPUT, "an evaluation of no items cannot be recorded");
    if (f->data_count < 1 && strcmp(f->device, "outside") != 0) BUG("a run without a data set");
    return 0;
}

static int store_reading(struct run *run, const char *part, enum run_reading reading)
{
    if (reading == READING_NONE) return 0;
    return result_do(run->results, "record the digests", "INSERT INTO readings (run, part, remembered) VALUES (?,?,?)", "iti",
                     run->id, part, (int64_t)(reading == READING_REMEMBERED));
}

// Stores the data sets, and for pictures how they were packed.
static int store_data(struct run *run, const struct run_facts *f)
{
    for (int i = 0; i < f->data_count; i++) {
        const struct run_data *d = &f->data[i];
        TRY(result_do(run->results, "record the data sets",
                      "INSERT INTO data_sets (run, name, split, digest, items, official, synthetic) VALUES (?,?,?,?,?,?,?)",
                      "itttiii", run->id, d->name, d->split, d->digest, d->items, (int64_t)d->official, (int64_t)d->synthetic));
        TRY(store_reading(run, d->split, d->reading));
        if (d->pictures)
            TRY(result_do(run->results, "record the pictures",
                          "INSERT INTO pictures (run, split, short_side, quality) VALUES (?,?,?,?)", "itii", run->id, d->split,
                          (int64_t)d->short_side, (int64_t)d->quality));
    }
    return 0;
}

int result_store_places(struct run *run, int64_t step, const struct run_process *places, int count)
{
    TRY(result_do(run->results, "record the devices", "DELETE FROM places WHERE run = ? AND step >= ?", "ii", run->id, step));
    for (int64_t i = 0; i < count; i++) {
        int64_t machine;
        TRY(result_machine(run->results, places[i].machine, &machine));
        TRY(result_do(run->results, "record the devices",
                      "INSERT INTO places (run, step, rank, machine, machine_number, device, threads) VALUES (?,?,?,?,?,?,?)",
                      "iiiiiti", run->id, step, i, machine, places[i].machine_number, places[i].device, places[i].threads));
    }
    return 0;
}

// A path that is not UTF-8 is left out: the record holds only such text.
static int store_folder(struct run *run, const char *folder)
{
    json_t *word = folder != NULL ? json_string(folder) : NULL;
    if (word == NULL) return 0;
    json_decref(word);
    return result_do(run->results, "record the folder", "INSERT INTO folders (run, path) VALUES (?,?)", "it", run->id, folder);
}

// Stores the metrics, the parts of the schedule, the files, the folder of the data, which run is repeated, and the ticket.
static int store_lists(struct run *run, const struct run_facts *f)
{
    for (int64_t i = 0; i < f->metric_count; i++)
        TRY(result_do(run->results, "record the metrics",
                      "INSERT INTO metrics (run, number, name, unit, lower_is_better, items) VALUES (?,?,?,?,?,?)", "iittii",
                      run->id, i, f->metrics[i].name, f->metrics[i].unit, (int64_t)f->metrics[i].lower_is_better,
                      f->metrics[i].items));
    for (int64_t i = 0; i < f->part_count; i++)
        TRY(result_do(run->results, "record the schedule",
                      "INSERT INTO parts (run, number, samples, flops_per_sample) VALUES (?,?,?,?)", "iiii", run->id, i,
                      f->parts[i].samples, f->parts[i].flops_per_sample));
    for (int i = 0; i < f->file_count; i++) {
        TRY(result_do(run->results, "record the files", "INSERT INTO files (run, kind, name, digest, bytes) VALUES (?,?,?,?,?)",
                      "ittti", run->id, f->files[i].kind, f->files[i].name, f->files[i].digest, f->files[i].bytes));
        TRY(store_reading(run, f->files[i].kind, f->files[i].reading));
    }
    if (f->replay_of != NULL)
        TRY(result_do(run->results, "record the replay", "INSERT INTO replays (run, head) VALUES (?,?)", "it", run->id,
                      f->replay_of));
    TRY(store_folder(run, f->folder));
    TRY(labels_store(run->results, run->id, &f->labels));
    if (f->ticket != NULL)
        TRY(result_do(run->results, "record the ticket",
                      "INSERT INTO tickets (run, statement, board_key, proof) VALUES (?,?,?,?)", "ittt", run->id,
                       f->ticket->statement, f->ticket->board_key, f->ticket->proof));
    return 0;
}

void result_free_run(struct run *run)
{
    for (int i = 0; i < run->metric_count; i++) {
        free((char *)run->metrics[i].name);
        free((char *)run->metrics[i].unit);
    }
    free(run);
}

int result_store_spans(struct run *run)
{
    const struct stopwatch *sw = run->stopwatch;
    if (sw == NULL) return 0;
    // A closed span grows if its segment is entered again at once, so the last stored span is replaced.
    TRY(result_do(run->results, "record the segments",
                  "DELETE FROM segments WHERE run = ?1 AND number >= (SELECT max(number) FROM segments WHERE run = ?1)", "i",
                  run->id));
    sqlite3_stmt *last;
    if (sqlite3_prepare_v2(run->results->db, "SELECT count(*) FROM segments WHERE run = ?", -1, &last, NULL) != SQLITE_OK)
        return result_fail(run->results, "record the segments");
    sqlite3_bind_int64(last, 1, run->id);
    int stored = sqlite3_step(last) == SQLITE_ROW ? sqlite3_column_int(last, 0) : 0;
    sqlite3_finalize(last);
    for (int i = stored; i < sw->count; i++)
        TRY(result_do(run->results, "record the segments",
                      "INSERT INTO segments (run, number, segment, start_ns, end_ns) VALUES (?,?,?,?,?)", "iitii", run->id,
                      (int64_t)i, stopwatch_name(sw->spans[i].segment), sw->spans[i].start_ns, sw->spans[i].end_ns));
    return 0;
}

int result_bind(struct run *run)
{
    json_t *record;
    char root[DIGEST_HEX];
    TRY(record_read(run->results, run->id, &record));
    json_t *stated = stated_run(record);
    int rc = chain_bind(&run->chain, stated);
    json_decref(stated);
    json_decref(record);
    if (rc < 0) return fail_prefix(rc, "the run cannot be recorded: ");
    chain_hex(&run->chain, root);
    return result_do(run->results, "record the root of the chain", "UPDATE runs SET chain_root = ? WHERE id = ?", "ti", root,
                     run->id);
}

static int store_run(struct run *run, const struct run_facts *f, const struct software_facts *software)
{
    struct results *r = run->results;
    char nonce[33], task[DIGEST_HEX], recipe[DIGEST_HEX];
    const struct contest *contest = contest_find(f->task);
    bool synthetic = contest != NULL && contest->synthetic;
    bool official = f->data_count > 0;  // an outside program owns its data, so nothing is known about them
    for (int i = 0; i < f->data_count; i++) {
        synthetic = synthetic || f->data[i].synthetic;
        official = official && f->data[i].official && !f->data[i].synthetic;
    }
    result_nonce(nonce);
    digest_bytes(f->recipe_json, strlen(f->recipe_json), recipe);
    TRY(contest_digest(f->task, &f->metrics[0], f->target_micro, task));
    int64_t machine, program;
    TRY(result_machine(r, f->machine, &machine));
    TRY(result_software(r, software, &program));
    const struct price *price = f->price;
    TRY(result_do(
        r, "record the run",
        "INSERT INTO runs (id, nonce, status, owner, group_id, group_index, task, task_digest, target_micro, model, parameters,"
        " flops_per_sample, recipe, recipe_json, recipe_digest, recipe_published, precision, device, threads, batch,"
        " step_least, step_most, seed, views, input_size, stop_at_target, synthetic, official, machine, software, price_instance,"
        " price_micro_per_hour, price_source, price_date, started_ms, resumed, chain_root) VALUES"
        " ((SELECT 1 + coalesce(max(id), 0) FROM (SELECT id FROM runs UNION SELECT run FROM deletions)),?,'running',"
        "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,'')",
        "ttpptti" "tii" "ttti" "tt" "iippiii" "iii" "iitptti", nonce, r->owner, f->group, f->group_index, f->task, task,
        f->target_micro, f->model, f->parameters, f->flops_per_sample, f->recipe, f->recipe_json, recipe, (int64_t)f->published,
        f->precision, f->device, f->threads, f->batch, f->step_least, f->step_most, f->seed, f->views, f->input_size,
        (int64_t)f->stop_at_target, (int64_t)synthetic, (int64_t)official, machine, program, price ? price->instance : NULL,
        price ? price->micro_per_hour : (int64_t)0, price ? price->source : NULL, price ? price->date : NULL, clock_unix_ms()));
    run->id = sqlite3_last_insert_rowid(r->db);
    TRY(store_data(run, f));
    TRY(store_lists(run, f));
    TRY(result_store_places(run, 0, f->places, f->process_count));
    TRY(result_bind(run));
    return result_store_spans(run);
}

int result_begin(struct results *r, const struct run_facts *f, struct run **out)
{
    *out = NULL;
    TRY(check_facts(f));
    struct software_facts own;
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    struct run *run = zalloc(sizeof *run);
    *run = (struct run){.results = r, .stopwatch = f->stopwatch, .target_micro = f->target_micro, .last_score = RUN_SCORE_NONE};
    result_keep_metrics(run, f->metrics, f->metric_count);
    int rc = result_end_transaction(r, store_run(run, f, f->software != NULL ? f->software : &own));
    if (rc < 0) result_free_run(run);
    else *out = run;
    return rc;
}
