// SPDX-License-Identifier: Apache-2.0
// Rules of Connect Four: 7 columns of 6 rows, players drop discs in turn, and four in a line win.
//
// A board is two words. Column c has bits 7c (the lowest row) to 7c + 5, and bit 7c + 6 stays empty, so that shifts by 1, 6, 7
// and 8 never join two columns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CONNECT4_COLUMNS = 7, CONNECT4_ROWS = 6, CONNECT4_CELLS = CONNECT4_COLUMNS * CONNECT4_ROWS };
enum { CONNECT4_PLANES = CONNECT4_CELLS * 2 };  // bytes of connect4_planes

struct text;

struct connect4 {
    uint64_t own, all;  // discs of the player to move, and of both
};

#define CONNECT4_FLOOR (1ull | 1ull << 7 | 1ull << 14 | 1ull << 21 | 1ull << 28 | 1ull << 35 | 1ull << 42)
#define CONNECT4_BOARD (CONNECT4_FLOOR * 63)

static inline uint64_t connect4_column(int column)
{
    return 63ull << 7 * column;
}

// True if the column has an empty cell. The board alone does not say whether the game is over: connect4_drop does.
static inline bool connect4_may(const struct connect4 *b, int column)
{
    return !(b->all >> (7 * column + 5) & 1);
}

static inline bool connect4_full(const struct connect4 *b)
{
    return b->all == CONNECT4_BOARD;
}

static inline bool connect4_four(uint64_t discs)
{
    const uint64_t up = discs & discs >> 1, fall = discs & discs >> 6, row = discs & discs >> 7, rise = discs & discs >> 8;
    return (up & up >> 2) | (fall & fall >> 12) | (row & row >> 14) | (rise & rise >> 16);
}

// The player to move drops a disc in a column that has an empty cell, and the other player is to move. True: that disc has won.
static inline bool connect4_drop(struct connect4 *b, int column)
{
    const uint64_t mover = b->own | ((b->all + (1ull << 7 * column)) & connect4_column(column));
    b->own = b->all & ~b->own;
    b->all = mover | b->own;
    return connect4_four(mover);
}

static inline int connect4_discs(const struct connect4 *b)
{
    return __builtin_popcountll(b->all);
}

// The first player has X, the second O.
static inline char connect4_mover(const struct connect4 *b)
{
    return connect4_discs(b) % 2 ? 'O' : 'X';
}

struct connect4 connect4_mirror(const struct connect4 *);  // left and right swapped
// What a network sees: bytes 0 or 1, [row][column][own, the other player's], the top row first.
void connect4_planes(const struct connect4 *, uint8_t planes[CONNECT4_PLANES]);
struct connect4 connect4_from_planes(const uint8_t planes[CONNECT4_PLANES]);
void connect4_draw(const struct connect4 *, struct text *);  // adds the rows of the board, and the columns' numbers
