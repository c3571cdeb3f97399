// SPDX-License-Identifier: Apache-2.0
// A game of two players who move in turn, as the search, the self-play and the network see it. A board is bytes without a
// pointer, and begins with what the network sees.
#pragma once

#include "data/read/go/go.h"
#include "data/read/positions/connect4.h"
#include "runtime/common/base/error.h"

struct setting;
struct text;

enum { GAME_ON = 2, GAME_NAME = 12, GAME_MOVES_MOST = GO_MOVES };

union game_board {  // one of any game
    struct connect4 connect4;
    struct go go;
};

struct game {
    int rows, columns, planes;  // bytes u8[rows,columns,planes]
    int moves, plies;           // of a position, of a game, at most
    int turns;                  // symmetries of the board; 0 changes nothing
    bool turns_leaves;          // the network judges leaves in a drawn symmetry
    size_t board_bytes, seen_bytes;
    void (*begin)(void *board);
    bool (*may)(const void *seen, int move);
    int (*play)(void *board, int move);  // a legal move; its result for the player who made it, -1, 0 or 1, or GAME_ON
    void (*planes_of)(const void *seen, int turn, uint8_t *planes);
    int (*turned)(int move, int turn);
    void (*opening)(void *board, int64_t number);         // of a game against it; NULL: the empty board
    // The move of the fixed player without a network, in a numbered game.
    int (*opponent)(const void *board, int playouts, int64_t number);
    int playouts;                            // of a move of the opponent
    int value_width;                         // of the network's layer before the value
    // People.
    void (*draw)(const void *board, struct text *);
    void (*name)(int move, char name[GAME_NAME]);
    int (*parse)(const char *name);          // -1: it is no move
    const char *between;                     // the moves of a list
    const char *ask, *no_move, *may_not;     // "Your move: ", and what is wrong with an answer
};
extern const struct game game_connect4, game_go;
const struct game *game_of(const struct setting *);  // that its model plays

static inline int game_bytes(const struct game *g) { return g->rows * g->columns * g->planes; }
