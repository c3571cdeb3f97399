// SPDX-License-Identifier: Apache-2.0
// Files that a training takes besides its data: --weights, --vocab, --vectors. A task says which it takes.
#ifndef DAWN_TRAIN_TASK_FILES_H
#define DAWN_TRAIN_TASK_FILES_H

#include "runtime/base/error.h"

struct task_files {       // NULL: not given
    const char *weights;  // initial ones, or those of an inference
    const char *vocab;    // of a tokenizer
    const char *vectors;  // of words
};
enum { TASK_FILES = 3 };
enum { TAKES_WEIGHTS = 1, TAKES_VOCAB = 2, TAKES_VECTORS = 4 };  // bit i: file i

const char *task_files_name(int number);                                  // "weights", "vocab", "vectors"
const char *task_files_path(const struct task_files *, int number);       // in the same order
bool task_files_any(const struct task_files *);                           // one was given
// Fails with a sentence for a file that the task would ignore, and for one that is not there.
int task_files_check(const struct task_files *, const char *task, unsigned takes) MUST_CHECK;

#endif
