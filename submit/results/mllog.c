// SPDX-License-Identifier: Apache-2.0
#include "submit/results/mllog.h"

#include <stdlib.h>
#include <string.h>

#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"

struct log {
    const json_t *run;
    struct text *into;
    int64_t base_ms;   // the wall clock at the run's time 0
    int64_t begin_ns;  // when the data are first touched
};

// The MLPerf benchmark whose rules the checker applies. A task without one goes by its own name, which the checker does not know.
static const char *benchmark_of(const char *task)
{
    const struct contest *contest = contest_find(task);
    return contest != NULL && contest->mlperf != NULL ? contest->mlperf : task;
}

// ---- lines

// Adds a line and takes the references of value and metadata.
static void add_line(struct log *l, int64_t ns, const char *type, const char *key, json_t *value, json_t *metadata)
{
    json_t *o = json_pack("{ss sI ss ss so so}", "namespace", "", "time_ms", (json_int_t)(l->base_ms + ns / 1000000),
                          "event_type",
                          type, "key", key, "value", value, "metadata", metadata ? metadata : json_object());
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text) text_add(l->into, ":::MLLOG %s\n", text);
    free(text);
    json_decref(o);
}

static void add_event(struct log *l, int64_t ns, const char *key, json_t *value)
{
    add_line(l, ns, "POINT_IN_TIME", key, value, NULL);
}

static void add_edge(struct log *l, int64_t ns, bool start, const char *key, json_t *metadata)
{
    add_line(l, ns, start ? "INTERVAL_START" : "INTERVAL_END", key, json_null(), metadata);
}

static json_t *epochs_of(int64_t micro)
{
    return micro % 1000000 ? json_real((double)micro * 1e-6) : json_integer(micro / 1000000);
}

// ---- the parts of the log

static json_t *items_of(const json_t *run, const char *split)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "data_sets"), i, row)
        if (!strcmp(record_text(row, "split"), split)) return json_integer(record_int(row, "items"));
    return json_null();
}

static void add_submission(struct log *l, const char *org)
{
    const json_t *run = l->run, *machine = json_object_get(run, "machine_facts");
    const char *platform = *record_text(machine, "gpu") ? record_text(machine, "gpu") : record_text(machine, "cpu");
    const json_t *outside = json_object_get(run, "outside");
    add_event(l, 0, "submission_benchmark", json_string(benchmark_of(record_text(run, "task"))));
    add_event(l, 0, "submission_org", json_string(org && *org ? org : "unknown"));
    add_event(l, 0, "submission_division", json_string("open"));
    add_event(l, 0, "submission_status", json_string("research"));
    add_event(l, 0, "submission_platform", json_string(*platform ? platform : "unknown"));
    add_event(l, 0, "cache_clear", json_false());  // a run may find its data in the page cache
    add_edge(l, 0, true, "init_start",
             json_pack("{ss ss ss ss sb}", "task", record_text(run, "task"), "model", record_text(run, "model"), "recipe",
                       record_text(run, "recipe"), "framework", outside ? record_text(outside, "framework") : "DAWN", "synthetic",
                       record_int(run, "synthetic") != 0));
    add_event(l, 0, "seed", json_integer(record_int(run, "seed")));
    add_event(l, 0, "global_batch_size", json_integer(record_int(run, "batch")));
    add_event(l, 0, "train_samples", items_of(run, "train"));
    add_event(l, 0, "eval_samples", items_of(run, "test"));
}

// The start of the span of `segment` that ends at `end_ns`; `end_ns` if there is none.
static int64_t segment_start(const json_t *run, const char *segment, int64_t end_ns)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "segments"), i, row)
        if (record_int(row, "end_ns") == end_ns && !strcmp(record_text(row, "segment"), segment))
            return record_int(row, "start_ns");
    return end_ns;
}

static int64_t data_start(const json_t *run)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "segments"), i, row)
    {
        const char *segment = record_text(row, "segment");
        if (!strcmp(segment, "data") || !strcmp(segment, "train")) return record_int(row, "start_ns");
    }
    return 0;
}

// The checker's BLEU is below 1, as its other accuracies are.
static double accuracy_of(const struct run_metric *board, int64_t score)
{
    return run_metric_value(board, score) / (strcmp(board->unit, "BLEU") ? 1 : 100);
}

// Adds the training since the last evaluation, and the evaluation.
static void add_evaluation(struct log *l, const json_t *point, double value, int64_t *from_ns, int64_t *from_micro)
{
    int64_t micro = curve_epoch_micro(point), end = record_int(point, "t_ns"), start = segment_start(l->run, "evaluate", end);
    json_t *first = epochs_of(*from_micro), *epoch = epochs_of(micro);
    int64_t samples = record_int(point, "samples");
    add_edge(l, *from_ns, true, "block_start", json_pack("{sO so}", "first_epoch_num", first, "epoch_count",
                                                        epochs_of(micro > *from_micro ? micro - *from_micro : 1)));
    add_edge(l, start, false, "block_stop", json_pack("{sO sI}", "first_epoch_num", first, "samples_count", (json_int_t)samples));
    add_edge(l, start, true, "eval_start", json_pack("{sO}", "epoch_num", epoch));
    add_line(l, end, "POINT_IN_TIME", "eval_accuracy", json_real(value),
             json_pack("{sO sI}", "epoch_num", epoch, "samples_count", (json_int_t)samples));
    add_edge(l, end, false, "eval_stop", json_pack("{sO}", "epoch_num", epoch));
    *from_ns = end, *from_micro = micro;
    json_decref(first);
    json_decref(epoch);
}

static void add_training(struct log *l)
{
    const json_t *run = l->run;
    struct run_metric board = curve_board(run);
    int64_t from_ns = l->begin_ns, from_micro = 0, target = record_int(run, "target_micro");
    bool met = false;
    size_t i;
    json_t *point;
    add_edge(l, l->begin_ns, false, "init_stop", NULL);
    add_edge(l, l->begin_ns, true, "run_start", NULL);
    json_array_foreach(json_object_get(run, "points"), i, point)
    {
        int64_t score = curve_score(point, &board);
        if (met || score == RUN_SCORE_NONE) continue;
        add_evaluation(l, point, accuracy_of(&board, score), &from_ns, &from_micro);
        met = run_metric_meets(&board, score, target);
    }
    add_edge(l, from_ns, false, "run_stop", json_pack("{ss}", "status", met ? "success" : "aborted"));
}

static int64_t wall_clock_at_zero(const json_t *run)
{
    const json_t *segments = json_object_get(run, "segments");
    size_t count = json_array_size(segments);
    if (!record_has(run, "ended_ms") || !count) return record_int(run, "started_ms");
    return record_int(run, "ended_ms") - record_int(json_array_get(segments, count - 1), "end_ns") / 1000000;
}

static int write_log(const json_t *run, const char *org, struct text *into)
{
    long long id = (long long)record_int(run, "id");
    char why[ERROR_TEXT_MAX];
    if (record_chain(run) < 0) {
        strcpy(why, error_text());
        return fail(ERR_INPUT, "run %lld has been changed since it was recorded: %s", id, why);
    }
    if (!record_has(run, "last_score")) return fail(ERR_INPUT, "run %lld has no evaluation to export", id);
    struct log l = {run, into, wall_clock_at_zero(run), data_start(run)};
    add_submission(&l, org);
    add_training(&l);
    return 0;
}

int mllog_export(struct results *r, int64_t id, const char *org, struct text *into)
{
    json_t *run;
    TRY(record_read(r, id, &run));
    int rc = write_log(run, org, into);
    json_decref(run);
    return rc;
}
