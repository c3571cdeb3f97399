// SPDX-License-Identifier: Apache-2.0
// Tree search by PUCT (Silver et al. 2018) for one game of Connect Four. A simulation descends from the root to a position that
// is new, the network judges it, and its result is added on the path. Positions are taken in batches: the caller selects leaves
// of many trees, runs the network once and expands them. Until then the path to a leaf counts as lost (virtual loss).
//
// Invariant: a child has a larger number than its parent, so a subtree moves to the front in one pass. Nothing is allocated: a
// tree has one node for each simulation and one for the root. Cost of a level: seven scores.
#pragma once

#include "runtime/common/base/error.h"
#include "data/read/positions/connect4.h"

enum { SEARCH_MOST = 1000, SEARCH_MOVES = CONNECT4_COLUMNS, TREE_NONE = -1 };
enum search_state { SEARCH_NEW, SEARCH_WAITS, SEARCH_OPEN, SEARCH_OVER };

struct search_node {
    struct connect4 board;
    float prior[SEARCH_MOVES];     // of the network, 0 for a full column; at the root with noise
    float sum[SEARCH_MOVES];       // of results for the player to move here
    int16_t visits[SEARCH_MOVES];  // results in the sum
    int16_t ahead[SEARCH_MOVES];   // leaves below that wait for the network
    int16_t child[SEARCH_MOVES];   // 0: none yet
    int16_t parent;                // TREE_NONE: the root
    float value;                   // the network's, or the result of a game that is over
    int32_t by, state;             // the parent's move; enum search_state
};
_Static_assert(sizeof(struct search_node) == 128, "two lines of a cache, and no bytes between members");

struct search {
    int simulations;
    float puct, noise;
};

struct tree {
    int count, waiting;
    struct search_node node[];  // simulations + 1
};
static inline size_t tree_bytes(const struct search *s)
{
    return sizeof(struct tree) + (size_t)(s->simulations + 1) * sizeof(struct search_node);
}

void tree_begin(struct tree *, const struct connect4 *);
// The next leaf for the network. TREE_NONE: the simulations are done or under way, or the search has come to a leaf that waits.
int tree_select(struct tree *, const struct search *);
// The network's answer for a leaf: logits[SEARCH_MOVES] of the moves, and the result that the player to move can expect.
void tree_expand(struct tree *, int leaf, const float *logits, float value);
// Mixes noise[SEARCH_MOVES], which is positive, into the policy at the root: scaled, so that legal moves have a sum of 1.
void tree_add_noise(struct tree *, const struct search *, const float *noise);
static inline bool tree_is_open(const struct tree *t) { return t->node[0].state == SEARCH_OPEN; }
int tree_visits(const struct tree *);        // of the root
int tree_most_visited(const struct tree *);  // its move
// Makes a move that was visited: its position becomes the root and keeps what is below it. Nothing may wait.
void tree_advance(struct tree *, int move);
// For a tree from outside: true if the root has this position and everything above holds.
bool tree_is_sound(const struct tree *, const struct search *, const struct connect4 *);
