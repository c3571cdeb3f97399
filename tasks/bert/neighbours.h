// SPDX-License-Identifier: Apache-2.0
// What is scored without a network: the most frequent piece, and a table of counts that fills in the scored set by
// P(piece | the two before it) x P(piece | the two behind it) / P(piece), both with Witten-Bell's interpolation of shorter
// contexts (Witten and Bell 1991). A context ends at a special piece and at the end of the sample. A model that scores less than
// the counts has not learned neighbours. Cost: 32 bytes for each piece of the training text, of 16 million at most; a second for
// 10,000 masked pieces.
#pragma once

#include "tasks/common/step/task.h"

// A member of struct task.
int neighbours_baselines(const struct setting *, struct dataset *stored, struct dataset *view,
                         struct baseline row[BASELINES_MAX]);
