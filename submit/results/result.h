// SPDX-License-Identifier: Apache-2.0
// The record: results.db, one SQLite file (docs/results-format.md). The training loop writes a run while it runs, one
// transaction per point. After a kill -9 at any moment the file opens and has lost at most the current epoch.
//
// Order of calls: results_open, [result_group_begin], result_begin, result_point..., result_end, [result_latency],
// [result_group_end], results_close. A run left open by results_close stays `running`. The next results_open after its
// process has ended marks it interrupted. Cost: two fsyncs per point.
#pragma once

#include "runtime/common/base/file.h"
#include "submit/format/run_metric.h"
#include "submit/results/labels.h"
#include "submit/results/machine/machine.h"
#include "submit/format/score/price.h"
#include "submit/results/machine/stopwatch.h"

struct results;  // an open results.db
struct run;      // a run being written

// STATUS(NAME, text in the record)
#define RUN_STATUS_LIST                                                                                                \
    STATUS(RUNNING, "running")                                                                                         \
    STATUS(DONE, "done")               /* ended by itself with its last evaluation at or above the target */               \
    STATUS(MISSED, "missed")           /* ended by itself, below the target */                                         \
    STATUS(INTERRUPTED, "interrupted") /* by the user, or the process ended unexpectedly */                            \
    STATUS(FAILED, "failed")           /* an error, a loss that is not a number, ... */
enum run_status {
#define STATUS(name, text) RUN_##name,
    RUN_STATUS_LIST
#undef STATUS
        RUN_STATUS_END
};
const char *run_status_name(enum run_status);

enum results_mode {
    RESULTS_WRITE,  // creates the file if it does not exist; refuses a read-only file
    RESULTS_READ,   // the file must exist; never changes a record
};
// `path` NULL: $DAWN_RESULTS, else results.db in the current folder.
int results_open(const char *path, enum results_mode, struct results **) MUST_CHECK;
void results_close(struct results *);
const char *results_path(const char *path);  // the path that NULL means
int results_check(struct results *) MUST_CHECK;  // reads every page, because a damaged file may open

// How the digest of a split or file was found when the run began.
enum run_reading {
    READING_NONE,        // drawn, or not known
    READING_NOW,         // the bytes were read when the run began
    READING_REMEMBERED,  // the digest is of an earlier reading (data/manifest.h)
};

// Money, targets and losses are integers in millionths. A score is k of N or a value in millionths (run_metric.h). Text is
// borrowed for the call.
struct run_data {
    const char *name;    // "cifar10"
    const char *split;   // "train", "test"
    const char *digest;  // SHA-256 of its content, 64 hex digits
    int64_t items;
    bool official;       // the digest is the published one
    bool synthetic;
    bool pictures;       // the members below are known
    int short_side, quality;  // of a pack (dataset.h); 0: original size, original bytes
    enum run_reading reading;
};
// A file that the run used besides its data. The chain includes its digest.
struct run_file {
    const char *kind;    // "weights", "vocab" or "vectors"
    const char *name;    // file name without a folder
    const char *digest;  // SHA-256, 64 hex digits
    int64_t bytes;
    enum run_reading reading;
};
// A process of a run that several devices train together: the rank is its position in the list.
struct run_process {
    const struct machine_facts *machine;
    int64_t machine_number;  // of several machines that may be alike, from 0
    const char *device;
    int64_t threads;
};
// A scoreboard announced the run before it began (submit/format/score/ticket.h). Its seed comes from the proof.
struct run_ticket {
    char statement[DIGEST_HEX], proof[DIGEST_HEX];
    char board_key[51];  // fingerprint
};
// A part of the schedule with a constant cost of training on a sample: forward, backward, update, and its share of what the host
// runs between steps.
struct run_part {
    int64_t samples, flops_per_sample;
};
enum { RUN_PARTS_MAX = 64 };
struct run_facts {
    const char *task;           // "cifar10"
    const struct run_metric *metrics;  // the first is the board's
    int metric_count;           // 1 to RUN_METRICS_MAX
    int64_t target_micro;       // target of the first metric: 940000
    const char *model;          // name
    int64_t parameters;         // number of trained and frozen parameters
    int64_t flops_per_sample;   // of one forward pass
    const char *recipe;         // name
    const char *recipe_json;    // the whole recipe as used, on one line; stored word for word
    bool published;             // it trains like the recipe of that name in this repository
    const char *precision, *device;
    int64_t threads, batch, seed;
    int64_t step_least, step_most;  // samples of a step; both 0: each has `batch`
    int64_t views;        // forward passes of an item in an evaluation
    int64_t input_size;   // image side in pixels in an evaluation
    bool stop_at_target;  // false: the run completes its schedule
    const struct run_part *parts;  // in order; none: every sample costs three forward passes
    int part_count;
    const struct run_data *data;
    int data_count;
    const struct run_file *files;
    int file_count;
    const struct run_process *places;  // none: one process
    int process_count;
    const struct run_ticket *ticket;  // NULL: none
    struct run_labels labels;
    const char *folder;   // absolute path of the data that the user named; never published; NULL: the usual folder
    const char *replay_of;  // last hash of the points of the run that this one repeats, 64 hex digits; NULL: none
    const struct machine_facts *machine;    // NULL: read here
    const struct software_facts *software;  // NULL: read here
    const struct price *price;              // NULL: no cost
    const struct stopwatch *stopwatch;      // borrowed until result_end; its spans are stored with every point
    int64_t group;        // id; 0: none
    int64_t group_index;  // 1 ... planned
};
// Stores the run with status `running` and draws its nonce.
int result_begin(struct results *, const struct run_facts *, struct run **) MUST_CHECK;
// One moment on both clocks. A run stores the moment when its record was opened, some time after the stopwatch began.
struct run_moment {
    int64_t unix_ms, end_to_end_ns;
};
// Resumes an interrupted run from its checkpoint after `step` steps. Removes the later points. The stopwatch gets the run's
// segments, then the wall-clock time since `known` (NULL: the record's start) as `away`. The stopwatch is in segment `init`
// and is borrowed until result_end; stopwatch_free ends it, after an error, too. The caller checks that program and recipe
// are unchanged.
int result_resume(struct results *, int64_t id, int64_t step, const struct run_moment *known, struct stopwatch *,
                  struct run **) MUST_CHECK;
