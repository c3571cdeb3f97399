// SPDX-License-Identifier: Apache-2.0
// Launches of the update, merged. An optimiser does the same to every parameter, and most parameters are too small to fill a GPU,
// so a step would spend its end on hundreds of launches of microseconds. Nodes that have one launcher and do not depend on each
// other become one launch (K_MANY_LAUNCHER). Nodes of the forward and backward pass keep the order of the plan
// (docs/decisions/merged-updates.md).
//
// Invariant: a node comes after every earlier node that wrote bytes which it accesses, or accessed bytes which it writes. The
// results are the bytes of plan order.
// Cost: O(nodes^2 * accesses^2) comparisons of the update's nodes at compile time; nothing at run time.
#pragma once

#include "runtime/cuda/cuda_lanes.h"

struct cuda_batch {
    int first, count;  // a range of cuda_merge.task
};
struct cuda_merge {
    int *task;                  // every task that launches something, in the order of the launches
    struct cuda_batch *batch;   // one launch each, or one task
    int batches;
};

// Orders the tasks. Tasks before `from` keep their order. `kind`: a number below CUDA_MERGE_KINDS for each task; tasks from
// `from` on with the same number may be merged, at most `most` of them; 0: never. Tasks without touches are left out.
enum { CUDA_MERGE_KINDS = 16 };
void cuda_merge_find(const struct cuda_task *, const int *kind, int tasks, int from, int most, struct cuda_merge *,
                     struct arena *);
