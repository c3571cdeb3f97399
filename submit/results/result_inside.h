// SPDX-License-Identifier: Apache-2.0
// Internals of an open results.db, for result*.c, record.c and export.c: the connection, and one function to run a
// statement.
#pragma once

#include <sqlite3.h>

#include "submit/format/chain.h"
#include "submit/results/result.h"

enum { RESULT_FORMAT = 1, RESULT_APPLICATION_ID = 0x4441574e /* "DAWN" */ };

struct results {
    sqlite3 *db;
    char *path;
    struct text option;
    bool writes;
    int64_t started_ns, patience_ns;  // start of the current statement, and its time limit
    char owner[128];  // this process: boot, process number and start time, so that a later process detects that it has ended
};

// Fails with "Cannot WHAT in PATH: why". The reason comes from the connection.
int result_fail(struct results *, const char *what);

// Prepares and runs one statement. `types` has a letter per parameter: i int64_t, t text (NULL: SQL NULL), p int64_t that is
// SQL NULL unless positive.
int result_do(struct results *, const char *what, const char *sql, const char *types, ...) MUST_CHECK;
int result_begin_transaction(struct results *) MUST_CHECK;
// Commits if `rc` is 0. Otherwise rolls back and keeps the existing error. Returns the result.
int result_end_transaction(struct results *, int rc) MUST_CHECK;

struct run {
    struct results *results;
    const struct stopwatch *stopwatch;
    int64_t id, target_micro;
    struct run_metric metrics[RUN_METRICS_MAX];  // the run owns their texts
    int metric_count;
    struct chain chain;
    int64_t last_step, last_epoch_micro, last_ns, last_samples, last_stall_ns;  // values of the last point, which only grow
    int64_t last_score;                                                         // score of the board's metric
    bool reached;
};
void result_free_run(struct run *);
void result_keep_metrics(struct run *, const struct run_metric *, int count);  // copies them with their texts

// Equal machines share a row, and so does equal software; rows are found by the digest of their facts. NULL: the facts of
// this machine.
int result_machine(struct results *, const struct machine_facts *, int64_t *id) MUST_CHECK;
int result_software(struct results *, const struct software_facts *, int64_t *id) MUST_CHECK;
int result_store_spans(struct run *) MUST_CHECK;
int result_store_places(struct run *, int64_t step, const struct run_process *, int count) MUST_CHECK;
// Computes the root of the run's chain again from the record. Only before the first point.
int result_bind(struct run *) MUST_CHECK;

// True if the process that wrote `owner` still runs, as far as this machine knows.
bool result_owner_lives(const char *owner);
