// SPDX-License-Identifier: Apache-2.0
// Connect Four's rules: known numbers of games, and each move, result, plane and mirror image of drawn games by plain loops.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <string.h>

#include "data/read/draws.h"
#include "data/read/positions/connect4.h"

static int64_t games(struct connect4 b, int plies)
{
    int64_t count = 0;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        struct connect4 next = b;
        if (!connect4_may(&b, c)) continue;
        const bool over = connect4_drop(&next, c);
        count += plies == 1 ? 1 : over ? 0 : games(next, plies - 1);
    }
    return count;
}

// 7^7 less the 7 games that fill a column; published for 8 plies as well.
TEST(numbers_of_games)
{
    static const int64_t known[] = {7, 49, 343, 2401, 16807, 117649, 823536, 5673234};
    for (int plies = 1; plies <= 8; plies++) assert_int_equal(games((struct connect4){0}, plies), known[plies - 1]);
}

// 0: empty, else the player's number; the top row first.
struct plain {
    int at[CONNECT4_ROWS][CONNECT4_COLUMNS];
};

static bool plain_drop(struct plain *p, int column, int player, int *row)
{
    for (*row = CONNECT4_ROWS - 1; *row >= 0 && p->at[*row][column] != 0; (*row)--) ;
    if (*row >= 0) p->at[*row][column] = player;
    return *row >= 0;
}

// Discs of the player in a row on both sides of a cell, with it.
static int plain_run(const struct plain *p, int row, int column, int down, int right)
{
    int count = 1;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 1;; i++) {
            const int r = row + side * i * down, c = column + side * i * right;
            if (r < 0 || r >= CONNECT4_ROWS || c < 0 || c >= CONNECT4_COLUMNS || p->at[r][c] != p->at[row][column]) break;
            count++;
        }
    return count;
}

static bool plain_won(const struct plain *p, int row, int column)
{
    return plain_run(p, row, column, 1, 0) >= 4 || plain_run(p, row, column, 0, 1) >= 4 || plain_run(p, row, column, 1, 1) >= 4 ||
           plain_run(p, row, column, 1, -1) >= 4;
}

static void assert_planes(const struct connect4 *b, const struct plain *p, int player, bool mirrored)
{
    uint8_t planes[CONNECT4_PLANES];
    connect4_planes(b, planes);
    const struct connect4 again = connect4_from_planes(planes);
    assert_memory_equal(&again, b, sizeof again);
    for (int r = 0; r < CONNECT4_ROWS; r++)
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            const int disc = p->at[r][mirrored ? CONNECT4_COLUMNS - 1 - c : c];
            assert_int_equal(planes[(r * CONNECT4_COLUMNS + c) * 2], disc == player);
            assert_int_equal(planes[(r * CONNECT4_COLUMNS + c) * 2 + 1], disc != 0 && disc != player);
        }
}

TEST(drawn_games)
{
    int won[3] = {0};
    for (int game = 0; game < 10000; game++) {
        struct draws d = DRAWS(4, 0, game);
        struct connect4 b = {0};
        struct plain p = {0};
        int ply = 0, row = 0;
        for (bool over = false; !over && ply < CONNECT4_CELLS; ply++) {
            const struct connect4 mirror = connect4_mirror(&b);
            const int player = 1 + ply % 2;
            assert_planes(&b, &p, player, false);
            assert_planes(&mirror, &p, player, true);
            assert_int_equal(connect4_discs(&b), ply);
            assert_false(connect4_full(&b));
            int column = draws_below(&d, CONNECT4_COLUMNS);
            while (!plain_drop(&p, column, player, &row)) {
                assert_false(connect4_may(&b, column));
                column = draws_below(&d, CONNECT4_COLUMNS);
            }
            assert_true(connect4_may(&b, column));
            over = connect4_drop(&b, column);
            assert_int_equal(over, plain_won(&p, row, column));
            if (over) won[player]++;
        }
        if (ply == CONNECT4_CELLS) assert_true(connect4_full(&b));
    }
    assert_in_range(won[1], 5300, 5800);  // of 10,000: the first player wins 55.6% of random games
    assert_in_range(won[2], 4200, 4700);
}
