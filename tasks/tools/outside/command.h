// SPDX-License-Identifier: Apache-2.0
// A user's command as a list of words: with its seed inserted, in the form of the record, and quoted for a shell.
#pragma once

#include "runtime/common/base/text.h"

// Both end with NULL; command_free ends them. {seed} is replaced in every word. The environment is ours with DAWN_SEED and
// with PYTHONUNBUFFERED=1, without which Python buffers its output in blocks of 8 KiB.
char **command_with_seed(char *const *words, int64_t seed);
char **command_environment(int64_t seed);
void command_free(char **words);

// {"command":[...]} on one line, at most `most` bytes, and the words quoted for a shell. free() both, also after a failure.
int command_write(char *const *words, size_t most, char **json, char **typed) MUST_CHECK;
// ERR_MISSING if no program has this name: in $PATH, or where it says if it has a slash. A name with {seed} is not looked for.
int command_find(const char *name) MUST_CHECK;
