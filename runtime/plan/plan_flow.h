// SPDX-License-Identifier: Apache-2.0
// Finds the nodes that data flow alone orders before a node of the update: the writers of values that it reads or overwrites,
// and the readers of values that it overwrites, except slots (a device may read slots through copies). Sharing bytes in that
// order costs a device that merges or overlaps nodes nothing. Cost: one pass over the nodes for 64 starts; memory: one bit per
// start for each value and position.
#pragma once

#include "runtime/plan/plan.h"

struct plan_flow {
    int *start;               // per position: the number of the update node there that begins a block; NONE: no such
    size_t words;             // of a set of starts
    uint64_t *after_root;     // one set per root: the starts that wait for every user of its bytes
    uint64_t *after_node;     // one set per position: the starts that wait for that node
};

struct plan_flow *plan_flow_new(const struct plan *, struct arena *);  // the plan's roots and workspaces are settled
// True if `at` begins a block of the update: then earlier blocks have to be checked.
static inline bool plan_flow_starts(const struct plan_flow *f, int at) { return f->start[at] != NONE; }
// True if every user of a root's bytes, or (root NONE) the node at position `user`, is finished when the update node at
// position `at` starts.
bool plan_flow_finished(const struct plan_flow *, int root, int user, int at);
