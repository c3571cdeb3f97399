// SPDX-License-Identifier: Apache-2.0
// Tree search by PUCT (Silver et al. 2018) for one game. A simulation descends from the root to a position that is new, the
// network judges it, and its result is added on the path. Positions are taken in batches: the caller selects leaves of many
// trees, runs the network once and expands them. Until then the path to a leaf counts as lost (virtual loss).
//
// Invariant: a child has a larger number than its parent, so a subtree moves to the front in one pass. Nothing is allocated: a
// tree has one node for each simulation and one for the root. Cost of a level: a score for each move.
#pragma once

#include "tasks/play/game.h"

enum { SEARCH_MOST = 1000, TREE_NONE = -1 };
enum search_state { SEARCH_NEW, SEARCH_WAITS, SEARCH_OPEN, SEARCH_OVER };

struct search_move {
    float prior;     // of the network, 0 for an illegal move, else more; at the root with noise
    float sum;       // of results for the player to move here
    int16_t visits;  // results in the sum
    int16_t ahead;   // leaves below that wait for the network
    int16_t child;   // 0: none yet
    int16_t unused;
};
struct search_node {
    float value;                // the network's, or the result of a game that is over
    int16_t by, parent;         // the parent's move; TREE_NONE: the root
    int32_t state, unused;      // enum search_state
    struct search_move move[];  // of the game; then the board
};
_Static_assert(sizeof(struct search_node) == 16 && sizeof(struct search_move) == 16, "no bytes between members");

struct search {
    const struct game *game;
    int simulations;
    float puct, noise;
    float growth;   // of puct with the visits: MiniGo's 2 log((1 + N + 19652) / 19652)
    float penalty;  // a move begins with one result, the network's value less this; SEARCH_MEAN: with none, but the mean
};
#define SEARCH_MEAN -1.0f

struct tree {
    int32_t count, waiting, unused[2];
    char bytes[];  // of simulations + 1 nodes
};
static inline size_t node_bytes(const struct game *g)
{
    return sizeof(struct search_node) + (size_t)g->moves * sizeof(struct search_move) + g->board_bytes;
}
static inline size_t tree_bytes(const struct search *s)
{
    return sizeof(struct tree) + (size_t)(s->simulations + 1) * node_bytes(s->game);
}
static inline struct search_node *tree_node(const struct tree *t, const struct search *s, int number)
{
    return (struct search_node *)(void *)((char *)t + sizeof *t + (size_t)number * node_bytes(s->game));
}
static inline void *tree_board(const struct tree *t, const struct search *s, int number)
{
    return tree_node(t, s, number)->move + s->game->moves;
}
static inline struct search_node *tree_root(const struct tree *t)
{
    return (struct search_node *)(void *)((char *)t + sizeof *t);
}

void tree_begin(struct tree *, const struct search *, const void *board);
// The next leaf for the network. TREE_NONE: the simulations are done or under way, or the search has come to a leaf that waits.
int tree_select(struct tree *, const struct search *);
// The network's answer for a leaf: logits of the moves, and the result that the player to move can expect.
void tree_expand(struct tree *, const struct search *, int leaf, const float *logits, float value);
// Mixes noise, which is positive, into the policy at the root: scaled, so that legal moves have a sum of 1.
void tree_add_noise(struct tree *, const struct search *, const float *noise);
static inline bool tree_is_open(const struct tree *t) { return tree_root(t)->state == SEARCH_OPEN; }
int tree_visits(const struct tree *, const struct search *);        // of the root
float tree_value(const struct tree *, const struct search *);       // the mean result for the player to move at the root
int tree_most_visited(const struct tree *, const struct search *);  // its move
// Makes a move that was visited: its position becomes the root and keeps its subtree. No position may wait for the network.
void tree_advance(struct tree *, const struct search *, int move);
// For a tree from outside: true if the root has this position and everything above holds.
bool tree_is_sound(const struct tree *, const struct search *, const void *board);
