// SPDX-License-Identifier: Apache-2.0
// Files that a training takes besides its data: --weights, --vocab, --vectors. A task declares which of them it takes.
#pragma once

#include "runtime/common/base/error.h"

struct task_files {       // NULL: not given
    const char *weights;  // initial weights, or the weights of an inference
    const char *vocab;    // vocabulary of a tokenizer
    const char *vectors;  // word vectors
};
enum { TASK_FILES = 3 };
enum { TAKES_WEIGHTS = 1, TAKES_VOCAB = 2, TAKES_VECTORS = 4 };  // bit i: file i

const char *task_files_name(int number);                                  // "weights", "vocab", "vectors"
const char *task_files_path(const struct task_files *, int number);       // numbers as above
bool task_files_any(const struct task_files *);                           // true if any was given
// Fails if the task would ignore a given file or if a file is missing.
int task_files_check(const struct task_files *, const char *task, unsigned takes) MUST_CHECK;
