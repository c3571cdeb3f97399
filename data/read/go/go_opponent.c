// SPDX-License-Identifier: Apache-2.0
// Shares of games won and the bonus for seldom visited moves are fixed-point numbers of 16 bits, C = 0.7.
#include "data/read/go/go_opponent.h"

#include <stdlib.h>
#include <string.h>

#include "data/read/draws.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { GAMES_SEED = 20060917, OPENINGS_SEED = 20260918, SPLIT_OPENINGS = 1, SPLIT_MOVES = 2, SPLIT_PLAYOUTS = 3 };

// ---- random games

static go_set sensible_moves(const struct go_view *v)
{
    const go_set all = ((go_set)1 << GO_POINTS) - 1;
    return all & ~(v->stones[0][GO_BLACK] | v->stones[0][GO_WHITE] | go_eyes(v));
}

static int draw_from(go_set s, struct draws *d)
{
    for (int skip = draws_below(d, go_count(s)); skip > 0; skip--) s &= s - 1;
    return go_first(s);
}

// A legal move that fills no eye; passes if there is none.
static void play_random(struct go *b, struct draws *d)
{
    go_set left = sensible_moves(&b->view);
    while (left) {
        const int move = draw_from(left, d);
        if (go_try(b, move)) return;
        left &= ~go_bit(move);
    }
    (void)go_try(b, GO_PASS);
}

static bool black_wins(struct go b, struct draws *d)
{
    while (!go_over(&b.view)) play_random(&b, d);
    return go_black_wins(&b.view);
}

// ---- the tree

struct node {
    int32_t visits, won;  // games, and those won by the player who made the move to this node
    int32_t first;        // its children are a row; 0: none yet
    int16_t count, move;
};
struct tree {
    struct node *node;
    int32_t used;
    uint32_t *share;      // 2^16 / sqrt(n)
    struct draws draws;
};

static uint32_t square_root(uint64_t n)
{
    uint64_t root = 0;
    for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= n) root |= bit;
    return (uint32_t)root;
}

// 0.7 sqrt(ln n) in 16 bits. The binary logarithm is straight between powers of two: 2^32 0.49 ln(2) = 1458741500.
static uint32_t bonus_of(uint32_t n)
{
    const int whole = 31 - __builtin_clz(n);
    const uint64_t log2 = ((uint64_t)whole << 16) + (((uint64_t)n << 16) >> whole) - (1 << 16);
    return square_root((log2 * 1458741500) >> 16);
}

static void add_children(struct tree *t, struct node *n, const struct go *b)
{
    go_set left = b->view.legal & sensible_moves(&b->view);
    n->first = t->used;
    if (!left) t->node[t->used++] = (struct node){.move = GO_PASS};
    for (; left; left &= left - 1) t->node[t->used++] = (struct node){.move = (int16_t)go_first(left)};
    n->count = (int16_t)(t->used - n->first);
}

// The first moves of a node are drawn.
static struct node *best_child(struct tree *t, const struct node *n)
{
    struct node *child = &t->node[n->first], *best = NULL;
    const uint64_t bonus = bonus_of((uint32_t)n->visits);
    const int from = draws_below(&t->draws, n->count);
    uint64_t most = 0;
    for (int i = from; i < from + n->count && n->visits <= n->count; i++)
        if (child[i % n->count].visits == 0) return &child[i % n->count];
    for (int i = 0; i < n->count; i++) {
        const uint64_t share = ((uint64_t)child[i].won << 16) / (uint64_t)child[i].visits;
        const uint64_t score = share + ((bonus * t->share[child[i].visits]) >> 16);
        if (!best || score > most) best = &child[i], most = score;
    }
    return best;
}

static void play_once(struct tree *t, struct go b)
{
    struct node *path[GO_PLIES + 1];
    int length = 1;
    const bool black = go_mover(&b.view) == GO_BLACK;
    path[0] = t->node;
    while (!go_over(&b.view) && (length == 1 || path[length - 1]->visits > 0)) {
        struct node *at = path[length - 1];
        go_find_legal(&b);
        if (!at->count) add_children(t, at, &b);
        path[length] = best_child(t, at);
        (void)go_try(&b, path[length++]->move);
    }
    const bool won = black_wins(b, &t->draws);
    for (int i = 0; i < length; i++) path[i]->visits++, path[i]->won += won == (black == (i % 2 == 1));
}

static struct node *search(struct tree *t, const struct go *b, int playouts)
{
    struct node *best = NULL;
    t->node[0] = (struct node){.visits = 1};  // a logarithm of 1 at least
    for (int i = 0; i < playouts; i++) play_once(t, *b);
    for (int i = 0; i < t->node[0].count; i++) {
        struct node *child = &t->node[t->node[0].first + i];
        if (!best || child->visits > best->visits) best = child;
    }
    return best;
}

// It passes if that wins, or if it has no other sensible move.
int go_opponent_move(const struct go *b, int playouts, int64_t number)
{
    if (b->view.passes == 1 && go_black_wins(&b->view) == (go_mover(&b->view) == GO_BLACK)) return GO_PASS;
    struct tree t = {.node = zalloc(((size_t)playouts * GO_MOVES + 1) * sizeof *t.node), .used = 1,
                     .share = zalloc(((size_t)playouts + 2) * sizeof *t.share),
                     .draws = DRAWS(GAMES_SEED, SPLIT_PLAYOUTS << 16 | (int)b->view.plies, number)};
    for (int n = 1; n <= playouts + 1; n++) t.share[n] = square_root((1ull << 32) / (uint64_t)n);
    const int move = search(&t, b, playouts)->move;
    free(t.node), free(t.share);
    return move;
}

// ---- what is fixed

void go_opening(int64_t game, uint8_t moves[GO_OPENING])
{
    enum { INNER = 5 };  // not on the two outer lines
    struct draws d = DRAWS(OPENINGS_SEED, SPLIT_OPENINGS, game / 2);
    do
        for (int i = 0; i < GO_OPENING; i++)
            moves[i] = (uint8_t)((2 + draws_below(&d, INNER)) * GO_SIDE + 2 + draws_below(&d, INNER));
    while (moves[0] == moves[1]);
}

void go_opponent_digest(char hex[DIGEST_HEX])
{
    enum { POSITIONS = 16, PLAYOUTS = 100, PLIES = 6 };
    struct text moves = {0};
    for (int i = 0; i < GO_GAMES; i++) {
        uint8_t opening[GO_OPENING];
        char name[2][GO_NAME];
        go_opening(i, opening);
        for (int k = 0; k < GO_OPENING; k++) go_name(opening[k], name[k]);
        text_add(&moves, "%s %s\n", name[0], name[1]);
    }
    for (int i = 0; i < POSITIONS; i++) {
        struct draws d = DRAWS(OPENINGS_SEED, SPLIT_MOVES, i);
        struct go b;
        uint8_t opening[GO_OPENING];
        char name[GO_NAME];
        go_begin(&b);
        go_opening(2 * i, opening);
        for (int k = 0; k < GO_OPENING; k++) go_play(&b, opening[k]);
        for (int k = 0; k < i * PLIES; k++) play_random(&b, &d);
        go_find_legal(&b);
        go_name(go_opponent_move(&b, PLAYOUTS, i), name);
        text_add(&moves, "%s\n", name);
    }
    digest_bytes(moves.at, moves.length, hex);
    text_free(&moves);
}
