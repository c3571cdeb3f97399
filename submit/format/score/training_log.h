// SPDX-License-Identifier: Apache-2.0
// A run's curve as DAWNBench's log of a training: tab-separated, a line an evaluation. Pure; figures are cut off, hours
// rounded up, so that nothing says more than was measured.
#ifndef DAWN_FORMAT_TRAINING_LOG_H
#define DAWN_FORMAT_TRAINING_LOG_H

#include <jansson.h>

#include "submit/format/run_metric.h"

// The board's metric and every other one that DAWNBench had a column for and that each evaluation has a score of.
void training_log(const json_t *run, struct text *into);

enum { TRAINING_FIGURE = 48 };
// In points of 100 with four decimals for "%", else as it is with six.
char *training_log_score(char into[TRAINING_FIGURE], const struct run_metric *, int64_t score);
char *training_log_hours(char into[TRAINING_FIGURE], int64_t ns);  // ten decimals: a third of a microsecond

#endif
