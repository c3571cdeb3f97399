// SPDX-License-Identifier: Apache-2.0
// A metric of a run: stores, compares and shows its scores. A count is k of N items; a value is kept in millionths. Comparisons
// use integers, so a score exactly at the target meets it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/common/base/text.h"

enum { RUN_METRICS_MAX = 8, RUN_LOSSES_MAX = 8 };
#define RUN_SCORE_NONE INT64_MIN  // not evaluated

struct run_metric {
    const char *name, *unit;  // "top5"; "%": shown times 100; "" or another unit: shown as it is. A unit with which
                              // the name begins ("BLEU" of "bleu") is not written: the name stands next to each figure
    bool lower_is_better;
    int64_t items;            // N of a count; 0: a value in millionths
};
// RUN_SCORE_NONE meets nothing.
bool run_metric_meets(const struct run_metric *, int64_t score, int64_t target_micro);
int64_t run_metric_scale(const struct run_metric *);                 // the score that means 1: N, or 1,000,000
double run_metric_value(const struct run_metric *, int64_t score);   // score / scale
double run_metric_shown(const struct run_metric *, double value);    // in the metric's unit: times 100 for "%"
// "94.12%", "0.7612", "27.3012 BLEU": four decimals of the value, rounded towards the worse, so no page shows more than was
// reached. "-" for RUN_SCORE_NONE and for a value that is no number.
char *run_metric_text(const struct run_metric *, int64_t score, char into[TEXT_FIGURE]);
char *run_metric_value_text(const struct run_metric *, double value, char into[TEXT_FIGURE]);
// A standard deviation over `runs` runs with as many decimals, rounded up: "0.10%", "0.0012"; "-" for fewer than two runs.
char *run_metric_spread_text(const struct run_metric *, double sigma, int runs, char into[TEXT_FIGURE]);
