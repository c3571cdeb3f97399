// SPDX-License-Identifier: Apache-2.0
// The counters of the null device. It computes nothing and has no memory, so a test can plan, allocate and "run" graphs of any
// size and then read which calls the device received.
#pragma once

#include "runtime/device.h"

struct null_counts {
    int64_t compiled_programs, compiled_nodes, released_programs;
    int64_t runs, nodes_run, syncs;
    int64_t allocations, frees;
    size_t allocated, peak;        // current, and peak
    size_t uploaded, downloaded;   // in total
};
const struct null_counts *null_counts(const struct device *);

// Limits the device to this many bytes: alloc fails beyond them, and facts() reports the remainder.
void null_limit(struct device *, size_t bytes);
