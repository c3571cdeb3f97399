// SPDX-License-Identifier: Apache-2.0
// Candidates for the values of `dawn`: tasks, models, recipes, data sets, devices, instances and recorded runs.
#ifndef DAWN_TASKS_CANDIDATES_H
#define DAWN_TASKS_CANDIDATES_H

#include "runtime/common/cli/program.h"

extern const struct program_words candidates[];

#endif
