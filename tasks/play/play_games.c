// SPDX-License-Identifier: Apache-2.0
// Games of the network and its search, without noise, against people and against tree search with random playouts.
#include "data/read/positions/connect4.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/session.h"
#include "tasks/common/step/player.h"
#include "tasks/play/play.h"
#include "tasks/play/play_keys.h"
#include "tasks/play/playouts.h"
#include "tasks/play/search.h"
#include "tasks/play/selfplay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYOUTS = 1000, MATCH_NUMBER = 1 << 20 };  // draws of a match are not those of the scored positions

// Searches of several games at once.
struct searches {
    const struct seat *seat;
    struct search how;
    int64_t count;           // of games that are searched now
    struct tree **tree;
    int *leaf;
    uint8_t (*planes)[CONNECT4_PLANES];
    float (*policy)[SEARCH_MOVES], *value;
};

static struct searches open_searches(const struct seat *seat)
{
    const struct play_keys *k = play_keys(seat->setting->recipe);
    const size_t n = (size_t)seat->batch;
    struct searches s = {.seat = seat, .how = {.simulations = (int)k->simulations, .puct = (float)k->puct}};
    s.tree = zalloc(n * sizeof *s.tree), s.leaf = zalloc(n * sizeof *s.leaf), s.planes = zalloc(n * sizeof *s.planes);
    s.policy = zalloc(n * sizeof *s.policy), s.value = zalloc(n * sizeof *s.value);
    for (size_t i = 0; i < n; i++) s.tree[i] = zalloc(tree_bytes(&s.how));
    return s;
}

static void close_searches(struct searches *s)
{
    for (int64_t i = 0; i < s->seat->batch; i++) free(s->tree[i]);
    free(s->tree), free(s->leaf), free(s->planes), free(s->policy), free(s->value);
}

static int judge_positions(struct searches *s)
{
    struct session *session = s->seat->session;
    const size_t n = (size_t)s->seat->batch;
    TRY(session_put(session, SELFPLAY_BOARDS, s->planes, 0, n * sizeof *s->planes));
    TRY(session_run(session, s->seat->program));
    TRY(session_get(session, SELFPLAY_POLICY, s->policy, n * sizeof *s->policy));
    TRY(session_get(session, SELFPLAY_VALUE, s->value, n * sizeof *s->value));
    for (int64_t i = 0; i < s->count; i++) {
        bool sound = isfinite(s->value[i]);
        for (int m = 0; m < SEARCH_MOVES; m++) sound = sound && isfinite(s->policy[i][m]);
        if (!sound) return fail(ERR_INPUT, "the network's output is not a number: the weights are damaged");
    }
    return 0;
}

// Leaves of all trees are one batch, until no tree has one.
static int search_all(struct searches *s)
{
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < s->count; i++) {
            s->leaf[i] = tree_select(s->tree[i], &s->how);
            if (s->leaf[i] == TREE_NONE) continue;
            connect4_planes(&s->tree[i]->node[s->leaf[i]].board, s->planes[i]);
            more = true;
        }
        if (more) TRY(judge_positions(s));
        for (int64_t i = 0; i < s->count; i++)
            if (s->leaf[i] != TREE_NONE) tree_expand(s->tree[i], s->leaf[i], s->policy[i], s->value[i]);
    }
    return 0;
}

// ---- a match

struct played {
    struct connect4 board;
    bool over;
    int result;  // for the network
    char moves[CONNECT4_CELLS + 1];
};

static void make_move(struct played *g, int column, bool network)
{
    g->moves[connect4_discs(&g->board)] = (char)('1' + column);
    const bool won = connect4_drop(&g->board, column);
    g->over = won || connect4_full(&g->board);
    g->result = !won ? 0 : network ? 1 : -1;
}

// The network begins games 0, 2, 4.
static bool is_networks(const struct played *g, int64_t number)
{
    return (connect4_discs(&g->board) + number) % 2 == 0;
}

