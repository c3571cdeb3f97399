// SPDX-License-Identifier: Apache-2.0
// Connect Four and Go, learned by playing against itself: a network chooses moves and judges positions, a tree search with the
// network makes better moves than the network alone, and the network learns from these and from the results of the games.
// In this order: play.c has the tasks and their programs, selfplay.h the games, search.h the tree, game.h the two games, match.h
// games against others.
#pragma once

#include "tasks/common/step/task.h"

// What an evaluation passes to the judge: f32 [count, CONNECT4_COLUMNS] logits of the moves, full columns as well, and
// f32 [count, 1] the expected result for the player to move, from -1 to 1.
enum { PLAY_POLICY, PLAY_VALUE };
enum { PLAY_MISTAKES };  // the score, in millionths of the positions (METRIC_RATIO)

extern const struct judge play_judge;
int play_baselines(const struct setting *, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX]);

extern const struct player play_player;  // play_games.c

// Of Go the judge plays games within an evaluation: the answer to a batch is the results, f32 [count, 1].
// Beside the score stands MiniGo's share of bad resignations since the evaluation before: of the games of self-play that are
// played to their ends and that a player would have resigned, those that this player won.
enum { PLAY_RESULT };
enum { PLAY_WINS, PLAY_BAD_RESIGNS };
extern const struct judge wins_judge;
int wins_answer(struct drive *);

extern const struct task task_connect4, task_minigo_9;
