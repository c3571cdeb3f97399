// SPDX-License-Identifier: Apache-2.0
// The places of a plan's blocks (values and workspaces) in the slab. Two blocks must not overlap if they are live at the
// same position, or if the device overlaps nodes and the later of them belongs to the update, which data flow does not
// order behind the other's users (plan_flow.h).
#ifndef DAWN_PLAN_LAYOUT_H
#define DAWN_PLAN_LAYOUT_H

#include "runtime/plan/plan.h"

// Sets the offsets and slab_bytes: largest first, each at the lowest gap. Cost: O(blocks log blocks * gaps), and for a
// device that overlaps blocks * blocks of the update.
void plan_layout(struct plan *);

#endif
