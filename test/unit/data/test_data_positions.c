// SPDX-License-Identifier: Apache-2.0
// Solved positions of Connect Four: wrong lines and their sentences, the solver against plain search, and the file's values
// against the solver.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/kind.h"
#include "data/read/draws.h"
#include "data/read/positions/positions.h"
#include "runtime/common/base/text.h"
#include "test/unit/fixture_connect4.h"

static int parse(const char *text, struct positions *p)
{
    return positions_parse("p.txt", text, strlen(text), p);
}

TEST(wrong_lines)
{
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"", "p.txt has no position"},
        {"\n", "p.txt: line 1 is not at most 41 moves, a blank and seven values"},
        {"4444\n", "line 1 is not at most 41 moves"},
        {"4444 -=+-=+-+\n", "line 1 is not at most 41 moves"},
        {"4444  =+-=+-\n", "line 1: the value of column 1 is none of - = + x"},
        {"112233 ---+---\n1128 -=+-=+-\n", "line 2: move 4 is not a column from 1 to 7"},
        {"1111111 -=+-=+-\n", "line 1: move 7 is in a column that is full"},
        {"1212121 -=+-=+-\n", "line 1: move 7 ends the game"},
        {"12121213 -=+-=+-\n", "line 1: move 7 ends the game"},  // only thus could both have four
        {"112233 ---=---\n", "line 1: the value of column 4 contradicts the rules"},   // wins at once
        {"1122334 ---=---\n", "line 1: move 7 ends the game"},
        {"1122337 =--=---\n", "line 1: the value of column 1 contradicts the rules"},  // loses at once
        {"111111 =-=-=-x\n", "line 1: the value of column 1 contradicts the rules"},   // full
        {"4 x------\n", "line 1: the value of column 1 contradicts the rules"},        // not full
        {"4 -------\n", "line 1: no move is worse than another"},
        {"4 -------", "line 1: no move is worse than another"},
        {"4 ---=---\n4 ---=---\n", "line 2 has the position of line 1 or its mirror image"},
        {"2 ---=---\n4 ---=---\n6 ---=---\n", "line 3 has the position of line 1 or its mirror image"},
        {"4433 ---=---\n3443 ---=---\n3344 ---=---\n", "line 3 has the position of line 1 or its mirror image"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct positions p;
        assert_fails(parse(wrong[i].text, &p), ERR_INPUT, wrong[i].sentence);
        assert_null(p.at);
    }
}

TEST(a_position)
{
    struct positions p;
    assert_int_equal(parse("112233 ---+---\n4 -==+=--", &p), 0);
    assert_int_equal(p.count, 2);
    assert_string_equal(p.at[0].moves, "112233");
    assert_int_equal(connect4_discs(&p.at[0].board), 6);
    assert_int_equal(p.at[0].value[3], POSITION_WINS);
    assert_int_equal(p.at[0].value[0], POSITION_LOSES);
    for (int c = 0; c < CONNECT4_COLUMNS; c++) assert_int_equal(position_errs(p.at[0].value, c), c != 3);
    positions_free(&p);
}

// ---- the solver

// Every game to its end.
static int plain_value(const struct connect4 *b)
{
    int best = -1;
    if (connect4_full(b)) return 0;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        struct connect4 next = *b;
        if (!connect4_may(b, c)) continue;
        const int value = connect4_drop(&next, c) ? 1 : -plain_value(&next);
        if (value > best) best = value;
    }
    return best;
}

TEST(solver_is_exact)
{
    const struct connect4_table table = connect4_table(16);
    int solved = 0, seen[3] = {0};
    for (int64_t game = 0; solved < 300; game++) {
        struct draws d = DRAWS(7, 0, game);
        struct connect4 b = {0};
        const int plies = 30 + draws_below(&d, 12);
        int value[CONNECT4_COLUMNS];
        bool over = false;
        for (int ply = 0; ply < plies && !over; ply++) {
            int column = draws_below(&d, CONNECT4_COLUMNS);
            while (!connect4_may(&b, column)) column = draws_below(&d, CONNECT4_COLUMNS);
            over = connect4_drop(&b, column);
        }
        if (over) continue;
        connect4_values(table, &b, value);
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            struct connect4 next = b;
            if (!connect4_may(&b, c)) assert_int_equal(value[c], CONNECT4_FULL_COLUMN);
            else assert_int_equal(value[c], connect4_drop(&next, c) ? 1 : -plain_value(&next));
            if (value[c] < CONNECT4_FULL_COLUMN) seen[value[c] + 1]++;
        }
        solved++;
    }
    for (int i = 0; i < 3; i++) assert_in_range(seen[i], 30, 2000);
    free(table.slot);
}

// ---- the data set

TEST(data_set)
{
    struct dataset *ds, *drawn;
    char hex[DIGEST_HEX], file[DIGEST_HEX];
    uint8_t planes[CONNECT4_PLANES], expected[CONNECT4_PLANES], value[CONNECT4_COLUMNS];
    enum dataset_verdict verdict;
    struct text shown = {0};
    struct positions p;
    char *text;
    size_t n;
    OK(file_read("data/read/positions/positions.txt", 1 << 20, &text, &n));
    OK(positions_parse("positions.txt", text, n, &p));
    OK(dataset_open("connect4", NULL, &ds));
    OK(dataset_open("connect4-drawn", NULL, &drawn));
    OK(dataset_verify(ds, &verdict));
    assert_int_equal(verdict, DATASET_OFFICIAL);
    OK(dataset_verify(drawn, &verdict));
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    OK(dataset_digest(ds, SPLIT_TEST, hex));
    OK(digest_file("data/read/positions/positions.txt", file));
    assert_string_equal(hex, file);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 4000);
    assert_int_equal(p.count, 4000);
    for (int64_t i = 0; i < p.count; i += 7) {
        OK(dataset_item(ds, SPLIT_TEST, "board", i, planes, sizeof planes, NULL));
        OK(dataset_item(ds, SPLIT_TEST, "values", i, value, sizeof value, NULL));
        connect4_planes(&p.at[i].board, expected);
        assert_memory_equal(planes, expected, sizeof planes);
        assert_memory_equal(value, p.at[i].value, sizeof value);
    }
    OK(dataset_item(ds, SPLIT_TRAIN, "board", 0, planes, sizeof planes, NULL));
    for (int i = 0; i < CONNECT4_PLANES; i++) assert_int_equal(planes[i], 0);
    OK(ds->kind->show(ds, SPLIT_TEST, 1, &shown));
    assert_non_null(strstr(shown.at, p.at[0].moves));
    text_free(&shown);
    positions_free(&p);
    free(text);
    dataset_close(drawn);
    dataset_close(ds);
}

// The latest positions: all of them take minutes (test/bench/connect4_positions.c).
TEST(values_are_exact)
{
    const struct connect4_table table = connect4_table(20);
    struct positions p;
    char *text;
    size_t n;
    int64_t solved = 0;
    OK(file_read("data/read/positions/positions.txt", 1 << 20, &text, &n));
    OK(positions_parse("positions.txt", text, n, &p));
    for (int64_t i = 0; i < p.count; i++) {
        const int plies = connect4_discs(&p.at[i].board);
        int value[CONNECT4_COLUMNS];
        assert_in_range(plies, 14, 24);
        if (plies < 23) continue;
        connect4_values(table, &p.at[i].board, value);
        for (int c = 0; c < CONNECT4_COLUMNS; c++) assert_int_equal(value[c] + 1, p.at[i].value[c]);
        solved++;
    }
    assert_in_range(solved, 300, 1000);
    positions_free(&p);
    free(text);
    free(table.slot);
}
