// SPDX-License-Identifier: Apache-2.0
// What was measured of a trial, for people, for programs and for the record. Samples are called what the task calls them.
#ifndef DAWN_TASKS_THROUGHPUT_H
#define DAWN_TASKS_THROUGHPUT_H

#include "tasks/forecast/roofline.h"
#include "tasks/measure/trial.h"
#include "tasks/record/result_bench.h"

// How steady the measurement was and who else used the machine, as entries of a report (text_entry).
void throughput_steadiness(const struct timing *, double seconds, int64_t repeats, struct text *into);
// Samples a second, the step, arithmetic and roofline.
void throughput_text(const struct trial *, struct text *into);
// A line of a sweep in 80 columns, and its head.
void throughput_head(const struct trial_choice *, struct text *into);
void throughput_row(const struct trial *, struct text *into);
// `noise`: the data set's shape filled with noise. `operators`: of a profile.
struct json_t *throughput_json(const struct trial *, bool noise, const struct roofline *operators);
// Needs trial_profile. `sweep`: as in bench_facts.
int throughput_record(const struct trial *, bool noise, int64_t sweep, struct results *, int64_t *id) MUST_CHECK;

#endif
