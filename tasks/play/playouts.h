// SPDX-License-Identifier: Apache-2.0
// Tree search without a network (UCT, Kocsis and Szepesvari 2006): positions are judged by random games. A network that learned
// to play is compared with it.
#pragma once

#include "data/read/draws.h"
#include "data/read/positions/connect4.h"

// The most visited move after `count` games, each of which adds a position to the tree. The game must not be over.
int playouts_move(const struct connect4 *, int count, struct draws *);
// The draws of a search: the number of the position or of the game, and its ply.
struct draws playouts_draws(int64_t number, int ply);
int playouts_random_move(const struct connect4 *, struct draws *);
