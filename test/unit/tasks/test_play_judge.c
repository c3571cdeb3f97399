// SPDX-License-Identifier: Apache-2.0
// The score of moves: a judge of networks that always err, never err or give no numbers, files of moves, and searches without a
// network.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/read/positions/positions.h"
#include "runtime/common/base/text.h"
#include "tasks/play/play.h"
#include "tasks/play/playouts.h"

enum { COUNT = 400 };
static uint8_t values[COUNT][CONNECT4_COLUMNS], planes[COUNT][CONNECT4_PLANES];

static struct dataset *open_drawn(void)
{
    struct dataset *ds;
    OK(dataset_open("connect4-drawn", NULL, &ds));
    OK(dataset_read(ds, SPLIT_TEST, "values", 0, COUNT, values));
    OK(dataset_read(ds, SPLIT_TEST, "board", 0, COUNT, planes));
    return ds;
}

// A move of the best or of the worst value; full columns look best of all.
static void fill_logits(bool best, float logits[COUNT][CONNECT4_COLUMNS])
{
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < CONNECT4_COLUMNS; c++)
            logits[i][c] = values[i][c] == POSITION_FULL ? 100 : (float)values[i][c] * (best ? 1 : -1) + 0.01f * (float)c;
}

// In batches, backwards. Returns the judge's code of the last batch.
static int judge(struct dataset *ds, float logits[COUNT][CONNECT4_COLUMNS], const char *file, int64_t score[METRICS_MAX])
{
    enum { BATCH = 16 };
    const struct setting setting = {.data = dataset_facts(ds)};
    void *state;
    int rc = 0;
    OK(play_judge.begin(&setting, ds, ds, &state));
    for (int first = COUNT - BATCH; first >= 0 && rc == 0; first -= BATCH) {
        int32_t sample[BATCH];
        for (int i = 0; i < BATCH; i++) sample[i] = first + i;
        const struct judged batch = {.sample = sample, .count = BATCH, .output = {[PLAY_POLICY] = logits[first]}};
        rc = play_judge.batch(state, &batch);
    }
    if (rc == 0 && file) OK(play_judge.write(state, in(file)));
    OK(play_judge.end(state, rc == 0 ? score : NULL));
    return rc;
}

TEST_WITH(best_and_worst_moves, set_up, leave)
{
    static float logits[COUNT][CONNECT4_COLUMNS];
    struct dataset *ds = open_drawn();
    struct text said = {0};
    int64_t score[METRICS_MAX];
    fill_logits(true, logits);
    OK(judge(ds, logits, "best.txt", score));
    assert_int_equal(score[PLAY_MISTAKES], 0);
    OK(play_judge.evaluate("connect4-drawn", in("best.txt"), false, &said));
    assert_string_equal(said.at, "mistakes  0.0000%: 0 of 400 positions\n");
    text_free(&said);
    fill_logits(false, logits);
    OK(judge(ds, logits, "worst.txt", score));
    assert_int_equal(score[PLAY_MISTAKES], 1000000);
    memset(logits[0], 0, sizeof *logits);
    for (int c = 0; c < CONNECT4_COLUMNS; c++) logits[0][c] = values[0][c] == POSITION_FULL ? 9 : values[0][c];
    OK(judge(ds, logits, "one.txt", score));
    assert_int_equal(score[PLAY_MISTAKES], 997500);
    OK(play_judge.evaluate("connect4-drawn", in("one.txt"), true, &said));
    assert_string_equal(said.at, "{\"metric\": \"mistakes\", \"percent\": 99.75, \"mistakes\": 399, \"positions\": 400}\n");
    logits[7][3] = NAN;
    assert_fails(judge(ds, logits, NULL, score), ERR_INPUT, "the network gave a move of position 8 a value that is no number");
    text_free(&said);
    dataset_close(ds);
}

