// SPDX-License-Identifier: Apache-2.0
// How a task writes a text on, token by token (dawn infer TASK --prompt). Its program has no feed and runs in batches of one:
//
//   token  i32[1]   the last token so far                 at  i32[1]  its position, below `places`
//   next   f32[1,V] logits of the token that follows it
//
// Keys and values of the tokens before lie in slots of the program's own.
#pragma once

#include "tasks/common/step/task.h"

#define AUTHOR_TOKEN "author.token"
#define AUTHOR_AT "author.at"
#define AUTHOR_NEXT "author.next"

struct author {
    const struct task_program *programs;             // that one; ends with name NULL
    int64_t (*places)(const struct setting *);       // tokens that it can see
    int64_t (*tokens)(const struct setting *);       // V
    // The tokens of a text, at least one; free() them. Refuses what the training text does not have.
    int (*read)(const struct dataset *, const char *text, size_t n, int32_t **tokens, int64_t *count) MUST_CHECK;
    void (*tell)(const struct dataset *, int32_t token, struct text *);  // adds its text, which is safe on a terminal
};
