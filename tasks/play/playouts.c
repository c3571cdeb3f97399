// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/playouts.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"

enum { PLAYOUTS_SEED = 20060918, DEPTH = CONNECT4_CELLS + 1 };
static const float EXPLORATION = 1;

struct playout_node {
    struct connect4 board;
    int visits, child[CONNECT4_COLUMNS];  // 0: not in the tree
    float sum;    // of results for the player to move here
    bool over;
    int result;   // of a game that is over, for the player to move here
};

struct draws playouts_draws(int64_t number, int ply)
{
    return DRAWS(PLAYOUTS_SEED, ply, number);
}

int playouts_random_move(const struct connect4 *b, struct draws *d)
{
    int column = draws_below(d, CONNECT4_COLUMNS);
    while (!connect4_may(b, column)) column = draws_below(d, CONNECT4_COLUMNS);
    return column;
}

// For the player to move.
static int random_result(struct connect4 b, struct draws *d)
{
    for (int sign = 1; !connect4_full(&b); sign = -sign)
        if (connect4_drop(&b, playouts_random_move(&b, d))) return sign;
    return 0;
}

// A move that is not in the tree, drawn; if all are, the one with the greatest upper bound.
static int select_move(const struct playout_node *node, const struct playout_node *n, struct draws *d)
{
    int fresh[CONNECT4_COLUMNS], count = 0, best = -1;
    float most = 0;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        if (!connect4_may(&n->board, c)) continue;
        if (n->child[c] == 0) fresh[count++] = c;
        if (n->child[c] == 0) continue;
        const struct playout_node *child = &node[n->child[c]];
        const float visits = (float)child->visits;
        const float bound = -child->sum / visits + EXPLORATION * sqrtf(logf((float)n->visits) / visits);
        if (best < 0 || bound > most) best = c, most = bound;
    }
    return count > 0 ? fresh[draws_below(d, count)] : best;
}

static int add_node(struct playout_node *node, int number, int parent, int column)
{
    struct playout_node *n = &node[number];
    n->board = node[parent].board;
    n->result = connect4_drop(&n->board, column) ? -1 : 0;
    n->over = n->result < 0 || connect4_full(&n->board);
    return node[parent].child[column] = number;
}

// Adds one position at most, and its result on the path to it.
static void play_out(struct playout_node *node, int *count, struct draws *d)
{
    int path[DEPTH] = {0}, depth = 0;
    while (!node[path[depth]].over && (depth == 0 || node[path[depth]].visits > 0)) {
        const int at = path[depth], column = select_move(node, &node[at], d);
        path[++depth] = node[at].child[column] ? node[at].child[column] : add_node(node, (*count)++, at, column);
    }
    const struct playout_node *leaf = &node[path[depth]];
    int result = leaf->over ? leaf->result : random_result(leaf->board, d);
    for (; depth >= 0; depth--, result = -result) {
        node[path[depth]].visits++;
        node[path[depth]].sum += (float)result;
    }
}

int playouts_move(const struct connect4 *b, int count, struct draws *d)
{
    struct playout_node *node = zalloc((size_t)(count + 1) * sizeof *node);
    int nodes = 1, best = -1;
    node[0].board = *b;
    for (int i = 0; i < count; i++) play_out(node, &nodes, d);
    for (int c = 0; c < CONNECT4_COLUMNS; c++)
        if (node[0].child[c] && (best < 0 || node[node[0].child[c]].visits > node[node[0].child[best]].visits)) best = c;
    free(node);
    return best;
}
