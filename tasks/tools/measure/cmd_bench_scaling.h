// SPDX-License-Identifier: Apache-2.0
// dawn bench TASK --scaling 1,2,4: the step on several numbers of devices, each with the same batch.
#pragma once

#include "tasks/tools/choose.h"

struct bench_scaling {
    const char *task, *list, *launcher, *batch, *precision, *db;
    const struct choose *choose;
    double seconds;
    int64_t repeats, side;
    bool fake, json, record;
    char *const *words;  // of the command line, from the command on; ended by NULL
};
// Starts the launcher once for each number, and shows and records what the processes measured. A process that the launcher has
// started measures instead, and the first of them prints its row.
int cmd_bench_scaling(const struct bench_scaling *) MUST_CHECK;
