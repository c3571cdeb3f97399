// SPDX-License-Identifier: Apache-2.0
// Candidates for the values of `dawn`: tasks, models, recipes, data sets, devices, instances and recorded runs.
#pragma once

#include "runtime/common/cli/program.h"

extern const struct program_words candidates[];
