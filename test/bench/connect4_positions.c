// SPDX-License-Identifier: Apache-2.0
// Makes data/read/positions/positions.txt: positions of random play in which some move is worse than another, and the exact value
// of each move. Prints the same file again on every machine.
//
//     make bench-connect4 && build/test/bench/connect4_positions > data/read/positions/positions.txt
#include <stdio.h>
#include <stdlib.h>

#include "data/read/draws.h"
#include "test/unit/fixture_connect4.h"

enum { SEED = 20261129, POSITIONS = 4000, FIRST_PLY = 14, LAST_PLY = 24, TABLE_BITS = 24 };

struct position {
    struct connect4 board;
    char moves[LAST_PLY + 1];
};

static bool play_position(int64_t attempt, struct position *p)
{
    struct draws d = DRAWS(SEED, 0, attempt);
    const int plies = FIRST_PLY + draws_below(&d, LAST_PLY - FIRST_PLY + 1);
    *p = (struct position){0};
    for (int ply = 0; ply < plies; ply++) {
        int column = draws_below(&d, CONNECT4_COLUMNS);
        while (!connect4_may(&p->board, column)) column = draws_below(&d, CONNECT4_COLUMNS);
        p->moves[ply] = (char)('1' + column);
        if (connect4_drop(&p->board, column)) return false;
    }
    return true;
}

static bool is_new(const struct position *list, int count, const struct connect4 *b)
{
    const struct connect4 mirror = connect4_mirror(b);
    for (int i = 0; i < count; i++) {
        const struct connect4 *other = &list[i].board;
        if (other->own == b->own && other->all == b->all) return false;
        if (other->own == mirror.own && other->all == mirror.all) return false;
    }
    return true;
}

// False if all moves have one value.
static bool print_position(const struct position *p, const int value[CONNECT4_COLUMNS])
{
    int least = 1, most = -1;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        if (value[c] == CONNECT4_FULL_COLUMN) continue;
        least = value[c] < least ? value[c] : least;
        most = value[c] > most ? value[c] : most;
    }
    if (least == most) return false;
    printf("%s ", p->moves);
    for (int c = 0; c < CONNECT4_COLUMNS; c++) putchar("-=+x"[value[c] + 1]);
    putchar('\n');
    return true;
}

int main(void)
{
    const struct connect4_table table = connect4_table(TABLE_BITS);
    struct position *list = zalloc((POSITIONS + 1) * sizeof *list);
    int count = 0;
    for (int64_t attempt = 0; count < POSITIONS; attempt++) {
        int value[CONNECT4_COLUMNS];
        struct position *p = &list[count];
        if (!play_position(attempt, p) || !is_new(list, count, &p->board)) continue;
        connect4_values(table, &p->board, value);
        count += print_position(p, value);
    }
    free(list);
    free(table.slot);
    return 0;
}
