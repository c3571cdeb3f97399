// SPDX-License-Identifier: Apache-2.0
// A run's curve as DAWNBench's log of a training: tab-separated, one line per evaluation. Pure. Scores are cut off and hours
// rounded up, so no figure is better than the measured one.
#pragma once

#include <jansson.h>

#include "submit/format/run_metric.h"

// The board's metric, and every other one that has a column in DAWNBench and a score in each evaluation.
void training_log(const json_t *run, struct text *into);

enum { TRAINING_FIGURE = 48 };
// "%": points of 100 with four decimals; else the value with six.
char *training_log_score(char into[TRAINING_FIGURE], const struct run_metric *, int64_t score);
char *training_log_hours(char into[TRAINING_FIGURE], int64_t ns);  // ten decimals: a third of a microsecond
