// SPDX-License-Identifier: Apache-2.0
// Writing a run while it runs. Invariant: after every call that returns 0 the file holds, on disk, all that was
// told it, and the chain's head in memory is the hash of the last stored point. Each call is one transaction.
// Cost: two fsyncs a call, nothing in between.
#include "tasks/record/result.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"
#include "submit/format/chain.h"
#include "submit/format/contest.h"
#include "tasks/record/result_inside.h"

struct run {
    struct results *results;
    const struct stopwatch *stopwatch;
    int64_t id, items, target_micro;
    bool stop_at_target;
    struct chain chain;
    int64_t last_epoch, last_ns, last_samples;  // of the last point; time and epochs only grow
    int64_t last_k;                             // of the last evaluation; -1 before the first
    bool reached;
};

static const char *const status_names[] = {
#define STATUS(name, text) text,
    RUN_STATUS_LIST
#undef STATUS
};

const char *run_status_name(enum run_status status)
{
    BUG_IF(status < 0 || status >= RUN_STATUS_END);
    return status_names[status];
}

static void draw_nonce(char hex[33])
{
    unsigned char bytes[16];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(hex, 33, bytes, sizeof bytes);
}

// Machines and software are stored once each and found again by the digest of their facts.
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

static int store_machine(struct results *r, const struct machine_facts *given, int64_t *id)
{
    struct machine_facts read;
    if (given == NULL) {
        machine_read(&read);
        given = &read;
    }
    const struct machine_facts *m = given;
    struct text all = {0};
    text_add(&all, "%s\n%s\n%lld\n%lld\n%lld\n%lld\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", m->cpu, m->cpu_flags, (long long)m->sockets,
             (long long)m->cores_online, (long long)m->cores_usable, (long long)m->memory_bytes, m->product, m->governor,
             m->virtualised, m->gpu, m->driver, m->os, m->kernel);
    char digest[DIGEST_HEX];
    digest_bytes(all.at, all.length, digest);
    text_free(&all);
    TRY(result_do(r, "record the machine",
                  "INSERT OR IGNORE INTO machines (digest, cpu, cpu_flags, sockets, cores_online, cores_usable, memory_bytes,"
                  " product, governor, virtualised, gpu, driver, os, kernel) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                  "tttiiiittttttt", digest, m->cpu, m->cpu_flags, m->sockets, m->cores_online, m->cores_usable, m->memory_bytes,
                  m->product, m->governor, m->virtualised, m->gpu, m->driver, m->os, m->kernel));
    return find_row(r, "SELECT id FROM machines WHERE digest = ?", digest, id);
}

static int store_software(struct results *r, const struct software_facts *s, int64_t *id)
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

