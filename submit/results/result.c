// SPDX-License-Identifier: Apache-2.0
// Writes a run while it runs. Invariant: after every call that returns 0 the file on disk holds everything up to that call,
// and the chain's head in memory is the hash of the last stored point. Each call is one transaction. Cost: two fsyncs per
// call, nothing in between.
#include "submit/results/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "submit/results/record.h"
#include "submit/results/result_inside.h"
#include "submit/results/stated.h"

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

// Stores the open segment as if it ended now.
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

int64_t result_id(const struct run *run)
{
    return run->id;
}

void result_head(const struct run *run, char hex[DIGEST_HEX])
{
    chain_hex(&run->chain, hex);
}

static int store_outside(struct run *run, const char *command, const char *framework, int64_t devices)
{
    TRY(result_do(run->results, "record the outside program",
                  "INSERT INTO outside (run, command, framework, devices) VALUES (?,?,?,?)", "itti", run->id, command, framework,
                  devices));
    return result_bind(run);
}

int result_outside(struct run *run, const char *command, const char *framework, int64_t devices)
{
    if (devices < 1) return fail(ERR_USAGE, "a program must use at least one device; got %lld", (long long)devices);
    struct chain before = run->chain;
    TRY(result_begin_transaction(run->results));
    int rc = result_end_transaction(run->results, store_outside(run, command, framework, devices));
    if (rc < 0) run->chain = before;
    return rc;
}

// Losses are stored in millionths. A loss that is not a number, or is too large, is stored as the maximum.
static int64_t loss_in_micro(double loss)
{
    const double largest = 1e15;
    double micro = round(loss * 1e6);
    return micro <= largest && micro >= -largest ? (int64_t)micro : (int64_t)largest;
}

// The member `losses` of a point in a statement; NULL: it has none.
static json_t *list_losses(const struct run_point *p)
{
    json_t *list = p->loss_count > 0 ? json_array() : NULL;
    for (int i = 0; i < p->loss_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:I}", "name", p->losses[i].name, "loss",
                                              (json_int_t)loss_in_micro(p->losses[i].mean)));
    return list;
}

static int store_point(struct run *run, const struct run_point *p, int64_t loss, const char *hash)
{
    struct results *r = run->results;
    const struct stopwatch_clocks *c = &p->clocks;
    TRY(result_do(r, "record a point",
                  "INSERT INTO points (run, step, epoch_micro, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples,"
                  " stall_ns, loss_micro, hash) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                  "iiiiiiiiiit", run->id, p->step, p->epoch_micro, c->end_to_end_ns, c->classic_ns, c->warm_ns,
                  c->warm_with_evaluation_ns, p->samples, p->stall_ns, loss, hash));
    for (int64_t m = 0; m < run->metric_count; m++)
        if (p->score[m] != RUN_SCORE_NONE)
            TRY(result_do(r, "record a point", "INSERT INTO scores (run, step, metric, score) VALUES (?,?,?,?)", "iiii", run->id,
                          p->step, m, p->score[m]));
    for (int64_t i = 0; i < p->loss_count; i++)
        TRY(result_do(r, "record a point", "INSERT INTO losses (run, step, number, name, loss) VALUES (?,?,?,?,?)", "iiiti",
                      run->id, p->step, i, p->losses[i].name, loss_in_micro(p->losses[i].mean)));
    if (p->energy_uj > 0)
        TRY(result_do(r, "record a point", "INSERT INTO energy (run, step, uj) VALUES (?,?,?)", "iii", run->id, p->step,
                      p->energy_uj));
    if (!run->reached && run_metric_meets(&run->metrics[0], p->score[0], run->target_micro))
        TRY(result_do(r, "record a point",
                      "UPDATE runs SET reached_step = ?, reached_epoch_micro = ?, reached_ns = ?, reached_classic_ns = ?,"
                      " reached_warm_ns = ?, reached_warm_with_evaluation_ns = ?, reached_samples = ? WHERE id = ?",
                      "iiiiiiii", p->step, p->epoch_micro, c->end_to_end_ns, c->classic_ns, c->warm_ns,
                      c->warm_with_evaluation_ns, p->samples, run->id));
    return result_store_spans(run);
}

static int check_point(const struct run *run, const struct run_point *p)
{
    for (int m = 0; m < run->metric_count; m++) {
        int64_t items = run->metrics[m].items;
        if (items > 0 && p->score[m] != RUN_SCORE_NONE && (p->score[m] < 0 || p->score[m] > items))
            return fail(ERR_INPUT, "%lld correct of %lld items cannot be recorded", (long long)p->score[m], (long long)items);
    }
    if (p->step <= run->last_step || p->epoch_micro < run->last_epoch_micro || p->clocks.end_to_end_ns <= run->last_ns ||
        p->samples < run->last_samples || p->stall_ns < run->last_stall_ns)
        return fail(ERR_INPUT, "steps, epochs and time must grow from point to point, but step %lld follows step %lld",
                    (long long)p->step, (long long)run->last_step);
    return 0;
}

