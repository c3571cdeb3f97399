// SPDX-License-Identifier: Apache-2.0
// Candidates for the values of `dawn`: tasks, models, recipes, data sets, devices, instances and recorded runs.
#ifndef DAWN_TASKS_WORDS_H
#define DAWN_TASKS_WORDS_H

#include "runtime/common/cli/program.h"

extern const struct program_words task_words[];

#endif
