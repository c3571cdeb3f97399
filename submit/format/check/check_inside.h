// SPDX-License-Identifier: Apache-2.0
// A run's payload, unpacked for check*.c alone. Its shape has been checked (fields.h); its figures may have any value within
// their bounds.
#pragma once

#include "submit/format/check/check.h"
#include "submit/format/score/contest.h"

struct check_point {
    int64_t step, epoch_micro, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples, stall_ns;
    int64_t score[RUN_METRICS_MAX];  // RUN_SCORE_NONE: not evaluated
    int64_t loss;
    const json_t *losses;            // NULL: none
    const char *hash;
};
struct check_span {
    bool train, evaluate, checkpoint, classic;  // its name, and if the classic clock has it
    int64_t start_ns, end_ns;
};
struct subject {
    const json_t *json;
    struct findings *out;
    const struct contest *contest;  // the contest of its board; NULL: none
    const char *status;
    bool synthetic, official, self;
    json_t *recipe;                 // its text, parsed; NULL: it is not JSON
    struct run_metric metrics[RUN_METRICS_MAX];
    int metric_count;
    int64_t items, target_micro;    // N of the board's metric, 1,000,000 for a value; its target
    struct check_point *points;
    size_t count;
    struct check_span *spans;
    size_t span_count;
    int64_t now_ms;
    bool in_order;  // time and samples grow: set by check_curve for the checks after it
};

void check_rules(struct subject *);   // task, data, group, cost, latencies, price, program
void check_curve(struct subject *);   // order, scores, chain, crossing, status
void check_work(struct subject *);    // samples, arithmetic, dates and latencies against each other
void check_fields(struct subject *);  // members against each other
void check_reference(struct subject *);  // against reference runs of the same recipe
void check_text(const json_t *, struct findings *);  // every text of a statement of any type
void check_clocks(struct subject *);  // segments against points
void check_speed(struct subject *, const struct statement *);  // arithmetic, intervals
// The largest score that the metric can have, in its own unit; INT64_MAX: unknown.
int64_t check_most(const struct contest *, const struct run_metric *);
// A measurement: its figures against each other and the hardware.
void check_bench(const json_t *, struct findings *);
void check_bench_fields(const json_t *, struct findings *);  // the same table as check_fields, also for each setting
void check_program(const json_t *, struct findings *);  // a run's or a measurement's: its sources equal a commit
// A number of the recipe in its section; NAN if the text does not have it.
double check_recipe_number(const struct subject *, const char *section, const char *key);
// The most sparing GPUs of 2026 do about 5 TFLOP with a joule in bf16 or fp8.
#define CHECK_FLOP_PER_JOULE 20e12
// check_pace.c: compares the intervals of two runs.
enum check_pace {
    PACE_APART,
    PACE_SCALED,  // most agree times one factor: it may be an accident
    PACE_SAME,    // all agree, but they are few: an accident unless the runs are of one group, or their losses agree, too
    PACE_COPIED
};
enum check_pace check_pace(const json_t *run, const json_t *other);
// Advances to the next step that both curves have; *i and *j become its indices.
bool check_next_common(const json_t *a, const json_t *b, size_t *i, size_t *j);
// Watts that the stated processors and GPUs cannot exceed.
double check_power_of(const json_t *);
// FLOPs of a forward pass on one sample, of the smallest published form of a model; 0: no published recipe has it.
double check_model_flops(const char *task, const char *model);
