// SPDX-License-Identifier: Apache-2.0
// F1 and exact matches of an evaluation. The best answer of each question, cut from its context, is compared with the
// answers of people (evaluate.h).
#pragma once

#include "tasks/common/step/task.h"

extern const struct judge squad_judge;
enum { SCORE_F1, SCORE_EXACT };  // index into struct task's metrics
