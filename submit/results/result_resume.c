// SPDX-License-Identifier: Apache-2.0
// Resumes an interrupted run. Invariants: the chain continues from the last point that is kept; the segments have no gap,
// because the time in between is one of them. One transaction.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/format/score/curve.h"
#include "submit/results/record.h"
#include "submit/results/result_inside.h"

enum { NS_PER_MS = 1000000 };

static int check_run(const json_t *run, int64_t step)
{
    const char *status = record_text(run, "status");
    long long id = (long long)record_int(run, "id");
    if (strcmp(status, "interrupted") != 0 && strcmp(status, "failed") != 0)
        return fail(ERR_USAGE, "run %lld is %s: only an interrupted one can be resumed", id, status);
    if (step < 0) return fail(ERR_USAGE, "run %lld cannot be resumed at step %lld", id, (long long)step);
    if (record_chain(run) == 0) return 0;
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    return fail(ERR_INPUT, "run %lld was changed since it was recorded: %s", id, why);
}

static int restore_stopwatch(const json_t *run, const struct run_moment *known, struct stopwatch *sw)
{
    const struct run_moment began = {record_int(run, "started_ms"), 0};
    if (!known) known = &began;
    const json_t *rows = json_object_get(run, "segments");
    size_t count = json_array_size(rows);
    struct stopwatch_span *spans = zalloc((count + 1) * sizeof *spans);
    int64_t end = 0;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const json_t *row = json_array_get(rows, i);
        spans[i] = (struct stopwatch_span){.start_ns = record_int(row, "start_ns"), .end_ns = record_int(row, "end_ns")};
        if (!stopwatch_find(record_text(row, "segment"), &spans[i].segment) || spans[i].start_ns != end || spans[i].end_ns <= end)
            rc = fail(ERR_INPUT, "segment %zu of the run does not follow from the one before", i);
        end = spans[i].end_ns;
    }
    int64_t away = (clock_unix_ms() - known->unix_ms) * NS_PER_MS - (end - known->end_to_end_ns);
    if (rc == 0) stopwatch_resume(sw, spans, (int)count, away > 0 ? away : 1);
    free(spans);
    return rc;
}

// Restores the run from the points up to that step.
static void restore_run(struct run *run, const json_t *record, int64_t step)
{
    struct run_metric metrics[RUN_METRICS_MAX];
    const json_t *points = json_object_get(record, "points");
    result_keep_metrics(run, metrics, curve_metrics(record, metrics));
    run->id = record_int(record, "id");
    run->target_micro = record_int(record, "target_micro");
    run->last_score = RUN_SCORE_NONE;
    const char *head = record_text(record, "chain_root");
    for (size_t i = 0; i < json_array_size(points) && curve_step(json_array_get(points, i)) <= step; i++) {
        const json_t *p = json_array_get(points, i);
        int64_t score = curve_score(p, &run->metrics[0]);
        head = record_text(p, "hash");
        run->last_step = curve_step(p);
        run->last_epoch_micro = curve_epoch_micro(p);
        run->last_ns = record_int(p, "t_ns");
        run->last_samples = record_int(p, "samples");
        run->last_stall_ns = record_int(p, "stall_ns");
        if (score == RUN_SCORE_NONE) continue;
        run->last_score = score;
        run->reached = run->reached || run_metric_meets(&run->metrics[0], score, run->target_micro);
    }
    BUG_IF(!chain_from_hex(&run->chain, head));  // record_chain computed this hash
}

static int store_resumed(struct run *run, int64_t step)
{
    struct results *r = run->results;
    TRY(result_do(r, "resume the run", "DELETE FROM points WHERE run = ? AND step > ?", "ii", run->id, step));
    TRY(result_do(r, "resume the run",
                  "UPDATE runs SET status = 'running', owner = ?2, message = NULL, ended_ms = NULL, chain_end = NULL,"
                  " resumed = resumed + 1 WHERE id = ?1 AND status IN ('interrupted', 'failed')",
                  "it", run->id, r->owner));
    if (sqlite3_changes(r->db) != 1) return fail(ERR_USAGE, "run %lld is still running in another process", (long long)run->id);
    if (!run->reached)
        TRY(result_do(r, "resume the run",
                      "UPDATE runs SET reached_step = NULL, reached_epoch_micro = NULL, reached_ns = NULL,"
                      " reached_classic_ns = NULL, reached_warm_ns = NULL, reached_warm_with_evaluation_ns = NULL,"
                      " reached_samples = NULL WHERE id = ?",
                      "i", run->id));
    return result_store_spans(run);
}

int result_places(struct run *run, int64_t step, const struct run_process *places, int count)
{
    TRY(result_begin_transaction(run->results));
    return result_end_transaction(run->results, result_store_places(run, step, places, count));
}

int result_checkpoint(struct run *run)
{
    TRY(result_begin_transaction(run->results));
    return result_end_transaction(run->results, result_store_spans(run));
}

int result_resume(struct results *r, int64_t id, int64_t step, const struct run_moment *known, struct stopwatch *sw,
                  struct run **out)
{
    json_t *record;
    *out = NULL;
    TRY(record_read(r, id, &record));
    struct run *run = zalloc(sizeof *run);
    run->results = r;
    run->stopwatch = sw;
    int rc = check_run(record, step);
    if (rc == 0) rc = restore_stopwatch(record, known, sw);
    if (rc == 0) {
        restore_run(run, record, step);
        rc = result_begin_transaction(r);
        if (rc == 0) rc = result_end_transaction(r, store_resumed(run, step));
    }
    json_decref(record);
    if (rc < 0) result_free_run(run);
    else *out = run;
    return rc;
}
