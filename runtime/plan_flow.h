// SPDX-License-Identifier: Apache-2.0
// What must be finished when a node of a plan starts, by the flow of data alone: whoever wrote what it reads or
// overwrites, and whoever read what it overwrites, unless that is a slot (a device may read those through copies). Bytes
// that are shared in that order cost a device that runs nodes beside each other nothing. Cost: positions^2 bits.
#ifndef DAWN_PLAN_FLOW_H
#define DAWN_PLAN_FLOW_H

#include "runtime/plan.h"

struct plan_flow {
    size_t words;        // of a set of positions
    uint64_t *finished;  // a set a position: what is finished when it starts
    uint64_t *users;     // a set a value: who writes and reads the bytes of that root
};

struct plan_flow *plan_flow_new(const struct plan *, struct arena *);  // the plan's roots are settled
// Whether every user of a root's bytes, or (root NONE) the node at position `user`, is finished when `at` starts.
bool plan_flow_finished(const struct plan_flow *, int root, int user, int at);

#endif
