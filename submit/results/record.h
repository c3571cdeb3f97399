// SPDX-License-Identifier: Apache-2.0
// Reads runs: rows of results.db as JSON objects (column name -> integer or text; SQL NULL leaves the key out). Views and
// exports both use these functions, so they cannot disagree.
#pragma once

#include <jansson.h>

#include "submit/format/score/group.h"
#include "submit/results/result.h"

// All rows of a SELECT with at most one parameter (`id`). Columns "owner" are left out. A run or group whose process has
// ended reads as interrupted. json_decref ends the rows.
int record_rows(struct results *, const char *sql, int64_t id, json_t **rows) MUST_CHECK;
// All runs, oldest first, each with metrics, last_score (the board's), last_ns (of its last point).
int record_list(struct results *, json_t **runs) MUST_CHECK;
// One whole run, as curve.h reads it: the columns of its row, metrics, last_score, last_ns, last_classic_ns, last_warm_ns,
// last_warm_with_evaluation_ns, last_samples, reached_energy_uj, replay_of (of a replay), and data_sets, files, places, points,
// energy, work, segments, latencies, receipts (lists), machine_facts, software_facts, group, outside, ticket (objects; the last
// three only if they have a row). A latency has its own machine_facts.
int record_read(struct results *, int64_t id, json_t **record) MUST_CHECK;
// `word` is "last", the number of a recorded run, or a name: the newest run of several with it.
int record_find(struct results *, const char *word, int64_t *id) MUST_CHECK;
// How many runs have the name `word` if run `id` has it; else 0.
int record_namesakes(struct results *, const char *word, int64_t id) MUST_CHECK;
// The path of the weights at the end of a run (or a row of runs): next to results.db, unless the record names another folder.
// NULL if the run has none; free() ends it.
char *record_weights(const struct results *, const json_t *run);
// The absolute path of the data that the user named for a run; NULL: none. free() it.
int record_folder(struct results *, int64_t id, char **path) MUST_CHECK;
// The processes that a run began with, at least 1, and the machines that they were on.
int record_processes(const json_t *record, int *machines);
// True if other processes resumed it.
bool record_moved(const json_t *record);
// The newest run of a task (NULL: of any) whose weights still exist.
int record_find_weights(struct results *, const char *task, int64_t *id) MUST_CHECK;
// Checks that the hashes of a run from record_read follow from its figures and from each other, and its crossing from its
// points. ERR_INPUT with a sentence if not: the file was changed.
int record_chain(const json_t *record) MUST_CHECK;
int record_group(struct results *, int64_t group, json_t **runs, struct group_facts *) MUST_CHECK;

int64_t record_int(const json_t *row, const char *key);       // 0 if the key is missing
bool record_has(const json_t *row, const char *key);
// True if the program under test scored itself. A run that was killed between its two transactions has only the device, and
// must not pass for one that the harness evaluated.
bool record_is_outside(const json_t *run);
bool record_group_is_outside(const json_t *runs);  // one of them is
const char *record_text(const json_t *row, const char *key);  // "" if the key is missing
