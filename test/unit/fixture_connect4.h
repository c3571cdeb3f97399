// SPDX-License-Identifier: Apache-2.0
// Exact values of Connect Four's moves: alpha-beta over the results win, draw and loss, with a table. Makes the judge's positions
// (test/bench/connect4_positions.c) and checks them.
#pragma once

#include <string.h>

#include "data/read/positions/connect4.h"
#include "runtime/common/base/arena.h"

// One word per board: its key, then the least and the greatest possible value, 2 bits each. A newer board replaces an older one.
struct connect4_table {
    uint64_t *slot;
    int bits;
};
#define CONNECT4_FULL_COLUMN 2

static inline struct connect4_table connect4_table(int bits)
{
    return (struct connect4_table){zalloc(sizeof(uint64_t) << bits), bits};
}

// Empty cells that would complete four of the discs, in reach or not.
static inline uint64_t connect4_threats(uint64_t discs, uint64_t all)
{
    static const int steps[] = {1, 6, 7, 8};
    uint64_t cells = 0;
    for (int i = 0; i < 4; i++) {
        const int d = steps[i];
        const uint64_t two = discs & discs >> d, three = two & discs >> 2 * d;
        cells |= three << 3 * d | three >> d | (two & discs >> 3 * d) << 2 * d | (discs & two >> 2 * d) << d;
    }
    return cells & CONNECT4_BOARD & ~all;
}

static inline uint64_t connect4_reach(const struct connect4 *b)
{
    return (b->all + CONNECT4_FLOOR) & CONNECT4_BOARD;
}

// Cells that the player to move, who cannot win at once, may take without losing at once; 0: there are none.
static inline uint64_t connect4_safe(const struct connect4 *b)
{
    const uint64_t reach = connect4_reach(b), against = connect4_threats(b->all & ~b->own, b->all), forced = reach & against;
    if (forced & (forced - 1)) return 0;
    return (forced ? forced : reach) & ~(against >> 1);
}

// The moves in the order in which they are searched: those that make most threats first, then those nearest to the centre.
static inline int connect4_order(const struct connect4 *b, uint64_t cells, uint64_t move[CONNECT4_COLUMNS])
{
    static const int columns[] = {3, 2, 4, 1, 5, 0, 6};
    int count = 0, threats[CONNECT4_COLUMNS];
    for (int i = 0; i < CONNECT4_COLUMNS; i++) {
        const uint64_t cell = cells & connect4_column(columns[i]);
        if (cell == 0) continue;
        const int made = __builtin_popcountll(connect4_threats(b->own | cell, b->all | cell));
        int at = count++;
        for (; at > 0 && threats[at - 1] < made; at--) threats[at] = threats[at - 1], move[at] = move[at - 1];
        threats[at] = made, move[at] = cell;
    }
    return count;
}

// The value for the player to move, who cannot win at once, if it lies between low and high; else a bound on their side of it.
static inline int connect4_value(struct connect4_table t, const struct connect4 *b, int low, int high)
{
    const uint64_t safe = connect4_safe(b), key = b->own + b->all;
    if (safe == 0) return connect4_full(b) ? 0 : -1;
    uint64_t *slot = &t.slot[key * 0x9E3779B97F4A7C15ull >> (64 - t.bits)], move[CONNECT4_COLUMNS];
    int least = -1, most = 1, best = -1;
    if (*slot >> 4 == key) least = (int)(*slot >> 2 & 3) - 1, most = (int)(*slot & 3) - 1;
    if (least >= high || least == most) return least;
    if (most <= low) return most;
    const int from = low > least ? low : least, to = high < most ? high : most;
    const int count = connect4_order(b, safe, move);
    for (int i = 0; i < count && best < to; i++) {
        const struct connect4 next = {b->all & ~b->own, b->all | move[i]};
        const int value = -connect4_value(t, &next, -to, best > from ? -best : -from);
        if (value > best) best = value;
    }
    if (best > from) least = best > least ? best : least;
    if (best < to) most = best < most ? best : most;
    *slot = key << 4 | (uint64_t)(least + 1) << 2 | (uint64_t)(most + 1);
    return best;
}

// The value of each move of a game that is not over: -1, 0, 1, or CONNECT4_FULL_COLUMN.
static inline void connect4_values(struct connect4_table t, const struct connect4 *b, int value[CONNECT4_COLUMNS])
{
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        struct connect4 next = *b;
        if (!connect4_may(b, c)) value[c] = CONNECT4_FULL_COLUMN;
        else if (connect4_drop(&next, c)) value[c] = 1;
        else if (connect4_threats(next.own, next.all) & connect4_reach(&next)) value[c] = -1;
        else value[c] = -connect4_value(t, &next, -1, 1);
    }
}
