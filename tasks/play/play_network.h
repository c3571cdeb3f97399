// SPDX-License-Identifier: Apache-2.0
// The network of AlphaZero (Silver et al. 2018): residual blocks, and two heads, for the next move and for the result.
#pragma once

#include "tasks/common/step/step.h"

// boards u8[N,rows,columns,planes] -> f32 logits[N,moves] and results f32[N,1] from -1 to 1, for the player to move.
struct play_outputs {
    int policy, value;
};
struct play_outputs play_network(struct step *, int boards);

enum { PART_MINIGO = 1 };  // a bit of struct model: the keys of MiniGo's search
extern const struct model play_models[], minigo_models[];  // end with name NULL
