// SPDX-License-Identifier: Apache-2.0
// A file of solved positions of Connect Four: in each line the columns (1 to 7) of the moves from the empty board, a blank, and
// the value of each of the seven moves that may follow, to the player to move:
//
//     37216564172224737 +--+++-       - loses, = draws, + wins with best play of both; x: the column is full
//
// Each line is a game by the rules that is not over, no two are one position or its mirror image, some move is worse than
// another, and no value contradicts a game that ends at once.
#pragma once

#include "data/read/positions/connect4.h"
#include "runtime/common/base/error.h"

enum position_value { POSITION_LOSES, POSITION_DRAWS, POSITION_WINS, POSITION_FULL };
struct position {
    struct connect4 board;
    uint8_t value[CONNECT4_COLUMNS];  // enum position_value
    char moves[CONNECT4_CELLS];       // with a NUL
};
struct positions {
    struct position *at;
    int64_t count;
};

int positions_parse(const char *path, const char *text, size_t n, struct positions *) MUST_CHECK;
void positions_free(struct positions *);
bool position_errs(const uint8_t value[CONNECT4_COLUMNS], int column);  // true if another move has a better value
