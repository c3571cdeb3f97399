// SPDX-License-Identifier: Apache-2.0
// How a task continues a text, token by token (dawn infer TASK --prompt). Its program has no feed and runs in batches of one:
//
//   token  i32[1]   the last token so far                 at  i32[1]  its position, below `places`
//   next   f32[1,V] logits of the token that follows it
//
// The program stores keys and values of earlier tokens in its own slots.
#pragma once

#include "tasks/common/step/task.h"

#define AUTHOR_TOKEN "author.token"
#define AUTHOR_AT "author.at"
#define AUTHOR_NEXT "author.next"

struct author {
    const struct task_program *programs;             // that one; ends with name NULL
    int64_t (*places)(const struct setting *);       // length of its context, in tokens
    int64_t (*tokens)(const struct setting *);       // V
    // The tokens of a text, at least one; free() them. Refuses characters that the training text does not have.
    int (*read)(const struct dataset *, const char *text, size_t n, int32_t **tokens, int64_t *count) MUST_CHECK;
    void (*tell)(const struct dataset *, int32_t token, struct text *);  // adds its text, which is safe on a terminal
};
