// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/recipe/recipe_keys.h"

struct play_keys {
    int64_t width, blocks;                  // of the network
    int64_t games, first, window;           // played at the same time; positions before the first step; positions that are kept
    double reuse;                           // how often a position is trained on
    int64_t simulations, leaves, opening;   // of a move; of a tree in a batch; plies whose moves are drawn
    int64_t simulations_first;              // of a move of the first positions; 0: the same
    double puct, noise, value;              // of the search; the value's weight in the loss
    double growth, penalty, alpha, power;   // of puct; of moves that begin; of the noise; of visits whose move is drawn
    double resign_low, resign_high, played_out;
};
static inline const struct play_keys *play_keys(const struct recipe *r)
{
    return RECIPE_OWN_KEYS(struct play_keys, r);
}

extern const struct recipe_table recipe_table_play;
