// SPDX-License-Identifier: Apache-2.0
// The door of the tasks SQuAD and SQuAD, split by article (squad.c).
#ifndef DAWN_SQUAD_SQUAD_H
#define DAWN_SQUAD_SQUAD_H

#include "tasks/step/task.h"

extern const struct task task_squad, task_squad_split;

#endif
