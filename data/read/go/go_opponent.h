// SPDX-License-Identifier: Apache-2.0
// The fixed opponent of minigo-9: tree search by UCT (Kocsis and Szepesvari 2006) with random playouts, without a network. All
// arithmetic is in integers, so its moves are the same on every machine; go_opponent_digest says so.
#pragma once

#include "data/read/go/go.h"
#include "runtime/common/base/file.h"

enum { GO_PLAYOUTS = 1000 };  // per move of the judge's games

// The move of a game that is not over, after `playouts` random games. `number` (of the game) and the plies choose these.
int go_opponent_move(const struct go *, int playouts, int64_t number);
// SHA-256 of the openings of all games of the judge, and of the opponent's moves in drawn positions, as text.
void go_opponent_digest(char hex[DIGEST_HEX]);

// The two moves with which a game of the judge begins: a pair of games has one opening, and each player has black once.
enum { GO_OPENING = 2, GO_GAMES = 200 };
void go_opening(int64_t game, uint8_t moves[GO_OPENING]);
