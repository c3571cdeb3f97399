// SPDX-License-Identifier: Apache-2.0
// Games of the network and its search, without noise, against people and against tree search with random playouts.
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/session.h"
#include "tasks/common/step/player.h"
#include "tasks/play/play.h"
#include "tasks/play/match.h"
#include "tasks/play/selfplay.h"

#include <stdlib.h>

static int judge_by_session(void *owner, const uint8_t *planes, float *policy, float *value)
{
    const struct seat *seat = owner;
    const struct game *g = game_of(seat->setting);
    const size_t n = (size_t)seat->batch;
    TRY(session_put(seat->session, SELFPLAY_BOARDS, planes, 0, n * (size_t)game_bytes(g)));
    TRY(session_run(seat->session, seat->program));
    TRY(session_get(seat->session, SELFPLAY_POLICY, policy, n * (size_t)g->moves * sizeof *policy));
    return session_get(seat->session, SELFPLAY_VALUE, value, n * sizeof *value);
}

static struct searches open_searches(const struct seat *seat)
{
    const struct search how = selfplay_search(seat->setting);
    return searches_open(&how, &(struct judge_of_leaves){(void *)seat, seat->batch, judge_by_session});
}

// ---- a match

static void tell_game(const struct game *of, const struct played *g, struct text *into)
{
    const char *end = g->result > 0 ? "The network wins." : g->result < 0 ? "The network loses." : "A draw.";
    struct text moves = {0};
    text_add(&moves, "X, the network%s: ", of->opening ? ", after the opening" : "");
    for (int i = 0; i < g->plies; i++) {
        char name[GAME_NAME];
        of->name(g->move[i], name);
        text_add(&moves, "%s%s", i > 0 ? of->between : "", name);
    }
    text_wrap(into, moves.at, 0, 0);
    text_free(&moves);
    text_add(into, "\n%s\n", end);
    of->draw(&g->board, into);
}

static int play_match(const struct seat *seat, struct match *m)
{
    struct searches s = open_searches(seat);
    struct played *game = zalloc((size_t)m->games * sizeof *game);
    BUG_IF(m->games != seat->batch);
    for (int64_t i = 0; i < m->games; i++) played_begin(s.how.game, &game[i], i);
    const int rc = match_play(&s, game, m->games);
    for (int64_t i = 0; i < m->games; i++)
        m->won += game[i].result > 0, m->drawn += game[i].result == 0, m->lost += game[i].result < 0;
    if (rc == 0) tell_game(s.how.game, &game[0], &m->first);
    free(game);
    searches_close(&s);
    return rc;
}

// ---- a person

static void say_board(const struct seat *seat, const struct played *g)
{
    struct text text = {0};
    game_of(seat->setting)->draw(&g->board, &text);
    seat->say(text.at);
    text_free(&text);
}

// -1: the person has ended the games.
static int ask_move(const struct seat *seat, const struct played *g)
{
    const struct game *of = game_of(seat->setting);
    struct text line = {0};
    int move = -1;
    for (bool asking = true; asking;) {
        seat->say(of->ask);
        if (!seat->read(&line) || (line.length == 1 && *line.at == 'q')) asking = false, move = -1;
        else if ((move = of->parse(line.at ? line.at : "")) < 0) seat->say(of->no_move);
        else if (!of->may(&g->board, move)) seat->say(of->may_not);
        else asking = false;
        text_free(&line);
    }
    return move;
}

static int networks_move(struct searches *s, const struct seat *seat, const struct played *g, int *move)
{
    struct text text = {0};
    char name[GAME_NAME];
    tree_begin(s->tree[0], &s->how, &g->board);
    s->count = 1, s->number[0] = g->number, s->ply[0] = g->plies;
    TRY(searches_run(s));
    *move = tree_most_visited(s->tree[0], &s->how);
    const struct search_move *is = &tree_root(s->tree[0])->move[*move];
    s->how.game->name(*move, name);
    text_add(&text, "The network plays %s (%d of %d simulations) and expects %+.2f.\n", name, is->visits,
             tree_visits(s->tree[0], &s->how), (double)(is->sum / (float)is->visits));
    seat->say(text.at);
    text_free(&text);
    return 0;
}

// Begins on the empty board. 1: the person has ended it.
static int play_game(struct searches *s, const struct seat *seat, int64_t number)
{
    struct played g = {.number = number};
    s->how.game->begin(&g.board);
    seat->say(number % 2 ? "\nYou begin, with X.\n" : "\nThe network begins, with X.\n");
    while (!g.over) {
        int move = 0;
        if (played_by_network(&g)) TRY(networks_move(s, seat, &g, &move));
        else say_board(seat, &g);
        if (!played_by_network(&g) && (move = ask_move(seat, &g)) < 0) return 1;
        played_move(s->how.game, &g, move);
    }
    say_board(seat, &g);
    seat->say(g.result > 0 ? "The network wins.\n" : g.result < 0 ? "You win.\n" : "A draw.\n");
    return 0;
}

static int play_person(const struct seat *seat)
{
    struct searches s = open_searches(seat);
    int rc = 0;
    seat->say("The network expects results from -1, where you win, to 1, where it wins.\n");
    for (int64_t number = 1; rc == 0; number++) rc = play_game(&s, seat, number);
    seat->say("\n");
    searches_close(&s);
    return rc < 0 ? rc : 0;
}

const struct player play_player = {
    .program = SELFPLAY_PROGRAM, .opponent = "tree search with 1,000 random playouts", .play = play_person, .match = play_match};