int result_point(struct run *run, const struct run_point *p)
{
    const struct stopwatch_clocks *c = &p->clocks;
    TRY(check_point(run, p));
    struct chain chain = run->chain;
    int64_t loss = loss_in_micro(p->loss);
    struct chain_point link = {.step = p->step, .epoch_micro = p->epoch_micro, .t_ns = c->end_to_end_ns,
                               .classic_ns = c->classic_ns, .warm_ns = c->warm_ns,
                               .warm_with_evaluation_ns = c->warm_with_evaluation_ns, .samples = p->samples,
                               .stall_ns = p->stall_ns, .loss_micro = loss, .losses = list_losses(p),
                               .metrics = run->metrics, .metric_count = run->metric_count};
    memcpy(link.score, p->score, sizeof link.score);
    chain_add(&chain, &link);
    json_decref((json_t *)link.losses);
    char hash[DIGEST_HEX];
    chain_hex(&chain, hash);
    TRY(result_begin_transaction(run->results));
    TRY(result_end_transaction(run->results, store_point(run, p, loss, hash)));
    run->chain = chain;  // only now, so that a point that was not stored can be repeated
    run->last_step = p->step;
    run->last_epoch_micro = p->epoch_micro;
    run->last_ns = c->end_to_end_ns;
    run->last_samples = p->samples;
    run->last_stall_ns = p->stall_ns;
    if (p->score[0] != RUN_SCORE_NONE) {
        run->last_score = p->score[0];
        run->reached = run->reached || run_metric_meets(&run->metrics[0], p->score[0], run->target_micro);
    }
    return 0;
}

// The last hash of the chain, computed from the record.
static int bind_end(struct run *run)
{
    json_t *record;
    char hash[DIGEST_HEX];
    TRY(record_read(run->results, run->id, &record));
    json_t *stated = stated_run(record);
    int rc = chain_end(&run->chain, stated, hash);
    json_decref(stated);
    json_decref(record);
    TRY(rc);
    return result_do(run->results, "record the end of the run", "UPDATE runs SET chain_end = ? WHERE id = ?", "ti", hash,
                     run->id);
}

static int store_end(struct run *run, enum run_status status, const struct run_end *e)
{
    TRY(result_store_spans(run));
    TRY(store_open_span(run));
    for (int i = 0; i < 2 && e->damaged != NULL; i++)
        TRY(result_do(run->results, "record damaged pictures", "UPDATE pictures SET damaged = ? WHERE run = ? AND split = ?",
                      "iit", e->damaged[i], run->id, i == 0 ? "train" : "test"));
    TRY(result_do(run->results, "record the end of the run",
                  "UPDATE runs SET status = ?, message = ?, ended_ms = ?, peak_memory_bytes = ?, planned_memory_bytes = ?,"
                  " energy_uj = ?, weights_digest = ?, checkpoint = ? WHERE id = ?",
                  "ttipppttp", run_status_name(status), e->message, clock_unix_ms(),
                  e->peak_memory_bytes > 0 ? e->peak_memory_bytes : machine_peak_memory(), e->planned_memory_bytes,
                  e->energy_uj, e->weights_digest, e->checkpoint, run->id));
    return bind_end(run);
}

int result_end(struct run *run, enum run_status status, const struct run_end *e, enum run_status *recorded)
{
    static const struct run_end nothing;
    if (status == RUN_DONE || status == RUN_MISSED)
        status = run_metric_meets(&run->metrics[0], run->last_score, run->target_micro) ? RUN_DONE : RUN_MISSED;
    if (recorded != NULL) *recorded = status;
    struct results *r = run->results;
    int rc = result_begin_transaction(r);
    if (rc == 0) rc = result_end_transaction(r, store_end(run, status, e != NULL ? e : &nothing));
    result_free_run(run);
    return rc;
}

int result_group_begin(struct results *r, const struct group_plan *g, int64_t *id)
{
    char nonce[33];
    if (g->planned < 1) return fail(ERR_USAGE, "a group must have at least one run; got %lld", (long long)g->planned);
    if (g->nonce != NULL) snprintf(nonce, sizeof nonce, "%s", g->nonce);
    else result_nonce(nonce);
    TRY(result_do(r, "announce the group",
                  "INSERT INTO groups (id, nonce, status, owner, task, model, recipe, target_micro, planned, announced_ms) VALUES"
                  " ((SELECT 1 + coalesce(max(id), 0) FROM (SELECT id FROM groups UNION SELECT group_id FROM deletions)),"
                  "?,'running',?,?,?,?,?,?,?)",
                  "tttttiii", nonce, r->owner, g->task, g->model, g->recipe, g->target_micro, g->planned, clock_unix_ms()));
    *id = sqlite3_last_insert_rowid(r->db);
    return 0;
}

int result_group_end(struct results *r, int64_t id)
{
    // Done means that every announced run came to its own end. Any other group stays interrupted.
    return result_do(r, "close the group",
                     "UPDATE groups SET ended_ms = ?1, status = iif(planned = (SELECT count(*) FROM runs WHERE group_id = ?2"
                     " AND status IN ('done', 'missed')), 'done', 'interrupted') WHERE id = ?2",
                     "ii", clock_unix_ms(), id);
}

