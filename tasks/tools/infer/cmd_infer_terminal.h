// SPDX-License-Identifier: Apache-2.0
// What an inference prints for people alone: a text that is written on, and games.
#pragma once

#include "tasks/tools/infer/infer.h"

// dawn infer TASK --prompt WORDS
int infer_terminal_writes(struct infer_options *, const struct infer_writing *, bool json) MUST_CHECK;
// dawn infer TASK --play (games 0), through standard input and output, and --match GAMES
int infer_terminal_plays(struct infer_options *, int64_t games, bool json) MUST_CHECK;