int64_t result_id(const struct run *);
// The last hash of its chain: of the last point, or the root.
void result_head(const struct run *, char hex[DIGEST_HEX]);
// The processes that continue a resumed run after `step` steps.
int result_places(struct run *, int64_t step, const struct run_process *, int count) MUST_CHECK;
// Stores the closed segments before a checkpoint is written, so that the clocks of a resumed run include the work that led
// to the checkpoint.
int result_checkpoint(struct run *) MUST_CHECK;
// Marks the run as one of an outside program (`dawn record`), which reported its own score: the `command`, the `framework`
// in the program's words, and the number of `devices` (at least 1).
int result_outside(struct run *, const char *command, const char *framework, int64_t devices) MUST_CHECK;
// Facts that an outside program reports after its run was begun. NULL, "" and negative numbers change nothing. Refused after
// the first point, because a curve belongs to the model it was begun with.
struct run_about {
    const char *model, *precision, *framework;
    int64_t parameters, flops_per_sample, batch, views, input_size;
};
int result_about(struct run *, const struct run_about *) MUST_CHECK;

struct run_loss {
    const char *name;  // a word
    double mean;
};
// One evaluation, or one reading of the loss. `clocks` come from stopwatch_enter at its end.
struct run_point {
    int64_t step;         // optimiser steps done; larger than at the point before
    int64_t epoch_micro;  // epochs done, in millionths
    struct stopwatch_clocks clocks;
    int64_t samples;      // samples trained on since the start
    int64_t score[RUN_METRICS_MAX];  // k or millionths of each metric; RUN_SCORE_NONE: not evaluated
    double loss;          // mean training loss since the point before
    const struct run_loss *losses;  // of a task that has several
    int loss_count;       // at most RUN_LOSSES_MAX
    int64_t stall_ns;     // total time that steps waited for data since the start
    int64_t energy_uj;    // since the start; 0: not readable
};
int result_point(struct run *, const struct run_point *) MUST_CHECK;

// All members are optional: 0, negative or NULL if unknown.
struct run_end {
    int64_t peak_memory_bytes;  // 0: read by result_end
    int64_t planned_memory_bytes;
    int64_t energy_uj;          // negative or 0: not measured
    const int64_t *damaged;     // damaged pictures in training and test; NULL: not counted
    const char *weights_digest;
    const char *checkpoint;     // path relative to results.db
    const char *message;        // reason of the failure
};
// `status` is RUN_DONE (or RUN_MISSED) if the run ended by itself, RUN_INTERRUPTED or RUN_FAILED. The points decide between
// done and missed, not the caller. The stopwatch's spans are stored up to this moment. Frees the run, after a failure, too.
// `recorded` may be NULL.
int result_end(struct run *, enum run_status, const struct run_end *, enum run_status *recorded) MUST_CHECK;
// Deletes a run that has ended, or a group with its runs, and notes the deletion. Refuses a part of a group, and submitted runs.
int result_delete(struct results *, bool group, int64_t id) MUST_CHECK;

void result_nonce(char hex[33]);  // 128 random bits, as runs and groups are named
// A group is announced before its first run.
struct group_plan {
    const char *task, *model, *recipe;
    int64_t target_micro;
    int64_t planned;
    const char *nonce;  // NULL: drawn here
};
int result_group_begin(struct results *, const struct group_plan *, int64_t *id) MUST_CHECK;
int result_group_end(struct results *, int64_t id) MUST_CHECK;

// One measurement of inference at batch 1. All times in nanoseconds per item.
struct latency_times {
    int64_t mean, p50, p90, p99;
};
struct latency_facts {
    int64_t run;                 // id of the run that trained the weights, or 0
    const char *weights_digest;
    const char *task, *model, *precision, *device;
    int64_t target_micro;
    int64_t threads, items, warmup_items;
    struct latency_times model_ns;   // the forward pass alone, input ready
    struct latency_times whole_ns;   // with preprocessing
    int64_t k;                   // correct answers of `items`, in the same pass
    int64_t views;
    // Keys that decode otherwise than the recipe of the weights: such a measurement belongs to no run and is recorded as one of
    // "MODEL, KEYS". NULL, "": none.
    const char *decoding;
    const struct run_data *data;  // the test set of the items
    const struct machine_facts *machine;    // NULL: read by result_latency, like the software
    const struct software_facts *software;
    const struct price *price;
};
// A measurement is eligible if its score meets the target on the whole published test set, decoded as the recipe says. If the
// contest's metric is a value, k is that value in millionths.
bool result_eligible(const struct latency_facts *);
int result_latency(struct results *, const struct latency_facts *, int64_t *id) MUST_CHECK;

// The connection, for tests that read the tables.
struct sqlite3 *result_connection(struct results *);
const char *result_file(const struct results *);
// For commands in sentences: " --db FILE", or " FILE" for a command that takes the record as an operand; "" for the usual record.
const char *result_option(const struct results *);
const char *result_operand(const struct results *);
