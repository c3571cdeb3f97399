// SPDX-License-Identifier: Apache-2.0
// Go on 9 x 9 points by the rules of Tromp and Taylor, but suicide is illegal, as in MiniGo: area scoring, positional superko.
// Black moves first. Two passes or 162 plies end a game; white gets 7.5 points, so there is no draw.
//
// A set of points is 81 bits: row r from the top and column c from the left have bit 9r + c. A board begins with what a network
// sees; the key of each earlier position follows, so that it knows its legal moves without its game.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

enum { GO_SIDE = 9, GO_POINTS = 81, GO_PASS = 81, GO_MOVES = 82, GO_PLIES = 2 * GO_POINTS, GO_SEEN = 4, GO_TURNS = 8 };
enum { GO_BLACK, GO_WHITE };
enum { GO_PLANES = 13, GO_BYTES = GO_POINTS * GO_PLANES, GO_NAME = 5 };
enum { GO_TWICE_KOMI = 15 };

struct text;
__extension__ typedef unsigned __int128 go_set;

struct go_view {
    go_set stones[GO_SEEN][2];  // of black and white: now, and after each of the three moves before
    go_set legal;               // points that the player to move may take; passing is always legal
    uint64_t key;               // of the position: stones alone
    uint32_t plies;
    uint16_t passes;            // 0 to 2: the last moves
    uint16_t captured;          // true if a stone was captured in this game: only then a position may come back
};
struct go {
    struct go_view view;
    uint64_t past[GO_PLIES];    // the key before each ply
};
_Static_assert(sizeof(struct go_view) == 160 && sizeof(struct go) % 16 == 0, "no bytes between members");

static inline int go_mover(const struct go_view *v) { return v->plies % 2; }
static inline bool go_over(const struct go_view *v) { return v->passes == 2 || v->plies == GO_PLIES; }
static inline go_set go_bit(int point) { return (go_set)1 << point; }
static inline int go_count(go_set s) { return __builtin_popcountll((uint64_t)s) + __builtin_popcountll((uint64_t)(s >> 64)); }
// The lowest point of a set that is not empty.
static inline int go_first(go_set s)
{
    return (uint64_t)s ? __builtin_ctzll((uint64_t)s) : 64 + __builtin_ctzll((uint64_t)(s >> 64));
}
go_set go_near(go_set);                  // the up to four neighbours of each point
go_set go_eyes(const struct go_view *);  // of the player to move: single empty points that are not false eyes

void go_begin(struct go *);
// Makes a move if it is legal, and leaves view.legal as it was: for playouts. False: it is illegal, and nothing has changed.
bool go_try(struct go *, int move);
void go_find_legal(struct go *);
// Both. The game is not over, and the move is legal.
void go_play(struct go *, int move);
// Black's points minus white's points, without komi: stones, and empty regions that reach only one player's stones.
int go_area(const struct go_view *);
static inline bool go_black_wins(const struct go_view *v) { return 2 * go_area(v) > GO_TWICE_KOMI; }

// Board symmetries 0 to 7: bit 0 swaps rows and columns, then bit 1 turns the rows over, bit 2 the columns. Passing stays.
int go_turned(int move, int turn);
// What a network sees, bytes 0 or 1, [row][column][plane], turned: own and the other's stones now and after each of three moves
// before (8), black is to move, chains of one, two, and more liberties, points where a stone captures (MiniGo's 13 planes).
void go_planes(const struct go_view *, int turn, uint8_t planes[GO_BYTES]);

// "D4", "pass": columns A to J without I, rows from below.
void go_name(int move, char name[GO_NAME]);
int go_parse(const char *name);  // -1: it is no move
void go_draw(const struct go_view *, struct text *);