TEST_WITH(files_of_moves, set_up, leave)
{
    struct dataset *ds = open_drawn();
    struct text lines = {0}, said = {0};
    int full = 0, column = 0;
    for (int i = 0; i < COUNT; i++) {
        int legal = 0;
        while (values[i][legal] == POSITION_FULL) legal++;
        for (int c = 0; c < CONNECT4_COLUMNS && full == 0; c++)
            if (values[i][c] == POSITION_FULL) full = i, column = c;
        text_add(&lines, i > 0 ? "%d\n" : "%d\r\n", legal + 1);
    }
    assert_true(full > 0);
    put("m.txt", lines.at, lines.length - 1);  // the last line end may be missing
    OK(play_judge.evaluate("connect4-drawn", in("m.txt"), false, &said));
    put("m.txt", lines.at, lines.length - 2);
    assert_fails(play_judge.evaluate("connect4-drawn", in("m.txt"), false, &said), ERR_INPUT, "ends after line 399 of 400");
    text_add(&lines, "1\n");
    put("m.txt", lines.at, lines.length);
    assert_fails(play_judge.evaluate("connect4-drawn", in("m.txt"), false, &said), ERR_INPUT, "m.txt has more than 400 lines");
    lines.at[2 * full + 1] = (char)('1' + column);
    put("m.txt", lines.at, lines.length - 2);
    assert_fails(play_judge.evaluate("connect4-drawn", in("m.txt"), false, &said), ERR_INPUT, "is full");
    lines.at[0] = '8';
    put("m.txt", lines.at, lines.length);
    assert_fails(play_judge.evaluate("connect4-drawn", in("m.txt"), false, &said), ERR_INPUT, "line 1 is not a column");
    assert_fails(play_judge.evaluate("mnist-drawn", in("m.txt"), false, &said), ERR_USAGE, "mnist-drawn has no solved positions");
    text_free(&said);
    text_free(&lines);
    dataset_close(ds);
}

// Where a move wins at once, the search finds one; a stronger search errs less than a weaker one, and both less than chance.
TEST(searches_without_a_network)
{
    struct dataset *ds = open_drawn();
    int wins = 0, wrong[2] = {0};
    double chance = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct connect4 b = connect4_from_planes(planes[i]);
        bool at_once[CONNECT4_COLUMNS] = {false};
        int errs = 0, legal = 0;
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            struct connect4 next = b;
            if (!connect4_may(&b, c)) continue;
            at_once[c] = connect4_drop(&next, c);
            legal++, errs += position_errs(values[i], c);
        }
        chance += (double)errs / legal;
        for (int k = 0; k < 2; k++) {
            const int move = playouts_move(&b, k ? 400 : 30, i);
            assert_true(connect4_may(&b, move));
            wrong[k] += position_errs(values[i], move);
            if (k == 0) continue;
            if (memchr(at_once, true, sizeof at_once)) wins += at_once[move] || !position_errs(values[i], move) ? 1 : -1000;
        }
    }
    assert_in_range(wins, 20, COUNT);
    assert_true(wrong[1] < wrong[0] && wrong[0] < chance);
    dataset_close(ds);
}

TEST(baselines)
{
    struct dataset *ds = open_drawn();
    struct baseline row[BASELINES_MAX];
    double chance = 0;
    int centre = 0;
    for (int i = 0; i < COUNT; i++) {
        int errs = 0, legal = 0, at = 3;
        for (int c = 0; c < CONNECT4_COLUMNS; c++)
            if (values[i][c] != POSITION_FULL) legal++, errs += position_errs(values[i], c);
        chance += (double)errs / legal / COUNT;
        for (int away = 0; values[i][at] == POSITION_FULL; away++) at = away % 2 ? 3 + (away + 1) / 2 : 3 - (away + 2) / 2;
        centre += position_errs(values[i], at);
    }
    assert_int_equal(play_baselines(NULL, ds, ds, row), 3);
    assert_float_equal(row[0].score, 100 * chance, 1e-9);
    assert_float_equal(row[1].score, 100.0 * centre / COUNT, 1e-9);
    assert_true(row[2].score > 0 && row[2].score < row[1].score);
    dataset_close(ds);
}
