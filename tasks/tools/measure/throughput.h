// SPDX-License-Identifier: Apache-2.0
// The measurements of a trial as text, as JSON and in the record. Samples have the task's own noun.
#pragma once

#include "submit/results/result_bench.h"
#include "tasks/tools/forecast/roofline.h"
#include "tasks/tools/measure/trial.h"

// Adds two entries (text_entry): how much the measurements vary, and the load of other programs.
void throughput_steadiness(const struct timing *, double seconds, int64_t repeats, struct text *into);
// Adds samples per second, the time of a step, its arithmetic and its roofline.
void throughput_text(const struct trial *, struct text *into);
// Add the header of a sweep, and the line of one setting, in 80 columns.
void throughput_head(const struct trial_choice *, struct text *into);
void throughput_row(const struct trial *, struct text *into);
// `noise`: the data are noise of the data set's shape. `operators`: from a profile.
struct json_t *throughput_json(const struct trial *, bool noise, const struct roofline *operators);
// Needs trial_profile. `sweep`: as in bench_facts.
int throughput_record(const struct trial *, bool noise, int64_t sweep, struct results *, int64_t *id) MUST_CHECK;
