// SPDX-License-Identifier: Apache-2.0
// Games of the network against itself, between the steps of a training: the state of the host (struct host), and the growing set
// that batches are drawn from.
//
// Games are numbered in the order in which they begin, and random draws depend on the seed, the number of the game and the ply.
// A game goes on as soon as its tree is complete, so every batch is full. The games are two halves: while the device computes the
// leaves of one, the host searches the trees of the other. Threads share the trees of a half and nothing else.
// Invariant: between two calls no leaf waits, so the state is plain bytes.
#pragma once

#include "tasks/common/step/task.h"
#include "tasks/play/search.h"

// The slots of the program that judges leaves, selfplay_batch() of them.
#define SELFPLAY_BOARDS "play.boards"  // u8[batch,rows,columns,planes]
#define SELFPLAY_POLICY "play.policy"  // f32[batch,moves]
#define SELFPLAY_VALUE "play.value"    // f32[batch,1]
enum { SELFPLAY_PROGRAM = 2 };         // its number in the task's table
// The evaluation of Go has the same slots, in batches of games, and this one.
#define WINS_RESULT "play.result"      // f32[batch,1], for the network: -1 or 1
enum { WINS_PROGRAM = 1 };
#define SELFPLAY_NEVER -1e4f           // the logit of an illegal move
int64_t selfplay_batch(const struct setting *);
struct search selfplay_search(const struct setting *);  // as the recipe has it

// Games played to their ends that a player would have resigned, and those that this player won, since the last call.
struct selfplay_resigned {
    int64_t games, wrong;
};
struct selfplay_resigned selfplay_take_resigned(const struct setting *);

extern const struct host selfplay_host;
int selfplay_feed(const struct setting *, struct feed_choice *) MUST_CHECK;
