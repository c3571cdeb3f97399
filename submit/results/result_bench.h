// SPDX-License-Identifier: Apache-2.0
// Measurements of `dawn bench` in the record: one row of `benches` a setting, with its repeats, memory and operators.
#pragma once

#include "submit/results/result.h"

struct bench_repeat {
    int64_t step_ns, extended;
    bool judged, accepted;                // not judged: too few steps
    int64_t variation_micro, slope_micro; // of the measured window
};
struct bench_memory {
    const char *class;
    int64_t bytes;
};
struct bench_operator {
    const char *operator, *pass;  // "conv", "backward"
    int64_t nodes, ns, flops, bytes, bound_ns;
};
struct bench_facts {
    int64_t sweep;                // id of the first setting of the same command; 0: this is the first
    const char *task, *samples, *data, *model, *recipe, *recipe_json, *precision, *device, *size;
    bool noise, fusion, whole;
    int64_t threads, batch, ignored, timed;
    int64_t step_ns, step_low_ns, step_high_ns;  // median and extremes of the repeats
    int64_t others_micro;         // millionths of the processors that other programs used; negative: unknown
    int64_t energy_uj;            // 0: not measured
    int64_t flops, bytes, bound_ns, peak_flops, peak_bytes;  // of one step; 0 if no peak was measured
    int64_t memory_bytes;         // according to the plan
    const struct bench_repeat *repeats;
    const struct bench_memory *memory;
    const struct bench_operator *operators;
    int repeat_count, memory_count, operator_count;
    const struct machine_facts *machine;    // NULL: read by this function
    const struct software_facts *software;  // NULL: read by this function
};
int result_bench_add(struct results *, const struct bench_facts *, int64_t *id) MUST_CHECK;
