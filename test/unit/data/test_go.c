// SPDX-License-Identifier: Apache-2.0
// Go's rules: ko, superko, suicide, snapback and area by hand, legal moves of drawn games by plain loops, planes of positions.
#include "test/unit/test.h"

#include <string.h>

#include "data/read/draws.h"
#include "data/read/go/go_opponent.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

// Moves with blanks between them; each is legal.
static void play_moves(struct go *b, const char *moves)
{
    char name[8];
    for (int read; sscanf(moves, "%7s%n", name, &read) == 1; moves += read) {
        const int move = go_parse(name);
        if (move < 0 || (move != GO_PASS && !(b->view.legal & go_bit(move)))) fail_msg("%s is not legal", name);
        go_play(b, move);
    }
}

static struct go board_after(const char *moves)
{
    struct go b;
    go_begin(&b);
    play_moves(&b, moves);
    return b;
}

static bool may(const struct go *b, const char *name)
{
    struct go copy = *b;
    const bool tried = go_try(&copy, go_parse(name)), listed = (b->view.legal & go_bit(go_parse(name))) != 0;
    assert_int_equal(tried, listed);
    if (!tried) assert_memory_equal(&copy, b, sizeof copy);
    return tried;
}

static int stones(const struct go *b, int colour) { return go_count(b->view.stones[0][colour]); }

TEST(a_ko_is_not_taken_back_at_once)
{
    struct go b = board_after("D5 F6 E6 F4 E4 G5 A1 E5 F5");
    assert_int_equal(stones(&b, GO_WHITE), 3);
    assert_false(may(&b, "E5"));
    play_moves(&b, "A9 J9");
    assert_true(may(&b, "E5"));
}

// White sends two stones and takes one back: the position of three plies before.
TEST(no_position_comes_back)
{
    struct go b = board_after("B2 A2 C2 B1 D1 C1 A1");
    assert_int_equal(stones(&b, GO_WHITE), 1);
    assert_false(may(&b, "B1"));
    assert_true(may(&b, "C1"));
    play_moves(&b, "J9 J1");
    assert_true(may(&b, "B1"));
}

TEST(suicide_is_illegal)
{
    struct go b = board_after("A8 A9 B8 E5 C9");
    assert_false(may(&b, "B9"));  // two stones
    play_moves(&b, "E6 B9");
    assert_int_equal(stones(&b, GO_WHITE), 2);
    assert_false(may(&b, "A9"));  // one stone
    play_moves(&b, "pass");
    assert_true(may(&b, "A9"));   // black fills an eye
}

TEST(a_snapback_takes_all)
{
    struct go b = board_after("A3 A2 B3 B2 C3 C2 D2 C1 D1 J9 B1 A1");
    assert_int_equal(stones(&b, GO_BLACK), 5);
    play_moves(&b, "B1");
    assert_int_equal(stones(&b, GO_WHITE), 1);
}

TEST(areas_are_counted)
{
    struct go b = board_after("");
    assert_int_equal(go_area(&b.view), 0);
    assert_false(go_black_wins(&b.view));
    play_moves(&b, "E5");
    assert_int_equal(go_area(&b.view), 81);
    play_moves(&b, "A1");
    assert_int_equal(go_area(&b.view), 0);
    // Black walls off column A and B: 9 stones and 9 points, less white's rest, which reaches nobody else.
    b = board_after("B1 C1 B2 C2 B3 C3 B4 C4 B5 C5 B6 C6 B7 C7 B8 C8 B9 C9");
    assert_int_equal(go_area(&b.view), 18 - 63);
    assert_false(go_over(&b.view));
    play_moves(&b, "pass pass");
    assert_true(go_over(&b.view));
}

TEST(eyes_are_single_and_not_false)
{
    struct go b = board_after("A8 E5 B8 E6 B9 E4");
    assert_true(go_eyes(&b.view) == go_bit(go_parse("A9")));
    b = board_after("A8 B8 B9 E6");  // the corner's only diagonal is white
    assert_true(go_eyes(&b.view) == 0);
    b = board_after("D5 C4 E4 C6 E6 J9 F5 J8");
    assert_true(go_eyes(&b.view) == go_bit(go_parse("E5")));  // no diagonal is white
    b = board_after("D5 D4 E4 J7 E6 J9 F5 J8");
    assert_true(go_eyes(&b.view) == go_bit(go_parse("E5")));  // one is
    b = board_after("D5 D4 E4 F6 E6 J9 F5 J8");
    assert_true(go_eyes(&b.view) == 0);  // two are
}