static int store_spans(struct run *run)
{
    const struct stopwatch *sw = run->stopwatch;
    if (sw == NULL) return 0;
    // A closed span grows when its segment is entered again at once, so the last stored one is written anew.
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

// The segment still open, closed at this moment for the record.
static int store_open_span(struct run *run)
{
    const struct stopwatch *sw = run->stopwatch;
    if (sw == NULL) return 0;
    int64_t start = sw->entered_ns - sw->start_ns, end = stopwatch_end_to_end_ns(sw);
    if (end <= start) return 0;
    return result_do(run->results, "record the segments",
                     "INSERT INTO segments (run, number, segment, start_ns, end_ns) VALUES (?,?,?,?,?)", "iitii", run->id,
                     (int64_t)sw->count, stopwatch_name(sw->open), start, end);
}

static int check_facts(const struct run_facts *f)
{
    if (f->target_micro < 1 || f->target_micro > 1000000)
        return fail(ERR_USAGE, "the target is a share above 0 and at most 1, here %lld millionths", (long long)f->target_micro);
    if (f->items < 1) return fail(ERR_INPUT, "an evaluation of no items can not be recorded");
    if (f->data_count < 1 && strcmp(f->device, "outside") != 0) BUG("a run without a data set");
    return 0;
}

static int store_run(struct run *run, const struct run_facts *f, const struct software_facts *software)
{
    struct results *r = run->results;
    char nonce[33], task[DIGEST_HEX], recipe[DIGEST_HEX], root[DIGEST_HEX];
    const char **digests = zalloc((size_t)f->data_count * sizeof *digests);
    const struct contest *contest = contest_find(f->task);
    bool synthetic = contest != NULL && contest->synthetic;
    bool official = f->data_count > 0;  // an outside program owns its data: nothing is known of them
    for (int i = 0; i < f->data_count; i++) {
        digests[i] = f->data[i].digest;
        synthetic = synthetic || f->data[i].synthetic;
        official = official && f->data[i].official && !f->data[i].synthetic;
    }
    draw_nonce(nonce);
    digest_bytes(f->recipe_json, strlen(f->recipe_json), recipe);
    int rc = contest_digest(f->task, f->metric, f->items, f->target_micro, task);
    if (rc == 0)
        chain_begin(&run->chain, &(struct chain_root){.nonce = nonce,
                                                      .task_digest = task,
                                                      .binary_digest = software->binary_digest,
                                                      .data_digests = digests,
                                                      .data_count = f->data_count,
                                                      .seed = f->seed,
                                                      .recipe_digest = recipe});
    free(digests);
    TRY(rc);
    chain_hex(&run->chain, root);
    int64_t machine, program;
    TRY(store_machine(r, f->machine, &machine));
    TRY(store_software(r, software, &program));
    const struct price *price = f->price;
    TRY(result_do(
        r, "record the run",
        "INSERT INTO runs (nonce, status, owner, group_id, group_index, task, task_digest, metric, target_micro, model,"
        " parameters, flops_per_sample, recipe, recipe_json, recipe_digest, precision, device, threads, batch, seed, items,"
        " views, input_size, stop_at_target, synthetic, official, machine, software, price_instance, price_micro_per_hour,"
        " price_source, price_date, started_ms, chain_root) VALUES"
        " (?,'running',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "ttppttt" "itii" "ttttt" "iiiiiii" "ii" "iitptti" "t", nonce, r->owner, f->group, f->group_index, f->task, task,
        f->metric, f->target_micro, f->model, f->parameters, f->flops_per_sample, f->recipe, f->recipe_json, recipe,
        f->precision, f->device, f->threads, f->batch, f->seed, f->items, f->views, f->input_size, (int64_t)f->stop_at_target,
        (int64_t)synthetic, (int64_t)official, machine, program, price ? price->instance : NULL,
        price ? price->micro_per_hour : (int64_t)0, price ? price->source : NULL, price ? price->date : NULL, clock_unix_ms(),
        root));
    run->id = sqlite3_last_insert_rowid(r->db);
    for (int i = 0; i < f->data_count; i++)
        TRY(result_do(r, "record the data sets",
                      "INSERT INTO data_sets (run, name, split, digest, items, official, synthetic) VALUES (?,?,?,?,?,?,?)",
                      "itttiii", run->id, f->data[i].name, f->data[i].split, f->data[i].digest, f->data[i].items,
                      (int64_t)f->data[i].official, (int64_t)f->data[i].synthetic));
    return store_spans(run);
}

int result_begin(struct results *r, const struct run_facts *f, struct run **out)
{
    *out = NULL;
    TRY(check_facts(f));
    struct software_facts own;
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    struct run *run = zalloc(sizeof *run);
    *run = (struct run){.results = r,
                        .stopwatch = f->stopwatch,
                        .items = f->items,
                        .target_micro = f->target_micro,
                        .stop_at_target = f->stop_at_target,
                        .last_k = -1};
    int rc = result_end_transaction(r, store_run(run, f, f->software != NULL ? f->software : &own));
    if (rc < 0) free(run);
    else *out = run;
    return rc;
}

int64_t result_id(const struct run *run)
{
    return run->id;
}

int result_outside(struct run *run, const char *command, const char *framework, int64_t devices)
{
    if (devices < 1) return fail(ERR_USAGE, "a program runs on at least one device, here %lld", (long long)devices);
    return result_do(run->results, "record the outside program",
                     "INSERT INTO outside (run, command, framework, devices) VALUES (?,?,?,?)", "itti", run->id, command,
                     framework, devices);
}

// Losses are kept in millionths. One that is no number, or is absurd, is kept as the largest.
static int64_t loss_in_micro(double loss)
{
    const double largest = 1e15;
    double micro = round(loss * 1e6);
    return micro <= largest && micro >= -largest ? (int64_t)micro : (int64_t)largest;
}

static int store_point(struct run *run, const struct run_point *p, int64_t loss, const char *hash)
{
    struct results *r = run->results;
    const struct stopwatch_clocks *c = &p->clocks;
    TRY(result_do(r, "record a point",
                  "INSERT INTO points (run, epoch, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples, k, loss_micro,"
                  " hash) VALUES (?1,?2,?3,?4,?5,?6,?7,iif(?8 < 0, NULL, ?8),?9,?10)",
                  "iiiiiiiiit", run->id, p->epoch, c->end_to_end_ns, c->classic_ns, c->warm_ns, c->warm_with_evaluation_ns,
                  p->samples, p->k, loss, hash));
    if (!run->reached && contest_meets(p->k, run->items, run->target_micro))
        TRY(result_do(r, "record a point",
                      "UPDATE runs SET reached_epoch = ?, reached_ns = ?, reached_classic_ns = ?, reached_warm_ns = ?,"
                      " reached_warm_with_evaluation_ns = ?, reached_samples = ? WHERE id = ?",
                      "iiiiiii", p->epoch, c->end_to_end_ns, c->classic_ns, c->warm_ns, c->warm_with_evaluation_ns, p->samples,
                      run->id));
    return store_spans(run);
}

int result_point(struct run *run, const struct run_point *p)
{
    const struct stopwatch_clocks *c = &p->clocks;
    if (p->k > run->items)
        return fail(ERR_INPUT, "%lld correct of %lld items can not be recorded", (long long)p->k, (long long)run->items);
    if (p->epoch <= run->last_epoch || c->end_to_end_ns <= run->last_ns || p->samples < run->last_samples)
        return fail(ERR_INPUT, "epochs and time must grow from point to point, but epoch %lld follows epoch %lld",
                    (long long)p->epoch, (long long)run->last_epoch);
    struct chain chain = run->chain;
    int64_t loss = loss_in_micro(p->loss);
    chain_add(&chain, &(struct chain_point){.epoch = p->epoch,
                                            .t_ns = c->end_to_end_ns,
                                            .classic_ns = c->classic_ns,
                                            .warm_ns = c->warm_ns,
                                            .warm_with_evaluation_ns = c->warm_with_evaluation_ns,
                                            .samples = p->samples,
                                            .k = p->k,
                                            .loss_micro = loss});
    char hash[DIGEST_HEX];
    chain_hex(&chain, hash);
    TRY(result_begin_transaction(run->results));
    TRY(result_end_transaction(run->results, store_point(run, p, loss, hash)));
    run->chain = chain;  // only now: a point that was not stored can be told again
    run->last_epoch = p->epoch;
    run->last_ns = c->end_to_end_ns;
    run->last_samples = p->samples;
    if (p->k >= 0) {
        run->last_k = p->k;
        run->reached = run->reached || contest_meets(p->k, run->items, run->target_micro);
    }
    return 0;
}

static int store_end(struct run *run, enum run_status status, const struct run_end *e)
{
    TRY(store_spans(run));
    TRY(store_open_span(run));
    return result_do(run->results, "record the end of the run",
                     "UPDATE runs SET status = ?, message = ?, ended_ms = ?, peak_memory_bytes = ?, planned_memory_bytes = ?,"
                     " energy_uj = ?, weights_digest = ?, checkpoint = ? WHERE id = ?",
                     "ttipppttp", run_status_name(status), e->message, clock_unix_ms(),
                     e->peak_memory_bytes > 0 ? e->peak_memory_bytes : machine_peak_memory(), e->planned_memory_bytes,
                     e->energy_uj, e->weights_digest, e->checkpoint, run->id);
}

int result_end(struct run *run, enum run_status status, const struct run_end *e, enum run_status *recorded)
{
    static const struct run_end nothing;
    if (status == RUN_DONE || status == RUN_MISSED)
        status = run->last_k >= 0 && contest_meets(run->last_k, run->items, run->target_micro) ? RUN_DONE : RUN_MISSED;
    if (recorded != NULL) *recorded = status;
    struct results *r = run->results;
    int rc = result_begin_transaction(r);
    if (rc == 0) rc = result_end_transaction(r, store_end(run, status, e != NULL ? e : &nothing));
    free(run);
    return rc;
}

int result_group_begin(struct results *r, const struct group_plan *g, int64_t *id)
{
    char nonce[33];
    if (g->planned < 1) return fail(ERR_USAGE, "a group has at least one run, here %lld", (long long)g->planned);
    draw_nonce(nonce);
    TRY(result_do(r, "announce the group",
                  "INSERT INTO groups (nonce, status, owner, task, model, recipe, target_micro, planned, announced_ms)"
                  " VALUES (?,'running',?,?,?,?,?,?,?)",
                  "tttttiii", nonce, r->owner, g->task, g->model, g->recipe, g->target_micro, g->planned, clock_unix_ms()));
    *id = sqlite3_last_insert_rowid(r->db);
    return 0;
}

int result_group_end(struct results *r, int64_t id)
{
    // Done means: every announced run came to its own end. Anything less stays visible as interrupted.
    return result_do(r, "close the group",
                     "UPDATE groups SET ended_ms = ?1, status = iif(planned = (SELECT count(*) FROM runs WHERE group_id = ?2"
                     " AND status IN ('done', 'missed')), 'done', 'interrupted') WHERE id = ?2",
                     "ii", clock_unix_ms(), id);
}

bool result_eligible(const struct latency_facts *f)
{
    const struct run_data *d = f->data;
    return f->items == d->items && d->official && !d->synthetic && contest_meets(f->k, f->items, f->target_micro);
}

static int store_latency(struct results *r, const struct latency_facts *f, const struct software_facts *software)
{
    const struct run_data *d = f->data;
    const struct price *price = f->price;
    int64_t machine, program;
    TRY(store_machine(r, f->machine, &machine));
    TRY(store_software(r, software, &program));
    int64_t eligible = result_eligible(f);
    return result_do(
        r, "record the latency",
        "INSERT INTO latencies (run, weights_digest, task, model, precision, device, threads, items, warmup_items,"
        " model_mean_ns, model_p50_ns, model_p90_ns, model_p99_ns, whole_mean_ns, whole_p50_ns, whole_p90_ns, whole_p99_ns,"
        " k, views, target_micro, eligible, data_name, data_split, data_digest, data_items, official, synthetic, machine,"
        " software, price_instance, price_micro_per_hour, price_source, price_date, measured_ms) VALUES"
        " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "pttttt" "iii" "iiiiiiii" "iiii" "tttiii" "iitptti",
        f->run, f->weights_digest != NULL ? f->weights_digest : "", f->task, f->model, f->precision, f->device,
        f->threads, f->items, f->warmup_items, f->model_ns.mean, f->model_ns.p50, f->model_ns.p90, f->model_ns.p99,
        f->whole_ns.mean, f->whole_ns.p50, f->whole_ns.p90, f->whole_ns.p99, f->k, f->views, f->target_micro, eligible, d->name,
        d->split, d->digest, d->items, (int64_t)d->official, (int64_t)d->synthetic, machine, program,
        price ? price->instance : NULL, price ? price->micro_per_hour : (int64_t)0, price ? price->source : NULL,
        price ? price->date : NULL, clock_unix_ms());
}

int result_latency(struct results *r, const struct latency_facts *f, int64_t *id)
{
    struct software_facts own;
    BUG_IF(f->data == NULL);
    if (f->items < 1 || f->k < 0 || f->k > f->items)
        return fail(ERR_INPUT, "%lld correct of %lld items can not be recorded", (long long)f->k, (long long)f->items);
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    int rc = store_latency(r, f, f->software != NULL ? f->software : &own);
    int64_t row = sqlite3_last_insert_rowid(r->db);
    rc = result_end_transaction(r, rc);
    if (rc == 0 && id != NULL) *id = row;
    return rc;
}
