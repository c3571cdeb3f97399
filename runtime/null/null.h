// SPDX-License-Identifier: Apache-2.0
// The null device from the outside: what it counted. It computes nothing and has no memory, so graphs of any size
// can be planned, allocated and "run" in a test, and what went over the narrow waist can be read afterwards.
#ifndef DAWN_NULL_H
#define DAWN_NULL_H

#include "runtime/device.h"

struct null_counts {
    int64_t compiled_programs, compiled_nodes, released_programs;
    int64_t runs, nodes_run, syncs;
    int64_t allocations, frees;
    size_t allocated, peak;        // bytes now, and at most
    size_t uploaded, downloaded;   // bytes so far
};
const struct null_counts *null_counts(const struct device *);

// From now on the device has so many bytes in all: alloc fails beyond them, and facts() says what is left.
void null_limit(struct device *, size_t bytes);

#endif
