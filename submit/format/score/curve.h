// SPDX-License-Identifier: Apache-2.0
// Reads the run axis: metrics, steps, epochs and scores of a run's JSON. A run is a statement or a row of results.db from
// record_read: both have these members.
#pragma once

#include <jansson.h>

#include "submit/format/run_metric.h"

// Reads the metrics of a run; their texts belong to the JSON. Returns their number, at least 1: a run that names none has a count
// without a name.
int curve_metrics(const json_t *run, struct run_metric into[RUN_METRICS_MAX]);
// The metric of that name as this run has it: another run may count other items. Without it, the metric as given.
struct run_metric curve_own(const json_t *run, const struct run_metric *);
struct run_metric curve_board(const json_t *run);  // the first: the board's
// True if the run finished, above the target or below. Failed and interrupted runs are on no board.
bool curve_ended(const json_t *run);
int64_t curve_items(const json_t *run, const char *split);  // items of "train" or "test" that the run states; 0: none
// RUN_SCORE_NONE if the point has no score of that metric.
int64_t curve_score(const json_t *point, const struct run_metric *);
int64_t curve_last(const json_t *run, const struct run_metric *);  // of the last point that has one
int64_t curve_step(const json_t *point);
int64_t curve_epoch_micro(const json_t *point);
// The names of the losses that a run has besides its loss, in the order in which points first name them. Returns their number.
int curve_losses(const json_t *run, const char *name[RUN_LOSSES_MAX]);
double curve_loss(const json_t *point, const char *name);  // NULL: the loss without a name. NAN: unknown or not a number
enum { CURVE_MOMENT = 64 };
char *curve_epoch(const json_t *point, char into[CURVE_MOMENT]);  // "3", "2.5": no more decimals than are needed
char *curve_moment(const json_t *point, char into[CURVE_MOMENT]);  // "epoch 3", "epoch 2.5, step 1200"
