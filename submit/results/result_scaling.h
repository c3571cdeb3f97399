// SPDX-License-Identifier: Apache-2.0
// Measurements of `dawn bench --scaling` in the record: one row of `scalings` for each number of processes, with the times of
// reductions.
#pragma once

#include "submit/results/result.h"

struct scaling_facts {
    int64_t sweep;  // id of the first row of the same command; 0: this is the first
    const char *task, *samples, *data, *model, *recipe, *precision, *device, *size;
    bool noise;
    int64_t threads, batch;  // of each process
    int64_t processes, machines, step_ns, gradient_bytes, exchanges;
    const double *reduce_bytes, *reduce_seconds;
    int reduce_count;                       // 0: of a single process
    const struct machine_facts *machine;    // NULL: read by this function
    const struct software_facts *software;  // NULL: read by this function
};
int result_scaling_add(struct results *, const struct scaling_facts *, int64_t *id) MUST_CHECK;
