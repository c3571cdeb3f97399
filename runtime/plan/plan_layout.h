// SPDX-License-Identifier: Apache-2.0
// Chooses the offsets of a plan's blocks (values and workspaces) in the slab. Two blocks must not share bytes if both are live
// at one position. On a device that overlaps nodes, a block of the update must not reuse the bytes of an earlier block either,
// unless data flow orders it after all users of that block (plan_flow.h).
#pragma once

#include "runtime/plan/plan.h"

// Sets the offsets and slab_bytes: largest first, each at the lowest gap. Cost: O(blocks log blocks * gaps), and for a
// device that overlaps blocks * blocks of the update.
void plan_layout(struct plan *);
