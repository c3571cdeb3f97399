// SPDX-License-Identifier: Apache-2.0
// Blocks of tokens as batches: "tokens" i32[B,T] and "labels" i32[B,T], the tokens that follow them. Past the end of a short
// block they are 0 and -1. A shuffled training shifts all blocks of an epoch by the same number of tokens, drawn for each epoch:
// an epoch reads every token once, and in the next one blocks begin at other places.
#pragma once

#include "tasks/common/step/task.h"

int blocks_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;  // a member of struct task
int blocks_baselines(const struct setting *, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX]);
// The mean loss of a token over the test split (task.h). Its outputs are [B], the sum over a block.
extern const struct judge blocks_judge;
