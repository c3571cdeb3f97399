// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/match.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/threads.h"

#include <math.h>
#include <stdlib.h>

enum { MATCH_SEED = 0 };  // of symmetries

int leaf_turn(const struct game *g, uint64_t seed, int64_t number, int64_t ply, int leaf)
{
    enum { LEAVES = 1 << 16 };  // the first block of a leaf
    if (!g->turns_leaves) return 0;
    const struct rng4 r = rng_draw(seed, RNG_PLAY, (uint32_t)number, (uint32_t)ply, LEAVES + (uint32_t)leaf);
    return (int)rng_below(r.v[0], (uint32_t)g->turns);
}

void turn_back(const struct game *g, int turn, const float *turned, float *logits)
{
    for (int m = 0; m < g->moves; m++) logits[m] = turned[g->turned(m, turn)];
}

struct searches searches_open(const struct search *how, const struct judge_of_leaves *of)
{
    const size_t n = (size_t)of->batch;
    struct searches s = {.of = *of, .how = *how, .playouts = how->game->playouts};
    s.number = zalloc(n * sizeof *s.number), s.ply = zalloc(n * sizeof *s.ply);
    s.tree = zalloc(n * sizeof *s.tree), s.leaf = zalloc(n * sizeof *s.leaf);
    s.planes = zalloc(n * (size_t)game_bytes(how->game));
    s.policy = zalloc(n * (size_t)how->game->moves * sizeof *s.policy), s.value = zalloc(n * sizeof *s.value);
    for (size_t i = 0; i < n; i++) s.tree[i] = zalloc(tree_bytes(how));
    return s;
}

void searches_close(struct searches *s)
{
    for (int64_t i = 0; i < s->of.batch; i++) free(s->tree[i]);
    free(s->number), free(s->ply), free(s->tree), free(s->leaf), free(s->planes), free(s->policy), free(s->value);
}

static int judge_positions(struct searches *s)
{
    const int64_t moves = s->how.game->moves;
    TRY(s->of.judge(s->of.owner, s->planes, s->policy, s->value));
    for (int64_t i = 0; i < s->count; i++) {
        bool sound = isfinite(s->value[i]);
        for (int m = 0; m < moves; m++) sound = sound && isfinite(s->policy[i * moves + m]);
        if (!sound) return fail(ERR_INPUT, "the network's output is not a number: the weights are damaged");
    }
    return 0;
}

static int turn_of(const struct searches *s, int64_t i)
{
    return leaf_turn(s->how.game, MATCH_SEED, s->number[i], s->ply[i], s->leaf[i]);
}

// Leaves of all trees are one batch, until no tree has one.
int searches_run(struct searches *s)
{
    const struct game *g = s->how.game;
    float logits[GAME_MOVES_MOST];
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < s->count; i++) {
            s->leaf[i] = tree_select(s->tree[i], &s->how);
            if (s->leaf[i] == TREE_NONE) continue;
            g->planes_of(tree_board(s->tree[i], &s->how, s->leaf[i]), turn_of(s, i), s->planes + i * game_bytes(g));
            more = true;
        }
        if (more) TRY(judge_positions(s));
        for (int64_t i = 0; i < s->count; i++) {
            if (s->leaf[i] == TREE_NONE) continue;
            turn_back(g, turn_of(s, i), s->policy + i * g->moves, logits);
            tree_expand(s->tree[i], &s->how, s->leaf[i], logits, s->value[i]);
        }
    }
    return 0;
}

// ---- games

void played_begin(const struct game *g, struct played *p, int64_t number)
{
    *p = (struct played){.number = number};
    g->begin(&p->board);
    if (g->opening) g->opening(&p->board, number);
}

void played_move(const struct game *g, struct played *p, int move)
{
    const bool network = played_by_network(p);
    p->move[p->plies++] = (uint8_t)move;
    const int result = g->play(&p->board, move);
    p->over = result != GAME_ON;
    if (p->over) p->result = network ? result : -result;
}

struct turn {
    const struct searches *of;
    struct played *game;
};

static void answer_games(void *context, int64_t begin, int64_t end, int thread)
{
    const struct turn *turn = context;
    const struct game *g = turn->of->how.game;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        struct played *p = &turn->game[i];
        if (p->over || played_by_network(p)) continue;
        played_move(g, p, g->opponent(&p->board, turn->of->playouts, p->number));
    }
}

static int play_turn(struct searches *s, struct played *game, int64_t games)
{
    struct turn turn = {s, game};
    threads_for(games, 1, answer_games, &turn);
    s->count = 0;
    for (int64_t i = 0; i < games; i++) {
        if (game[i].over) continue;
        tree_begin(s->tree[s->count], &s->how, &game[i].board);
        s->number[s->count] = game[i].number, s->ply[s->count++] = game[i].plies;
    }
    TRY(searches_run(s));
    for (int64_t i = 0, k = 0; i < games; i++)
        if (!game[i].over) played_move(s->how.game, &game[i], tree_most_visited(s->tree[k++], &s->how));
    return 0;
}

int match_play(struct searches *s, struct played *game, int64_t games)
{
    bool left = true;
    BUG_IF(games > s->of.batch);
    while (left) {
        TRY(play_turn(s, game, games));
        left = s->count > 0;
    }
    return 0;
}
