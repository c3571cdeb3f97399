// SPDX-License-Identifier: Apache-2.0
// A command of the user's, as words: with its seed put in, as the record keeps it, as a person would type it.
#ifndef DAWN_TASKS_COMMAND_H
#define DAWN_TASKS_COMMAND_H

#include "runtime/base/text.h"

// Both end with NULL; command_free ends them. {seed} is replaced in every word. The environment is ours and DAWN_SEED,
// and PYTHONUNBUFFERED=1: Python would else hold its lines back until 8 KiB of them have come together.
char **command_with_seed(char *const *words, int64_t seed);
char **command_environment(int64_t seed);
void command_free(char **words);

// {"command":[...]} on one line, at most `most` bytes, and the words as a shell would take them. free() both, also when
// it fails.
int command_write(char *const *words, size_t most, char **json, char **typed) MUST_CHECK;
// One word as a shell would take it.
void command_quote(const char *word, struct text *into);

#endif
