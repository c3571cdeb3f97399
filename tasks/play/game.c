// SPDX-License-Identifier: Apache-2.0
// The games, each as functions over its rules.
#include "tasks/play/game.h"

#include "data/read/go/go_opponent.h"
#include "runtime/common/base/text.h"
#include "tasks/play/playouts.h"

#include <stdio.h>
#include <string.h>

// ---- Connect Four

enum { PLAYOUTS = 1000, MATCH_NUMBER = 1 << 20 };  // MATCH_NUMBER: a match has other draws than the scored positions

static void connect4_begin(void *board)
{
    memset(board, 0, sizeof(struct connect4));
}

static bool connect4_is_legal(const void *board, int move)
{
    return connect4_may(board, move);
}

static int connect4_play(void *board, int move)
{
    return connect4_drop(board, move) ? 1 : connect4_full(board) ? 0 : GAME_ON;
}

static void connect4_planes_of(const void *board, int turn, uint8_t *planes)
{
    const struct connect4 mirror = connect4_mirror(board);
    connect4_planes(turn ? &mirror : board, planes);
}

static int connect4_turned(int move, int turn)
{
    return turn ? CONNECT4_COLUMNS - 1 - move : move;
}

static int connect4_opponent(const void *board, int playouts, int64_t number)
{
    return playouts_move(board, playouts, MATCH_NUMBER + number);
}

static void connect4_draw_board(const void *board, struct text *into)
{
    connect4_draw(board, into);
}

static void connect4_name(int move, char name[GAME_NAME])
{
    snprintf(name, GAME_NAME, "%d", move + 1);
}

static int connect4_parse(const char *name)
{
    int64_t column;
    return text_to_int(name, 1, CONNECT4_COLUMNS, &column) < 0 ? -1 : (int)column - 1;
}

const struct game game_connect4 = {
    .rows = CONNECT4_ROWS, .columns = CONNECT4_COLUMNS, .planes = 2, .moves = CONNECT4_COLUMNS, .plies = CONNECT4_CELLS,
    .turns = 2, .board_bytes = sizeof(struct connect4), .seen_bytes = sizeof(struct connect4), .begin = connect4_begin,
    .may = connect4_is_legal, .play = connect4_play, .planes_of = connect4_planes_of, .turned = connect4_turned,
    .opponent = connect4_opponent, .draw = connect4_draw_board, .name = connect4_name, .parse = connect4_parse, .between = "",
    .playouts = PLAYOUTS, .value_width = 32,
    .ask = "Your column: ", .no_move = "That is no column: type a number from 1 to 7, or q to end.\n",
    .may_not = "That column is full: type another one.\n",
};

// ---- Go

static void begin_go(void *board)
{
    go_begin(board);
}

static bool go_is_legal(const void *seen, int move)
{
    return move == GO_PASS || (((const struct go_view *)seen)->legal & go_bit(move));
}

static int play_go(void *board, int move)
{
    const struct go_view *v = board;
    const int mover = go_mover(v);
    go_play(board, move);
    return !go_over(v) ? GAME_ON : go_black_wins(v) == (mover == GO_BLACK) ? 1 : -1;
}

static void go_planes_of(const void *seen, int turn, uint8_t *planes)
{
    go_planes(seen, turn, planes);
}

static int go_opponent(const void *board, int playouts, int64_t number)
{
    return go_opponent_move(board, playouts, number);
}

static void open_go(void *board, int64_t number)
{
    uint8_t moves[GO_OPENING];
    go_opening(number, moves);
    for (int i = 0; i < GO_OPENING; i++) go_play(board, moves[i]);
}

static void draw_go(const void *board, struct text *into)
{
    go_draw(board, into);
}

const struct game game_go = {
    .rows = GO_SIDE, .columns = GO_SIDE, .planes = GO_PLANES, .moves = GO_MOVES, .plies = GO_PLIES, .turns = GO_TURNS,
    .turns_leaves = true, .board_bytes = sizeof(struct go), .seen_bytes = sizeof(struct go_view), .begin = begin_go,
    .may = go_is_legal, .play = play_go, .planes_of = go_planes_of, .turned = go_turned, .opening = open_go,
    .opponent = go_opponent, .draw = draw_go, .name = go_name, .parse = go_parse, .between = " ",
    .playouts = GO_PLAYOUTS, .value_width = 64,
    .ask = "Your move: ", .no_move = "That is no move: type a point such as D4, pass, or q to end.\n",
    .may_not = "That is illegal: taken, suicide or ko. Type another one.\n",
};
