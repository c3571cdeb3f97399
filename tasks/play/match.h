// SPDX-License-Identifier: Apache-2.0
// Games of the network and its search, without noise, against the fixed opponent. Games are numbered: the number chooses the
// opening and the opponent's draws, and the network begins the even ones.
#pragma once

#include "tasks/play/search.h"

// How positions come to the network: planes u8[batch,rows,columns,planes] -> logits f32[batch,moves], results f32[batch].
struct judge_of_leaves {
    void *owner;
    int64_t batch;
    int (*judge)(void *owner, const uint8_t *planes, float *policy, float *value) MUST_CHECK;
};

// Searches of several games at once, as many as a batch has positions.
struct searches {
    struct judge_of_leaves of;
    struct search how;
    int playouts;        // of a move of the opponent
    int64_t count;       // of games that are searched now
    int64_t *number, *ply;  // of the games, for the symmetries of their leaves
    struct tree **tree;
    int *leaf;
    uint8_t *planes;
    float *policy, *value;
};
struct searches searches_open(const struct search *, const struct judge_of_leaves *);
void searches_close(struct searches *);
int searches_run(struct searches *) MUST_CHECK;  // of all trees, to their moves

struct played {
    union game_board board;
    int64_t number;
    bool over;
    int result;  // for the network
    int plies;   // after the opening
    uint8_t move[GO_PLIES];
};
// True if it is the network's turn.
static inline bool played_by_network(const struct played *g) { return (g->plies + g->number) % 2 == 0; }
void played_begin(const struct game *, struct played *, int64_t number);
void played_move(const struct game *, struct played *, int move);
// All games, which have begun, to their ends.
int match_play(struct searches *, struct played *game, int64_t games) MUST_CHECK;
// The symmetry in which a leaf is judged.
int leaf_turn(const struct game *, uint64_t seed, int64_t number, int64_t ply, int leaf);
// Logits of moves of a turned board, as moves of the board.
void turn_back(const struct game *, int turn, const float *turned, float *logits);
