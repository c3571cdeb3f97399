// SPDX-License-Identifier: Apache-2.0
// The chains of recorded runs, for commands that show or export their figures.
#pragma once

#include "submit/results/record.h"

// record_find, which takes the newest of several runs of one name, as the runs of a group have; then it says so on standard
// error.
int cmd_chain_find(struct results *, const char *word, int64_t *id) MUST_CHECK;
// Calls `tell` for each run, or for the run with that id (0: all); `broken` is its first fault, or NULL. Returns the number of
// broken runs or an error.
int cmd_chain_each(struct results *, int64_t id, void (*tell)(const json_t *run, const char *broken)) MUST_CHECK;
// Adds a line for each gap in the numbers of the runs, and for each group that lacks a run: the record numbers its runs without
// gaps and notes deletions. A run at the end that nothing else names leaves no gap. Returns the number of missing runs or an
// error.
int cmd_chain_missing(struct results *, struct text *into) MUST_CHECK;
// Adds a line for each run that was deleted by dawn; json_decref ends their rows.
int cmd_chain_deleted(struct results *, json_t **runs, struct text *into) MUST_CHECK;
// Says on standard error which of these runs were changed. The same for the runs of a group.
int cmd_chain_warn(const char *command, struct results *, int64_t id) MUST_CHECK;
int cmd_chain_warn_group(const char *command, struct results *, int64_t group) MUST_CHECK;
