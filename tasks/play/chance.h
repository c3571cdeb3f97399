// SPDX-License-Identifier: Apache-2.0
// The random draws of the games of self-play: noise at the root, the choice of a move, when a game is resigned. A draw depends on
// the seed, the number of the game and the ply, so neither threads nor the order of the games change it.
#pragma once

#include "tasks/play/search.h"

struct chance {
    uint64_t seed;
    int64_t game, ply;
};
// A number of the gamma distribution of `alpha`, at most 1, for a move.
float chance_gamma(const struct chance *, float alpha, int move);
// For tree_add_noise, which scales it to a Dirichlet distribution of `alpha`.
void chance_noise(const struct chance *, float alpha, int moves, float noise[]);
// Draws a move by its visits to the power of `power`.
int chance_move(const struct chance *, const struct search_move *, int moves, float power);

// A player resigns below `threshold`, which lies between `low` and `high`; nobody does where the game is played out.
struct chance_end {
    float threshold;
    bool played_out;
};
struct chance_end chance_end(uint64_t seed, int64_t game, double low, double high, double played_out);
