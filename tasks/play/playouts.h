// SPDX-License-Identifier: Apache-2.0
// Tree search without a network: all moves are equally likely, and a position is worth the result of a random game. A network
// that learned to play is compared with it.
#pragma once

#include "data/read/draws.h"
#include "data/read/positions/connect4.h"

// The most visited move of `count` simulations. `number` and the number of discs choose the random games.
int playouts_move(const struct connect4 *, int count, int64_t number);