TEST(names_are_read)
{
    char name[GO_NAME];
    for (int m = 0; m < GO_MOVES; m++) {
        go_name(m, name);
        assert_int_equal(go_parse(name), m);
    }
    assert_int_equal(go_parse("d4"), 5 * GO_SIDE + 3);
    assert_int_equal(go_parse("J9"), GO_SIDE - 1);
    static const char *const wrong[] = {"", "I5", "D", "D0", "D10", "K1", "4D", "passe", "D4 "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(go_parse(wrong[i]), -1);
}

// ---- by plain loops

struct plain {
    char at[GO_POINTS], past[GO_PLIES + 1][GO_POINTS];
    int plies;
};

static int plain_near(int point, int near[4])
{
    int count = 0;
    if (point >= GO_SIDE) near[count++] = point - GO_SIDE;
    if (point < GO_POINTS - GO_SIDE) near[count++] = point + GO_SIDE;
    if (point % GO_SIDE > 0) near[count++] = point - 1;
    if (point % GO_SIDE < GO_SIDE - 1) near[count++] = point + 1;
    return count;
}

// Marks the chain of a point, and counts its liberties.
static int plain_chain(const char *at, int point, char *seen)
{
    int near[4], liberties = 0;
    seen[point] = 1;
    for (int i = plain_near(point, near) - 1; i >= 0; i--) {
        if (seen[near[i]]) continue;
        if (!at[near[i]]) seen[near[i]] = 1, liberties++;
        else if (at[near[i]] == at[point]) liberties += plain_chain(at, near[i], seen);
    }
    return liberties;
}

// 0: suicide, or no empty point; -1: a position that was there; -2: that of two plies before; 1: played.
static int plain_try(struct plain *p, int point)
{
    const char own = p->plies % 2 ? 'O' : 'X';
    char next[GO_POINTS], seen[GO_POINTS] = {0};
    int near[4];
    if (p->at[point]) return 0;
    memcpy(next, p->at, sizeof next);
    next[point] = own;
    for (int i = plain_near(point, near) - 1; i >= 0; i--) {
        memset(seen, 0, sizeof seen);
        if (!next[near[i]] || next[near[i]] == own || plain_chain(next, near[i], seen) > 0) continue;
        for (int k = 0; k < GO_POINTS; k++)
            if (seen[k]) next[k] = 0;
    }
    memset(seen, 0, sizeof seen);
    if (plain_chain(next, point, seen) == 0) return 0;
    for (int i = p->plies; i >= 0; i--)
        if (!memcmp(p->past[i], next, sizeof next)) return i == p->plies - 1 ? -2 : -1;
    memcpy(p->at, next, sizeof next);
    memcpy(p->past[++p->plies], next, sizeof next);
    return 1;
}

static int draw_move(const struct go *b, struct draws *d)
{
    go_set left = b->view.legal;
    if (!left || draws_below(d, 100) == 0) return GO_PASS;
    for (int skip = draws_below(d, go_count(left)); skip > 0; skip--) left &= left - 1;
    return go_first(left);
}

TEST(drawn_games_by_plain_loops)
{
    enum { GAMES = 60 };
    int superko = 0, ko = 0;
    for (int game = 0; game < GAMES; game++) {
        struct draws d = DRAWS(20261130, 1, game);
        struct plain p = {0};
        struct go b = board_after("");
        while (!go_over(&b.view)) {
            const int move = draw_move(&b, &d);
            for (int m = 0; m < GO_POINTS; m++) {
                struct plain copy = p;
                const int tried = plain_try(&copy, m);
                ko += tried == -2, superko += tried == -1;
                if ((tried == 1) != ((b.view.legal & go_bit(m)) != 0)) fail_msg("game %d, ply %u: %d", game, b.view.plies, m);
            }
            go_play(&b, move);
            if (move != GO_PASS) assert_int_equal(plain_try(&p, move), 1);
            else memcpy(p.past[p.plies + 1], p.at, sizeof p.at), p.plies++;
            for (int m = 0; m < GO_POINTS; m++)
                assert_int_equal(p.at[m] == 'X' ? 1 : p.at[m] == 'O' ? 2 : 0,
                                 (b.view.stones[0][0] & go_bit(m) ? 1 : 0) + (b.view.stones[0][1] & go_bit(m) ? 2 : 0));
        }
    }
    assert_true(ko > 50 && superko > 0);
}

// The moves of 10,000 such games were those of open_spiel 2.0.2, which ends a game with a draw where a position comes back.
TEST(numbers_of_legal_moves)
{
    struct text counts = {0};
    char hex[DIGEST_HEX];
    for (int game = 0; game < 1000; game++) {
        struct draws d = DRAWS(20261130, 2, game);
        struct go b = board_after("");
        for (; !go_over(&b.view); go_play(&b, draw_move(&b, &d))) text_add(&counts, "%d ", go_count(b.view.legal));
        text_add(&counts, "%d\n", go_area(&b.view));
    }
    digest_bytes(counts.at, counts.length, hex);
    text_free(&counts);
    assert_string_equal(hex, "daa4b36aa0d03bf2e7b5fb31777f1aea686f03e91ba5de0e1eec07504d397948");
}

// ---- planes

static bool plane_is(const uint8_t *planes, int plane, const char *points)
{
    uint8_t want[GO_POINTS] = {0};
    char name[8];
    for (int read; sscanf(points, "%7s%n", name, &read) == 1; points += read) want[go_parse(name)] = 1;
    for (int m = 0; m < GO_POINTS; m++)
        if (planes[m * GO_PLANES + plane] != want[m]) return false;
    return true;
}

TEST(planes_are_as_by_hand)
{
    static const char *const black[GO_PLANES] = {  // black is to move and may take A9
        "B9 E5", "A9 D5", "B9 E5", "A9", "E5", "A9", "E5", "", NULL, "A9", "B9", "E5 D5", "A8"};
    static const char *const white[GO_PLANES] = {  // A9 was taken
        "D5", "A8 B9 E5", "A9 D5", "B9 E5", "A9", "B9 E5", "A9", "E5", "", "", "", "A8 B9 D5 E5", ""};
    uint8_t planes[GO_BYTES];
    struct go b = board_after("E5 A9 B9 D5");
    go_planes(&b.view, 0, planes);
    for (int p = 0; p < GO_PLANES; p++)
        if (p != 8 && !plane_is(planes, p, black[p])) fail_msg("plane %d", p);
    for (int m = 0; m < GO_POINTS; m++) assert_int_equal(planes[m * GO_PLANES + 8], 1);
    play_moves(&b, "A8");
    go_planes(&b.view, 0, planes);
    for (int p = 0; p < GO_PLANES; p++)
        if (!plane_is(planes, p, white[p])) fail_msg("plane %d of white", p);
}

// A turned game has turned planes, and the eight symmetries are eight.
TEST(boards_are_turned)
{
    uint8_t planes[GO_BYTES], again[GO_BYTES];
    int corner[GO_TURNS];
    for (int turn = 0; turn < GO_TURNS; turn++) {
        struct draws d = DRAWS(20261130, 3, 0);
        struct go b = board_after(""), turned = b;
        for (int ply = 0; ply < 60; ply++) {
            const int move = draw_move(&b, &d);
            go_play(&b, move);
            go_play(&turned, go_turned(move, turn));
        }
        go_planes(&b.view, turn, planes);
        go_planes(&turned.view, 0, again);
        assert_memory_equal(planes, again, sizeof planes);
        corner[turn] = go_turned(1, turn);
        for (int i = 0; i < turn; i++) assert_int_not_equal(corner[i], corner[turn]);
    }
}

// ---- the fixed opponent

TEST(the_opponent_is_the_published_one)
{
    char hex[DIGEST_HEX];
    go_opponent_digest(hex);
    assert_string_equal(hex, "4818c3e99fb0c107f04e15223720548957ade85fc6fcda9ab2717fd413d61c85");
}

TEST(openings_come_in_pairs)
{
    for (int game = 0; game < 200; game++) {
        uint8_t moves[GO_OPENING], other[GO_OPENING];
        go_opening(game, moves), go_opening(game ^ 1, other);
        assert_memory_equal(moves, other, GO_OPENING);
        struct go b = board_after("");
        for (int i = 0; i < GO_OPENING; i++) go_play(&b, moves[i]);
    }
}

// Of both colours, with 200 playouts against 10. It passes where that wins.
TEST(more_playouts_win)
{
    int won = 0;
    for (int game = 0; game < 10; game++) {
        struct go b = board_after("");
        while (!go_over(&b.view)) go_play(&b, go_opponent_move(&b, go_mover(&b.view) == game % 2 ? 200 : 10, game));
        won += go_black_wins(&b.view) == (game % 2 == 0);
    }
    assert_int_equal(won, 10);
    const struct go b = board_after("E5 pass");
    assert_int_equal(go_opponent_move(&b, 10, 0), GO_PASS);
}