static int play_turn(struct searches *s, struct played *game, bool *left)
{
    s->count = 0;
    int64_t *at = zalloc((size_t)s->seat->batch * sizeof *at);
    for (int64_t i = 0; i < s->seat->batch; i++) {
        if (game[i].over) continue;
        if (!is_networks(&game[i], i)) make_move(&game[i], playouts_move(&game[i].board, PLAYOUTS, MATCH_NUMBER + i), false);
        if (game[i].over) continue;
        tree_begin(s->tree[s->count], &game[i].board);
        at[s->count++] = i;
    }
    const int rc = s->count > 0 ? search_all(s) : 0;
    for (int64_t k = 0; k < s->count && rc == 0; k++) make_move(&game[at[k]], tree_most_visited(s->tree[k]), true);
    *left = s->count > 0;
    free(at);
    return rc;
}

static void tell_game(const struct played *g, struct text *into)
{
    const char *end = g->result > 0 ? "The network wins." : g->result < 0 ? "The network loses." : "A draw.";
    text_add(into, "X, the network: %s\n%s\n", g->moves, end);
    connect4_draw(&g->board, into);
}

static int play_match(const struct seat *seat, struct match *m)
{
    struct searches s = open_searches(seat);
    struct played *game = zalloc((size_t)m->games * sizeof *game);
    int rc = 0;
    BUG_IF(m->games != seat->batch);
    for (bool left = true; left && rc == 0;) rc = play_turn(&s, game, &left);
    for (int64_t i = 0; i < m->games; i++)
        m->won += game[i].result > 0, m->drawn += game[i].result == 0, m->lost += game[i].result < 0;
    if (rc == 0) tell_game(&game[0], &m->first);
    free(game);
    close_searches(&s);
    return rc;
}

// ---- a person

static void say_board(const struct seat *seat, const struct connect4 *b)
{
    struct text text = {0};
    connect4_draw(b, &text);
    seat->say(text.at);
    text_free(&text);
}

// The column; -1: the person has ended the games.
static int ask_move(const struct seat *seat, const struct connect4 *b)
{
    struct text line = {0};
    int64_t column = -1;
    for (bool asking = true; asking;) {
        seat->say("Your column: ");
        if (!seat->read(&line) || (line.length == 1 && *line.at == 'q')) asking = false, column = 0;
        else if (text_to_int(line.at ? line.at : "", 1, CONNECT4_COLUMNS, &column) < 0)
            seat->say("That is no column: type a number from 1 to 7, or q to end.\n");
        else if (!connect4_may(b, (int)column - 1)) seat->say("That column is full: type another one.\n");
        else asking = false;
        text_free(&line);
    }
    return (int)column - 1;
}

static int networks_move(struct searches *s, const struct connect4 *b, int *column)
{
    struct text text = {0};
    tree_begin(s->tree[0], b);
    s->count = 1;
    TRY(search_all(s));
    const struct search_node *root = &s->tree[0]->node[0];
    *column = tree_most_visited(s->tree[0]);
    text_add(&text, "The network plays %d (%d of %d simulations) and expects %+.2f.\n", *column + 1, root->visits[*column],
             tree_visits(s->tree[0]), (double)(root->sum[*column] / (float)root->visits[*column]));
    s->seat->say(text.at);
    text_free(&text);
    return 0;
}

// 1: the person has ended it.
static int play_game(struct searches *s, int64_t number)
{
    const struct seat *seat = s->seat;
    struct played g = {0};
    seat->say(number % 2 ? "\nYou begin, with X.\n" : "\nThe network begins, with X.\n");
    while (!g.over) {
        const bool network = is_networks(&g, number);
        int column;
        if (network) TRY(networks_move(s, &g.board, &column));
        else say_board(seat, &g.board);
        if (!network && (column = ask_move(seat, &g.board)) < 0) return 1;
        make_move(&g, column, network);
    }
    say_board(seat, &g.board);
    seat->say(g.result > 0 ? "The network wins.\n" : g.result < 0 ? "You win.\n" : "A draw.\n");
    return 0;
}

static int play_person(const struct seat *seat)
{
    struct searches s = open_searches(seat);
    int rc = 0;
    seat->say("The network expects results from -1, where you win, to 1, where it wins.\n");
    for (int64_t number = 1; rc == 0; number++) rc = play_game(&s, number);
    seat->say("\n");
    close_searches(&s);
    return rc < 0 ? rc : 0;
}

const struct player play_player = {
    .program = SELFPLAY_PROGRAM, .opponent = "tree search with 1,000 random playouts", .play = play_person, .match = play_match};
